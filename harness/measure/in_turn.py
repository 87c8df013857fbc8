"""Ways to take one step, timed in turn in one process: a row per way, and such rows' columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from harness.choices import noted
from harness.declare import CHECK, Cell, Claim, Line, claims, equal, measured, value
from harness.declare.experiment import Device
from harness.declare.params import Scalar
from harness.declare.statistics import MissingRows
from harness.declare.table import Frame
from harness.measure.timing import Timing, Work, measure_interleaved

NOTHING_CHOSEN = "plain torch"
COLUMNS = (
    value("ran", str, "What was taken where a kernel could be, by name; plain torch where nothing"
          " was chosen."),
    value("num_samples", int, "Steps that were timed."),
    value("agrees", bool, "Whether a few small steps by kernels, on a CPU by their plain torch, end"
          " where other code does, within the table of tolerances; empty where it was not asked.",
          nullable=True),
    measured("apart", float, "How far they end apart, as a share of what it is a part of.",
             nullable=True),
    measured("median_ms", float, "Time of a step."),
    measured("p20_ms", float, "A fifth of the steps took less."),
    measured("p80_ms", float, "A fifth of the steps took more."),
    measured("peak_bytes", int, "Most bytes at once in a step, beyond what stays between steps; on"
             " a GPU by the allocator, on a CPU counted."),
    measured("load_average", float, "Over one minute, before the first sample.", nullable=True),
)  # fmt: skip
"""Beside those that tell ways apart; `agrees` and `apart` are for the study to fill in."""


PRINTED = (
    Line("step"),
    Line("peak", cell=Cell("peak_bytes", unit="GB", scale=1e9, digits=3)),
    Line("ran", cell=Cell("ran", seeded=False)),
)
"""Columns of a printed table of such rows, whose cells show `median_ms`."""
TRIED = CHECK.at("smoke", "gpu", elsewhere="this step is timed at `gpu`, tried at `smoke`")


@dataclass(frozen=True, kw_only=True, slots=True)
class Way:
    """A way to take the step."""

    told: Mapping[str, Scalar]
    """The columns that tell it apart from the others."""
    make: Callable[[], Work]
    """Builds what takes the step once, over and over."""
    within: Callable[[], AbstractContextManager[None]] = nullcontext
    """What surrounds making it, and each of its steps."""


def rows_in_turn(
    ways: Sequence[Way], *, device: Device, num_warmup: int, num_timed: int
) -> list[dict[str, Any]]:
    """Return a row per way: `told`, and COLUMNS but for those that a study fills in.

    All ways are held at once. num_warmup: rounds before, beside the first step, with which states
    and compiled code come. num_timed: rounds that are kept; on a GPU they come in tens.
    """
    made = [_made(way) for way in ways]
    steps = [step for step, _ in made]
    for _ in range(num_warmup):
        for step in steps:
            step()
    timings = measure_interleaved(
        steps, device=device, warmup_s=0.0, min_samples=num_timed, budget_s=0.0
    )
    return [
        {**way.told, "ran": ran, **_summary(timing), "peak_bytes": _peak_bytes(step, device)}
        for way, (step, ran), timing in zip(ways, made, timings, strict=True)
    ]


def disagreeing(table: Frame) -> int:
    """Return in how many rows steps by kernels end elsewhere than other code does."""
    asked = table["agrees"].dropna()
    if asked.empty:
        raise MissingRows("no steps by kernels were held against other code")
    return int((~asked.astype(bool)).sum())


def steps_agree(statement: str) -> tuple[Claim, ...]:
    """Return the check that steps by kernels end where other code does, in a study's words."""
    check = ("steps_agree", TRIED, equal(disagreeing, 0, "trials"), statement)
    return claims("what is timed", check)


def _made(way: Way) -> tuple[Work, str]:
    """Make a way and take its first step; return its step, and what was chosen."""
    with noted() as choices, way.within():
        step = way.make()
        step()
    told = "; ".join(f"{what}: {which}" for what, which in sorted(choices.items()))

    def again() -> None:
        with way.within():
            step()

    return again, told or NOTHING_CHOSEN


def _summary(timing: Timing) -> dict[str, Any]:
    names = ("median_ms", "p20_ms", "p80_ms", "load_average")
    return {"num_samples": len(timing.samples_ms), **{n: getattr(timing, n) for n in names}}


def _peak_bytes(step: Work, device: Device) -> int | None:
    import torch

    from harness.measure.live_bytes import peak_of

    return peak_of(step, measured=True, device=torch.device(device))[1]
