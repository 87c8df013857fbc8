"""The outer loop: phases, accumulation, and what it says of each step."""

from __future__ import annotations

import itertools

import pytest
import torch

from harness.errors import RunError, SpecError
from reproductions.fg2u import OuterStep, Phase, Problem, descend, hypergradient
from reproductions.fg2u.method.trees import Tree
from tests.reproductions.fg2u.small import drawn, quadratic

PROBLEM, START = quadratic(num_steps=5)
EXACT = hypergradient("rgu")


def descended(*phases: Phase, accumulate: int = 1, num_batches: int = 1000) -> list[OuterStep]:
    phi = START.clone()
    batches = itertools.repeat(None, num_batches)
    generator = torch.Generator().manual_seed(0)
    return list(descend(PROBLEM, phi, batches, phases, generator=generator, accumulate=accumulate))


def test_each_step_is_the_outer_optimizer_s() -> None:
    phi, peer = START.clone(), torch.nn.Parameter(START.clone())
    optimizer = torch.optim.Adam([peer], lr=0.1)
    phase = Phase(method=EXACT, num_steps=4, lr=0.1)
    for step in descend(PROBLEM, phi, itertools.repeat(None), [phase]):
        meta = EXACT(PROBLEM, peer.detach())
        peer.grad = meta.grad
        optimizer.step()
        assert torch.equal(phi, peer.detach()) and step.outer_value == float(meta.outer_value)


def test_two_phases_go_on_from_each_other_with_a_step_size_each() -> None:
    cheap = Phase(method=hypergradient("hessian-free"), num_steps=5, lr=0.1)
    then = Phase(method=hypergradient("fg2u", num_directions=3), num_steps=10, lr=0.05)
    steps = descended(cheap, then)
    assert [step.number for step in steps] == list(range(15))
    assert [step.phase for step in steps] == [0] * 5 + [1] * 10
    assert steps[-1].outer_value < steps[5].outer_value < steps[0].outer_value
    assert steps[0].noise_norm is None and steps[-1].noise_norm > 0.0  # type: ignore[operator]


def test_moments_are_kept_only_where_asked() -> None:
    def after(keep: bool) -> float:
        phases = [Phase(method=EXACT, num_steps=5, lr=0.1, keep_moments=keep) for _ in range(2)]
        return descended(*phases)[-1].outer_value

    whole = descended(Phase(method=EXACT, num_steps=10, lr=0.1))[-1].outer_value
    assert after(True) == whole != after(False)


def test_kept_moments_take_the_next_phase_s_step_size() -> None:
    def after(lr: float) -> float:
        later = Phase(method=EXACT, num_steps=5, lr=lr, keep_moments=True)
        return descended(Phase(method=EXACT, num_steps=5, lr=0.1), later)[-1].outer_value

    assert after(0.01) > after(0.1)


def test_accumulation_means_batches_and_tells_their_noise() -> None:
    """Batches are shifts of the target with a known spread: the noise is theirs over the root."""
    problem, phi = quadratic(num_steps=5)
    shifted = type(problem)(
        start=problem.start,
        step=problem.step,
        outer_loss=lambda theta, phi, batch: 0.5 * (theta - batch).square().sum(),
        num_steps=5,
    )
    batches = [1.0 + drawn(4, seed=n) for n in range(40)]
    phase = Phase(method=EXACT, num_steps=1, lr=0.1)
    (step,) = descend(shifted, phi.clone(), batches, [phase], accumulate=40)
    grads = torch.stack([EXACT(shifted, phi, batch).grad for batch in batches])
    assert step.gradient_norm == pytest.approx(float(grads.mean(0).norm()))
    assert step.noise_norm == pytest.approx(float((grads.var(0).sum() / 40).sqrt()))


@pytest.mark.filterwarnings("ignore:the Neumann series grew")
def test_phi_takes_no_step_along_a_series_that_overflows() -> None:
    """Powers of 1 - 10 times an eigenvalue, beyond float64 after some hundred terms."""
    series = hypergradient("neumann", terms=1000, alpha=10.0)
    phi, phases = START.clone(), [Phase(method=series, num_steps=1, lr=0.1)]
    assert series(PROBLEM, phi).stats.diverged
    with pytest.raises(RunError, match=r"outer step 0: the Neumann series diverged.*lower alpha"):
        list(descend(PROBLEM, phi, [None], phases))
    assert torch.equal(phi, START)


WHOLE = torch.zeros(6)


@pytest.mark.parametrize(
    "phi",
    [
        {"a": WHOLE[:2], "b": WHOLE[1:]},
        {"a": WHOLE.view(2, 3)[:, 1:], "b": WHOLE},
        WHOLE[:1].expand(5),
    ],
    ids=["overlap", "a column of another", "expanded"],
)
def test_entries_that_share_memory_are_refused(phi: Tree) -> None:
    phase = Phase(method=EXACT, num_steps=1, lr=0.1)
    with pytest.raises(SpecError, match=r"phi has entries that share memory.*clone\(\)"):
        list(descend(PROBLEM, phi, [None], [phase]))


def test_views_that_share_no_entry_are_parts_of_one_tensor() -> None:
    whole = torch.zeros(2, 3)
    parts = {"even": whole[:, ::2], "odd": whole[:, 1::2], "turned": torch.zeros(2, 3).T}
    problem = Problem(
        start=lambda phi, batch: torch.zeros(1),
        step=lambda state, phi, batch, number: state + sum(leaf.sum() for leaf in phi.values()),
        outer_loss=lambda state, phi, batch: state.sum(),
        num_steps=1,
    )
    list(descend(problem, parts, [None], [Phase(method=EXACT, num_steps=1, lr=0.1)]))
    assert torch.allclose(whole, torch.tensor(-0.1)) and torch.equal(whole, parts["turned"].T)
