"""Static rows: what compilers made."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, columns_of, value
from reproductions.kernels.compiled.builds import builds_of
from reproductions.kernels.compiled.experiment import ARCHS, Build

TABLE = Table.of(
    columns_of(Build),
    value("function", str, "Its name in the cubin."),
    value("registers", int, "Per thread."),
    value("spills", int, "Instructions that load from or store to local memory."),
    value("stack_bytes", int, "Local memory per thread."),
    value("shared_bytes", int, "Shared memory per block."),
    value("instructions", int, "In all paths, the one for ends of tensors among them."),
    value("loads", int, "Instructions that load from global memory."),
    value("loads_wide", int, "Those of them that load 128 bits."),
    value("stores", int, "Instructions that store to global memory."),
    value("stores_wide", int, "Those of them that store 128 bits."),
    value("versions", str, "Of what compiled it and read the result."),
)  # fmt: skip
HEADS = {
    "registers": "registers", "spills": "spills", "shared_bytes": "shared B",
    "loads": "loads", "loads_wide": "wide loads", "stores": "stores", "stores_wide": "wide stores",
}  # fmt: skip


def layout_of(kernel: str) -> Layout:
    """Return rows by variant, language and architecture."""
    return Layout(
        rows=tuple(
            Line(build.variant, group=f"{build.language}, {arch}",
                 where={"variant": build.variant, "language": build.language, "arch": arch})
            for arch in ARCHS
            for build in builds_of(kernel)
        ),
        columns=tuple(
            Line(head, cell=Cell(name, digits=0, seeded=False)) for name, head in HEADS.items()
        ),
        cell=Cell("registers", digits=0, seeded=False),
        title="What compilers make of it",
        notes=(
            "Compiled ahead of time for sizes and addresses that are multiples of 16. Nothing is"
            " run, and no time follows from these numbers.",
            "Registers are per thread, shared bytes per block. Loads and stores are of global"
            " memory, those for ends of tensors among them. Wide ones move 128 bits at once.",
        ),
        ours=True,
    )  # fmt: skip
