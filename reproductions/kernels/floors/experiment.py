"""What each call cannot do without, and the time that takes at a card's stated rates."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from harness.declare import Estimate, Experiment, Params, Profile, doc
from reproductions.kernels.cases import CASES, PAGING, Precision


class Card(NamedTuple):
    """What a data sheet states."""

    name: str
    gb_per_s: float
    tflop_per_s: dict[Precision, float]
    """Dense; float32 without TF32."""
    link_gb_per_s: float
    """Of PCIe, both ways together."""


CARDS = (
    Card("A100 80 GB SXM", 2039.0, {"float32": 19.5, "bfloat16": 312.0}, 64.0),
    Card("H200 SXM", 4800.0, {"float32": 67.0, "bfloat16": 989.0}, 128.0),
)
"""NVIDIA's data sheets of both."""


class Call(Params):
    """A kernel at given sizes."""

    kernel: str = doc("Kernel, by its task.")
    case: str = doc("Sizes, by their name.")
    precision: Precision = doc("In which type values, activations and gradients are.")


def grid(profile: Profile) -> Iterator[Call]:
    """Yield every case in its types, those of `gpu` at `cpu` too: nothing is run."""
    asked = {"smoke": "smoke", "cpu": "gpu"}.get(profile)
    for case in (*CASES, PAGING):
        if asked in case.profiles:
            for precision in case.precisions:
                yield Call(kernel=case.kernel, case=case.name, precision=precision)


floors = Experiment(
    "kernels/floors",
    version=2,
    params=Call,
    grid=grid,
    run="trial:floor_rows",
    seed_from=(),
    estimate=lambda call: Estimate(seconds=0.1),
)
