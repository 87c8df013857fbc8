"""The floor of each kernel: a time that nothing goes below, and nothing was timed."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param, value
from reproductions.kernels.cases import PAGING, PRINTED
from reproductions.kernels.floors.experiment import CARDS, Call, floors

NOTE = (
    "A floor is the time that bytes, of main memory or over PCIe, or products take at the"
    " rate of the card's data sheet. Nothing was run, and it forecasts no kernel's time."
    " plain: how many times as many bytes plain torch moves; for random signs it draws"
    " Philox's words in integers."
)


def layout(title: str, *kernels: str) -> Layout:
    """Return the floors of some kernels; all of them are more than a page."""
    return Layout(
        rows=tuple(
            Line(
                f"{case.name}, {precision}",
                group=case.kernel,
                where={"kernel": case.kernel, "case": case.name, "precision": precision},
            )
            for case in (*PRINTED, PAGING)
            if case.kernel in kernels
            for precision in case.precisions
        ),
        columns=(
            Line(
                "MB",
                where={"card": CARDS[0].name},
                cell=Cell("bytes", unit="", scale=1e6, digits=1, seeded=False),
            ),
            Line(
                "plain",
                where={"card": CARDS[0].name},
                cell=Cell("plain_over_bytes", digits=1, seeded=False),
            ),
            Line(
                "GFLOP",
                where={"card": CARDS[0].name},
                cell=Cell("flops", unit="", scale=1e9, digits=1, seeded=False),
            ),
            *(Line(f"floor on {card.name}", where={"card": card.name}) for card in CARDS),
        ),
        cell=Cell("floor_us", unit="us", digits=1, seeded=False),
        title=title,
        notes=(NOTE,),
        ours=True,
    )


task = Task(
    "kernels/floors",
    own_kind="kernel",
    reads=(floors,),
    table=Table.of(
        columns_of(Call),
        param("card", str, "A graphics card."),
        value("bytes", int, "Of main memory, each read and written once."),
        value("plain_over_bytes", float, "Bytes that operations of plain torch read and write for"
              " the same call, over those: counted, none was timed.", nullable=True),
        value("flops", int, "Of matrix products."),
        value("link_bytes", int, "Between the card and its host, both ways together."),
        value("bound_by", str, "Which of the three takes longest at the card's rates."),
        value("floor_us", float, "That time: none is less, and none was measured."),
        value("gb_per_s", float, "Memory's rate by the card's data sheet."),
        value("tflop_per_s", float, "Products' rate by the data sheet, dense; float32 without"
              " TF32."),
        value("link_gb_per_s", float, "PCIe's rate by the data sheet, both ways together."),
    ),
    layout=(
        layout("Floors of steps", "masked_adamw", "layer_adamw", "tangent_step"),
        layout("Floors of one pass", "rademacher", "sign_ops", "shard_pack"),
        layout("Floors of cross-entropy", "linear_cross_entropy"),
    ),
)  # fmt: skip
