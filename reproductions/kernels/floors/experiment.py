"""What each call cannot do without, and the time that takes at a card's stated rates."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Params, Profile, doc
from reproductions.kernels.cases import CASES, PAGING, Precision


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
    version=1,
    params=Call,
    grid=grid,
    run="trial:floor_rows",
    seed_from=(),
    estimate=lambda call: Estimate(seconds=0.1),
)
