"""What is asked of every kernel that is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import CHECK, Claim, Task, at_least, claims, equal
from reproductions.kernels.compiled.experiment import BUILDS
from reproductions.kernels.compiled.table import TABLE, layout_of

if TYPE_CHECKING:
    import pandas as pd

HERE = CHECK.at("cpu", "gpu", elsewhere="what compilers make is the same at any scale")


def static_task(kernel: str, *, bytes_bound: bool) -> Task:
    """Return the task of a kernel's static rows. bytes_bound: its floor is bytes, not products."""
    return Task(
        f"kernels/static_{kernel}",
        own_kind="kernel",
        reads=(BUILDS[kernel],),
        table=TABLE,
        layout=layout_of(kernel),
        claims=_claims(bytes_bound=bytes_bound),
    )


def _claims(*, bytes_bound: bool) -> tuple[Claim, ...]:
    spills = (
        "no_spills",
        HERE,
        equal(most_spills, 0, "instructions").measuring("most spills of any build"),
        "Every build keeps its numbers in registers, without a spill.",
    )
    wide = (
        "wide",
        HERE,
        at_least(fewest_wide, 1, "instructions").measuring("fewest such of any build"),
        "Every build moves 128 bits by one instruction where chunks are full.",
    )
    return claims("what a compiler can say", *((spills, wide) if bytes_bound else (spills,)))


def most_spills(table: pd.DataFrame) -> int:
    """Return the most instructions of any build that spill."""
    return int(table["spills"].max())


def fewest_wide(table: pd.DataFrame) -> int:
    """Return the fewest loads and stores of 128 bits of any build."""
    return int((table["loads_wide"] + table["stores_wide"]).min())
