"""RigL and gradual pruning: which weights they choose, how many, and that the others rest."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator
from functools import partial

import pytest
import torch
from torch import Tensor, nn

from harness.errors import RunError, SpecError
from reproductions.supar.method.density import Density
from reproductions.supar.method.dynamic import (
    Gmp,
    RegrownMoments,
    Rigl,
    UpdateSchedule,
    attach_full_masks,
    cosine_drop_fraction,
    cubic_density,
    regrow,
)
from reproductions.supar.method.masks import draw_mask, masked_layers
from tests.reproductions.supar.masked_nets import (
    HIDDEN,
    SCHEDULE,
    adamw,
    inputs_of,
    loss_of,
    masks_of,
    mlp,
    rigl,
    sparse_mlp,
    zeros_under_masks,
)
from tests.reproductions.supar.small import zeros_under

MakeOptimizer = Callable[[nn.Module], torch.optim.Optimizer]


def amsgrad(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=0.1, amsgrad=True)


def sgd(model: nn.Module) -> torch.optim.Optimizer:
    return torch.optim.SGD(
        model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1
    )


OPTIMIZERS = pytest.mark.parametrize("make", [amsgrad, sgd])


def net(*, density: float) -> nn.Sequential:
    """Return a net of two matrices with masks, 24 x 10 and 24 x 24, full ones at density 1."""
    if density < 1.0:
        return sparse_mlp(density, seed=3, width=24)
    model = mlp(24)
    attach_full_masks(model, HIDDEN)
    return model


def gmp(model: nn.Module, optimizer: torch.optim.Optimizer, *, density: Density = 0.1) -> Gmp:
    return Gmp(model=model, optimizer=optimizer, schedule=SCHEDULE, density=density)


def steps_of(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    topology: Rigl | Gmp,
    *,
    first: int = 0,
    last: int = SCHEDULE.num_steps,
) -> Iterator[tuple[int, bool]]:
    """Train, and stop after every step; yield its number, and whether the optimizer took it."""
    for number in range(first, last):
        with topology.backward(number):
            loss_of(model, inputs_of(number)).backward()
        stepped = topology.update(number)
        if stepped:
            optimizer.step()
        optimizer.zero_grad()
        yield number, stepped


def counts_of(model: nn.Module) -> list[int]:
    return [int(mask.sum()) for mask in masks_of(model).values()]


def test_schedule_is_due_every_interval_and_at_its_end() -> None:
    due = [step for step in range(SCHEDULE.num_steps) if SCHEDULE.due(step)]
    assert due == [4, 8, 12, 16, 20, 24, 28, 30]


def test_drop_fraction_falls_along_half_a_cosine() -> None:
    # cos 0, 60, 90, 120 and 180 degrees are 1, 1/2, 0, -1/2 and -1.
    expected = {0: 0.3, 10: 0.225, 15: 0.15, 20: 0.075, 30: 0.0}
    for step, value in expected.items():
        found = cosine_drop_fraction(step, initial=0.3, end_step=30)
        assert found == pytest.approx(value, abs=1e-15), step


def test_density_follows_the_cubic_sparsity_schedule() -> None:
    final = 1 / 8
    for step in range(31):
        sparsity = (1 - final) * (1 - (1 - step / 30) ** 3)
        found = cubic_density(step, final=final, end_step=30)
        assert found == pytest.approx(1 - sparsity, abs=1e-15), step
    assert cubic_density(35, final=final, end_step=30) == final


def _regrow_by_loops(
    weight: list[float], gradient: list[float], mask: list[bool], num_dropped: int
) -> list[bool]:
    """Return RigL's next mask: sort, drop, sort, grow."""
    active = sorted((i for i, kept in enumerate(mask) if kept), key=lambda i: (-abs(weight[i]), i))
    kept = active[: len(active) - num_dropped]
    candidates = sorted(set(range(len(mask))) - set(kept), key=lambda i: (-abs(gradient[i]), i))
    chosen = set(kept) | set(candidates[:num_dropped])
    return [i in chosen for i in range(len(mask))]


@pytest.mark.parametrize("num_dropped", [0, 1, 3])
@pytest.mark.parametrize("tied", [False, True], ids=["distinct", "tied"])
@pytest.mark.parametrize("shape", [(5, 7), (1, 13)])
def test_regrow_equals_plain_loops(shape: tuple[int, int], tied: bool, num_dropped: int) -> None:
    generator = torch.Generator().manual_seed(11)
    for _ in range(20):
        mask = draw_mask(shape, 0.4, generator=generator, pattern="exact")
        weight = torch.randn(shape, generator=generator) * mask
        gradient = torch.randn(shape, generator=generator)
        if tied:
            weight, gradient = weight.round(), gradient.round()
        lists = (values.flatten().tolist() for values in (weight, gradient, mask))
        expected = _regrow_by_loops(*lists, num_dropped)
        found = regrow(weight, gradient, mask, num_dropped=num_dropped)
        assert found.flatten().tolist() == expected


