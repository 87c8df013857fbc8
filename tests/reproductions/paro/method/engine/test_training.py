"""Training by each strategy is training by one process on the whole batch."""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import nn

from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import Net, freeze, loss_of, micro_batch

STEPS = 2
ADAMW = partial(torch.optim.AdamW, lr=1e-2, weight_decay=0.1)
KERNEL_ADAMW = partial(KernelAdamW, lr=1e-2, weight_decay=0.1)
"""In plain torch on a CPU."""
MAX_NORM = 0.5
"""Below every norm of the runs: clipping is active."""
TOLERANCE = 1e-12
"""In float64, where losses and weights are about 1: sums of some hundred terms, in another order,
differ by 1e-14, and Adam's eps of 1e-8 keeps gradients that are rounding alone from a step of
their own."""
CASES = [
    {"letters": str(strategy), "micro_steps": 2, "collectives": "two-layer", "frozen": True}
    for strategy in EFFECTIVE
]
"""That flat ones add the same numbers, `test_exact` shows of every strategy, to the last bit."""
UNFROZEN = [
    {"letters": letters, "micro_steps": s, "collectives": collectives, "frozen": False}
    for letters, s, collectives in (
        ("NNN", 3, "flat"), ("IIG", 3, "flat"), ("GGG", 1, "flat"), ("IGG", 2, "two-layer")
    )
]  # fmt: skip
Case = dict[str, Any]


def train_on_rank(group_size: int, cases: list[Case]) -> list[dict[str, Any]]:
    mesh = mesh_of_groups(group_size)
    return [train(mesh, **case) for case in cases]


def train(
    mesh: Any, *, letters: str, micro_steps: int, collectives: Any, frozen: bool,
    by_kernel: bool = False,
) -> dict[str, Any]:  # fmt: skip
    net = Net()
    if frozen:
        freeze(net)
    engine = Paro(
        net, mesh, letters, optimizer=KERNEL_ADAMW if by_kernel else ADAMW, max_norm=MAX_NORM,
        collectives=collectives,
    )  # fmt: skip
    losses, norms = [], []
    for step in range(STEPS):
        total = 0.0
        for k in range(micro_steps):
            loss = loss_of(net, micro_batch(step, k, dist.get_rank())) / micro_steps
            engine.backward(loss)
            total += loss.item()
        norms.append(engine.step())
        losses.append(total)
    return {"losses": losses, "norms": norms, "weights": listed(engine.state_dict())}


def listed(state: dict[str, torch.Tensor]) -> dict[str, list[Any]]:
    return {name: value.tolist() for name, value in state.items()}


@cache
def alone(num_ranks: int, micro_steps: int, frozen: bool) -> dict[str, Any]:
    """Return what one process does with the batches of all ranks."""
    net = Net()
    if frozen:
        freeze(net)
    trained = [param for param in net.parameters() if param.requires_grad]
    optimizer = ADAMW(trained)
    losses, norms = [], []
    for step in range(STEPS):
        batch = torch.cat([
            micro_batch(step, k, rank) for k in range(micro_steps) for rank in range(num_ranks)
        ])  # fmt: skip
        loss = loss_of(net, batch)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        norms.append(float(nn.utils.clip_grad_norm_(trained, MAX_NORM)))
        optimizer.step()
        losses.append(loss.item())
    weights = {name: value.detach() for name, value in net.state_dict().items()}
    return {"losses": losses, "norms": norms, "weights": weights}


def name_of(case: Case) -> str:
    frozen = " frozen" if case["frozen"] else ""
    by = " by KernelAdamW" if case.get("by_kernel") else ""
    return f"{case['letters']} s={case['micro_steps']} {case['collectives']}{frozen}{by}"


def differences(num_ranks: int, group_size: int, cases: list[Case]) -> dict[str, float]:
    """Return by how much ranks and one process differ at most, case by case."""
    ranks = on_ranks(train_on_rank, num_ranks, group_size=group_size, cases=cases)
    found = {}
    for case, *each in zip(cases, *ranks, strict=True):
        wanted = alone(num_ranks, case["micro_steps"], case["frozen"])
        assert min(wanted["norms"]) > MAX_NORM
        losses = torch.tensor([rank["losses"] for rank in each], dtype=torch.float64).mean(dim=0)
        pairs = [(losses, wanted["losses"])]
        for rank in each:
            pairs.append((rank["norms"], wanted["norms"]))
            assert rank["weights"].keys() == wanted["weights"].keys()
            pairs += [(rank["weights"][name], w) for name, w in wanted["weights"].items()]
        found[name_of(case)] = max(largest(*pair) for pair in pairs)
    return found


def largest(found: Any, wanted: Any) -> float:
    """Return the largest difference; NaN where any number is."""
    found, wanted = (torch.as_tensor(each, dtype=torch.float64) for each in (found, wanted))
    assert found.shape == wanted.shape
    return float((found - wanted).abs().max())


# All of a launch in one test: ranks take seconds to start, and fixtures are not shared by workers.
@pytest.mark.parametrize(
    ("num_ranks", "group_size", "cases"),
    [
        (4, 2, [*CASES, *UNFROZEN, UNFROZEN[0] | {"by_kernel": True}]),
        (6, 3, [each for each in (*CASES, *UNFROZEN) if each["letters"] in ("NNI", "IGG")]),
    ],
)
def test_ranks_train_as_one_process_does(
    num_ranks: int, group_size: int, cases: list[Case]
) -> None:
    found = differences(num_ranks, group_size, cases)
    assert len(found) == len(cases)
    assert {name: each for name, each in found.items() if not each <= TOLERANCE} == {}
