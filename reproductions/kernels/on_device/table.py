"""What became of each call on a device."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Cell, Layout, Line, Table, columns_of, measured, param, value
from reproductions.kernels.on_device.experiment import FAULT, Check, written
from reproductions.kernels.on_device.sizes import BEYOND_A_BLOCK

BACKENDS = {"plain": "plain torch", "triton": "Triton", "cuda": "CUDA C++"}
TABLE = Table.of(
    columns_of(Check),
    param("case", str, "Sizes, and which call; all of them under compute-sanitizer."),
    param("inputs", str, "Where inputs lie (aligned, or an entry after a multiple of 16 bytes), and"
          " whether NaN and infinities are among them."),
    value("chosen", str, "What methods are given on the device.", nullable=True),
    value("agrees", bool, "Whether outputs, and inputs that are changed in place, are those of"
          " float64, within the table of tolerances by type and length of sums.", nullable=True),
    value("repeats", bool, "Whether the same call gives the same bits again.", nullable=True),
    value("stray_bytes", int, "Bytes beyond the ends of inputs that were written to.",
          nullable=True),
    value("num_errors", int, "Errors or hazards that compute-sanitizer counts.", nullable=True),
    value("told", str, "The first of them, in its words.", nullable=True),
    value("release", str, "Of compute-sanitizer.", nullable=True),
    value("missing", str, "Why it was not done; empty where it was."),
    measured("error", float, "Largest difference from float64, as a share of what is allowed.",
             nullable=True),
)  # fmt: skip


def _beyond() -> Iterator[Line]:
    for kernel, cases in BEYOND_A_BLOCK.items():
        for case in cases:
            where = {"kernel": kernel, "case": case, "inputs": "an entry further"}
            yield Line(case, group=kernel, where=where)


def _columns() -> Iterator[Line]:
    yield Line("float32", group=BACKENDS["plain"], where={"backend": "plain"})
    both = dict.fromkeys((backend, precision) for _, backend, precision in written())
    for backend, precision in sorted(both, key=lambda pair: pair[0], reverse=True):
        where = {"backend": backend, "precision": precision}
        yield Line(precision, group=BACKENDS[backend], where=where)


DIFFERENCES = Layout(
    rows=tuple(_beyond()),
    columns=tuple(_columns()),
    cell=Cell("error", digits=2, seeded=False),
    title="Largest difference from float64 at sizes just beyond whole blocks",
    notes=(
        "As a share of what the table of tolerances allows, inputs at addresses that are no"
        " multiples of 16 bytes. At smoke plain torch runs, on a CPU.",
    ),
    ours=True,
)
ERRORS = Layout(
    rows=tuple(
        Line(f"{kernel}, {precision}", group=BACKENDS[backend],
             where={"kernel": kernel, "backend": backend, "precision": precision})
        for kernel, backend, precision in (*written(), (FAULT, "triton", "float32"))
    ),
    columns=tuple(Line(each, where={"checker": each}) for each in ("memcheck", "racecheck")),
    cell=Cell("num_errors", digits=0, seeded=False),
    title="Errors that compute-sanitizer counts at all odd sizes together",
    notes=(
        "The last row is a planted fault: where a checker misses it, its zeros mean nothing.",
    ),
    ours=True,
)  # fmt: skip