def test_dropped_weight_of_large_gradient_stays_as_it_was() -> None:
    model = net(density=0.25)
    optimizer = adamw(model)
    topology = rigl(model, optimizer)
    list(steps_of(model, optimizer, topology, last=4))
    layer = masked_layers(model)["2"]
    smallest = torch.where(layer.weight_mask, layer.weight.abs(), math.inf).argmin()
    place = divmod(int(smallest), 24)
    moments = optimizer.state[layer.weight]["exp_avg"]
    before = [float(layer.weight.detach()[place]), float(moments[place])]
    with topology.backward(4):
        loss_of(model, inputs_of(4)).backward()
    assert layer.weight.grad is not None
    layer.weight.grad[place] = 1e6
    topology.update(4)
    assert bool(layer.weight_mask[place]) and 0.0 not in before
    assert [float(layer.weight.detach()[place]), float(moments[place])] == before


def _gradients_of_float64_twin(model: nn.Module, inputs: Tensor) -> dict[str, Tensor]:
    """Return the gradients in all entries of the matrices, from a net written out, unmasked."""
    values = {name: p.detach().double() for name, p in model.named_parameters()}
    names = [f"{name}.weight" for name in HIDDEN]
    free = {name: values[name].clone().requires_grad_() for name in names}
    x = inputs.double()
    first_BW = torch.tanh(x @ free["0.weight"].T + values["0.bias"])
    second_BW = torch.tanh(first_BW @ free["2.weight"].T + values["2.bias"])
    outputs = second_BW @ values["4.weight"].T + values["4.bias"]
    loss = ((outputs - x[:, :3]) ** 2).sum() / outputs.numel()
    found = torch.autograd.grad(loss, list(free.values()))
    return dict(zip(free, found, strict=True))


def test_growth_follows_the_dense_gradient_and_drop_the_magnitude() -> None:
    model = net(density=0.25)
    optimizer = adamw(model)
    topology = rigl(model, optimizer)
    num_updates = 0
    for number in range(SCHEDULE.num_steps):
        before, weights = masks_of(model), copy.deepcopy(model.state_dict())
        twin = _gradients_of_float64_twin(model, inputs_of(number))
        _, stepped = next(steps_of(model, optimizer, topology, first=number))
        if stepped:
            continue
        num_updates += 1
        fraction = 0.15 * (1 + math.cos(math.pi * number / 30))
        for name, after in masks_of(model).items():
            magnitude, gradient = weights[name].abs(), twin[name].abs()
            num_dropped = math.floor(fraction * int(before[name].sum()))
            gone, grown = before[name] & ~after, after & ~before[name]
            survivors = before[name] & after
            order = magnitude[before[name]].sort().values
            assert bool((magnitude[gone] <= order[num_dropped - 1]).all()) or not num_dropped
            assert min(1, num_dropped) <= int(gone.sum()) == int(grown.sum()) <= num_dropped
            assert bool(survivors[before[name] & (magnitude > order[num_dropped - 1])].all())
            if num_dropped:
                # Float32 may swap gradients that are equal to its rounding, and no others.
                least = float(gradient[grown].min())
                assert least >= float(gradient[~after].max()) * (1 - 1e-4)
    assert num_updates == 7


@OPTIMIZERS
@pytest.mark.parametrize("regrown_moments", ["zeroed", "kept"])
def test_rigl_keeps_the_count_and_never_moves_masked_weights(
    make: MakeOptimizer, regrown_moments: RegrownMoments
) -> None:
    model = net(density=0.25)
    optimizer = make(model)
    topology = rigl(model, optimizer, regrown_moments=regrown_moments)
    first, previous = masks_of(model), masks_of(model)
    for step, stepped in steps_of(model, optimizer, topology):
        assert counts_of(model) == [60, 144]
        assert zeros_under_masks(model), step
        changed = any(not torch.equal(m, previous[n]) for n, m in masks_of(model).items())
        assert not (changed and stepped)
        previous = masks_of(model)
    assert all(int((first[name] & ~mask).sum()) > 0 for name, mask in previous.items())


