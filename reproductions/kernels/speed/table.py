"""Times, implementation by implementation."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Cell, Layout, Line, Table, columns_of, measured, param, value
from reproductions.kernels.cases import PRINTED
from reproductions.kernels.speed.experiment import Race

TABLE = Table.of(
    columns_of(Race, without=("seed",)),
    param("implementation", str, "What was timed."),
    columns_of(Race, "seed"),
    value("bytes", int, "Of main memory, each read and written once.", nullable=True),
    value("flops", int, "Of matrix products.", nullable=True),
    value("agrees", bool, "Whether outputs after the timed loop are those of float64, within the"
          " table of tolerances; empty where other random numbers or another product are timed.",
          nullable=True),
    value("missing", str, "Why an implementation of others did not run; empty where it did."),
    measured("error", float, "Largest difference from float64, as a share of what is allowed.",
             nullable=True),
    measured("median_us", float, "Time of a call.", nullable=True),
    measured("p20_us", float, "A fifth of the calls took less.", nullable=True),
    measured("p80_us", float, "A fifth of the calls took more.", nullable=True),
    measured("num_samples", int, "Calls that were timed.", nullable=True),
    measured("copy_us", float, "A copy of as many bytes, in turn with the calls.", nullable=True),
    measured("floor_us", float, "The faster of that copy and of a multiple in place of as many"
             " bytes, or, where that is longer, as many FLOPs at the rate of a square product; all"
             " in turn with the calls.", nullable=True),
    measured("share_of_ceiling", float, "The floor over the time, or over it that part of the floor"
             " which a call does that makes no derivatives.", nullable=True),
    measured("product_gflop_per_s", float, "Rate of a square product, in turn with the calls.",
             nullable=True),
    measured("peak_bytes", int, "Most bytes at once beyond inputs; on a GPU by the allocator, on a"
             " CPU counted.", nullable=True),
    measured("load_average", float, "Over one minute, before the first sample.", nullable=True),
)  # fmt: skip

LIBRARIES = (
    "torch's fused AdamW and torchao's stand for float32 alone: with weights in bfloat16 they keep"
    " moments in bfloat16, which is another algorithm. torchao's steps tensor by tensor."
)
"""What libraries' steps of AdamW are."""

FLOOR = Cell("floor_us", unit="us", digits=1)


def layout_of(kernel: str, *implementations: str, notes: Sequence[str] = ()) -> Layout:
    """Return rows by case and type, a column per implementation, and the least time last.

    notes: what some of them do less than the others, or more.
    """
    return Layout(
        rows=tuple(
            Line(case.name, group=precision, where={"case": case.name, "precision": precision})
            for precision in ("float32", "bfloat16")
            for case in PRINTED
            if case.kernel == kernel and precision in case.precisions
        ),
        columns=(
            *(Line(name, where={"implementation": name}) for name in implementations),
            # By what was measured in turn with the first of them, which runs everywhere.
            Line("floor", where={"implementation": implementations[0]}, cell=FLOOR),
        ),
        cell=Cell("median_us", unit="us", digits=1),
        title="Time of a call",
        notes=(
            "Medians of calls that take turns in one process, then mean and spread over processes."
            " On a CPU one thread, and no kernel of ours. The floor is what a copy of the call's"
            " bytes, or a square product of its FLOPs, takes there.",
            *notes,
        ),
        ours=True,
    )
