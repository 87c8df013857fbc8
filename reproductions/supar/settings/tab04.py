"""Table 4: the settings of each experiment, as our grids at profile `paper` use them.

Every printed number of every row counts, and the ratio of training operations that a footnote
states of Figure 10's nets. The row of Figure 5 prints a second learning rate (DEV-15).
"""

from __future__ import annotations

from harness.declare import Cell, Layout, Line, Task
from reproductions.supar.models.schemes import LABELS, SCHEMES
from reproductions.supar.settings.experiment import ALL, TABLE_4, configuration
from reproductions.supar.settings.quantities import as_published, printed
from reproductions.supar.settings.table import of_table

CELLS = {
    "d_model": ("d_model", Cell("value", digits=0)),
    "n_layers": ("layers", Cell("value", digits=0)),
    "d_head": ("d_head", Cell("value", digits=0)),
    "batch_sequences": ("batch size", Cell("value", digits=0)),
    "lr": ("LR", Cell("value", digits=4, absent="swept")),
    "init_std": ("init. std.", Cell("value", digits=5, absent="swept")),
    "alpha_input": ("alpha_input", Cell("value", digits=4, absent="N/A")),
    "alpha_output": ("alpha_output", Cell("value", digits=4, absent="N/A")),
    "lr_decay": ("LR decay, final over peak", Cell("value", digits=1)),
    "warmup_steps": ("warm-up steps", Cell("value", digits=0)),
    "steps": ("steps", Cell("value", digits=0)),
    "tokens": ("tokens", Cell("value", unit="M", scale=1e6)),
    "flop_ratio": ("FLOPs, sparsest over dense", Cell("value", digits=1)),
}
"""The columns, in the paper's order; the last is a footnote's."""


def rows_of(item: str) -> tuple[Line, ...]:
    """Return the rows of one experiment: what all its nets share, then what differs.

    The paper has them in one row, with several values in a cell.
    """
    found = [(cell.scheme, cell.density) for cell in printed("tab04") if cell.item == item]
    order = ("", *SCHEMES)
    places = sorted(dict.fromkeys(found), key=lambda place: (order.index(place[0]), place[1] != ""))
    figures = ", ".join(str(int(number)) for number in item[3:].split("_"))
    return tuple(
        Line(
            ", ".join(filter(None, (LABELS.get(scheme), x and f"density {x}"))) or "all nets",
            group=f"Fig. {figures}",
            where={"item": item, "scheme": scheme or ALL, "density": x or ALL},
            paper={"series": f"{item} {scheme}".strip(), "x": x},
        )
        for scheme, x in places
    )


LAYOUT = Layout(
    rows=tuple(row for item in TABLE_4 for row in rows_of(item)),
    columns=tuple(
        Line(head, where={"setting": name}, cell=cell, paper={"y_name": name})
        for name, (head, cell) in CELLS.items()
    ),
    notes=(
        "N/A: Figure 11 has SP alone, which has no multipliers.",
        "The last column is from a footnote.",
    ),
)

task = Task(
    "supar/tab04",
    reads=(configuration,),
    table=of_table("tab04"),
    layout=LAYOUT,
    claims=as_published(
        "tab04", "Our grids at profile `paper` have every number that Table 4 prints."
    ),
)