@pytest.mark.parametrize("regrown_moments", ["zeroed", "kept"])
def test_adam_state_of_dropped_and_grown_weights(regrown_moments: RegrownMoments) -> None:
    model = net(density=0.25)
    optimizer = adamw(model)
    topology = rigl(model, optimizer, regrown_moments=regrown_moments)
    list(steps_of(model, optimizer, topology, last=4))
    states = {name: optimizer.state[model.get_parameter(name)] for name in masks_of(model)}
    for state in states.values():
        # As if masked weights had been active before.
        state["exp_avg_sq"] += 1.0
    before, saved = masks_of(model), copy.deepcopy(states)
    next(steps_of(model, optimizer, topology, first=4))
    for name, after in masks_of(model).items():
        survivors, state, old = before[name] & after, states[name], saved[name]
        assert 0 < int((~survivors & after).sum()) == int((~survivors & before[name]).sum())
        assert torch.equal(state["exp_avg"], old["exp_avg"] * survivors)
        second = old["exp_avg_sq"] if regrown_moments == "kept" else old["exp_avg_sq"] * survivors
        assert torch.equal(state["exp_avg_sq"], second)
        assert state["step"] == old["step"]


@OPTIMIZERS
def test_gmp_keeps_the_exact_count_and_never_moves_pruned_weights(make: MakeOptimizer) -> None:
    model = net(density=1.0)
    optimizer = make(model)
    sizes = [240, 576]
    expected = sizes
    for step, stepped in steps_of(model, optimizer, gmp(model, optimizer)):
        assert stepped
        if step in (4, 8, 12, 16, 20, 24, 28, 30):
            sparsity = 0.9 * (1 - (1 - step / 30) ** 3)
            expected = [round((1 - sparsity) * size) for size in sizes]
        assert counts_of(model) == expected, step
        assert zeros_under_masks(model), step
        for layer in masked_layers(model).values():
            moments = [v for v in optimizer.state[layer.weight].values() if v.ndim == 2]
            assert moments
            assert all(zeros_under(moment, layer.weight_mask) for moment in moments), step
    assert counts_of(model) == [24, 58]


def test_gmp_prunes_the_smallest_for_good() -> None:
    model = net(density=1.0)
    optimizer = adamw(model)
    topology = gmp(model, optimizer)
    for number in range(SCHEDULE.num_steps):
        before, weights = masks_of(model), copy.deepcopy(model.state_dict())
        next(steps_of(model, optimizer, topology, first=number))
        for name, after in masks_of(model).items():
            assert not bool((after & ~before[name]).any())
            gone, magnitude = before[name] & ~after, weights[name].abs()
            if bool(gone.any()):
                assert float(magnitude[gone].max()) < float(magnitude[after].min())


def test_a_step_after_an_update_that_was_left_out_moves_no_masked_weight() -> None:
    """One layer's gradient overflows; the other's was kept dense, and is sparse again."""
    model = net(density=0.25)
    optimizer = sgd(model)
    topology = rigl(model, optimizer)
    with topology.backward(4):
        loss_of(model, inputs_of(4)).backward()
    model[0].weight.grad[0, 0] = math.inf
    with pytest.warns(RuntimeWarning, match="not finite"):
        assert topology.update(4)
    optimizer.step()
    assert model[2].max_abs_masked() == 0.0


def test_a_layer_of_units_that_are_off_has_lost_nothing() -> None:
    """Its masked weights lead from or to units without a gradient."""
    model = net(density=0.25)
    topology = rigl(model, sgd(model))
    with torch.no_grad():
        model[4].weight.zero_()[:, 0] = 1.0
        model[2].weight_mask[0] = True
    with topology.backward(4):
        loss_of(model, inputs_of(4)).backward()
    assert int((model[2].weight.grad != 0.0).any(dim=1).sum()) == 1
    assert not topology.update(4)


def test_weights_that_are_not_finite_are_not_chosen_from() -> None:
    model = net(density=1.0)
    with torch.no_grad():
        model[2].weight[3] = math.nan
    with pytest.raises(RunError, match="weights are not finite"):
        gmp(model, adamw(model)).update(4)


ALWAYS = UpdateSchedule(num_steps=10, interval=1, end_step=9)


@pytest.mark.parametrize(
    ("words", "density", "made"),
    [
        ("no masked layer", None, rigl),
        ("has no gradient", 0.25, lambda *of: rigl(*of).update(4)),
        ("need 0 < drop_fraction < 1", 0.25, partial(rigl, drop_fraction=math.nan)),
        ("never let the optimizer step", 0.25, partial(rigl, schedule=ALWAYS)),
        (
            "the optimizer does not train 2.weight",
            0.25,
            lambda model, _: rigl(model, adamw(model[0])),
        ),
        ("no density for layer '2'", 1.0, partial(gmp, density={"0": 0.5})),
        ("has a mask already", 0.25, lambda model, _: attach_full_masks(model, HIDDEN)),
        (
            "need 1 <= interval <= end_step < num_steps=40",
            1.0,
            lambda *_: UpdateSchedule(num_steps=40, interval=4, end_step=40),
        ),
    ],
)
def test_bad_input_is_refused(
    words: str, density: float | None, made: Callable[..., object]
) -> None:
    model = mlp(24) if density is None else net(density=density)
    with pytest.raises(SpecError, match=words):
        made(model, adamw(model))
