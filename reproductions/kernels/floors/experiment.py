"""What each call cannot do without, and the time that takes at a card's stated rates."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Params, Profile, doc
from reproductions.kernels.cases import BYTES, CASES, Precision


class Call(Params):
    """A kernel at given sizes."""

    kernel: str = doc("Kernel, by its task.")
    case: str = doc("Sizes, by their name.")
    precision: Precision = doc("In which type values, activations and gradients are.")


def grid(profile: Profile) -> Iterator[Call]:
    """Yield every case in both types; at `smoke` a kernel's first."""
    seen: set[str] = set()
    for case in CASES:
        if profile == "cpu" or (profile == "smoke" and case.kernel not in seen):
            for precision in BYTES:
                yield Call(kernel=case.kernel, case=case.name, precision=precision)
        seen.add(case.kernel)


floors = Experiment(
    "kernels/floors",
    version=1,
    params=Call,
    grid=grid,
    run="trial:floor_rows",
    seed_from=(),
    estimate=lambda call: Estimate(seconds=0.1),
)
