"""Table 3: the base hyperparameters, as our grids at profile `paper` use them."""

from __future__ import annotations

from decimal import Decimal

from harness.declare import Cell, Layout, Line, Task
from reproductions.supar.settings.experiment import configuration
from reproductions.supar.settings.quantities import Printed, as_published, printed
from reproductions.supar.settings.table import of_table

NO_VALUE = "-"
HEADS = {
    "sigma_W_base": "base standard deviation",
    "eta_base": "base learning rate",
    "alpha_input": "input multiplier",
    "alpha_output": "output multiplier",
    "d_model_base": "base width",
    "sequence_length": "sequence length",
    "proxy_layers": "proxy: layers",
    "proxy_d_head": "proxy: head size",
    "proxy_params": "proxy: parameters",
    "proxy_tokens": "proxy: tokens",
    "proxy_batch_sequences": "proxy: batch size in sequences",
    "random_search_configs": "configurations of the random search",
}


def row_of(cell: Printed) -> Line:
    """Return the row of a printed setting, with as many decimals as are printed."""
    digits = max(0, -int(Decimal(cell.text).as_tuple().exponent))
    return Line(
        HEADS[cell.name],
        where={"setting": cell.name},
        cell=Cell("value", digits=digits, absent=NO_VALUE),
        paper={"y_name": cell.name},
    )


LAYOUT = Layout(
    rows=tuple(row_of(cell) for cell in printed("tab03")),
    columns=(Line("value", paper={"series": ""}),),
    notes=("Nothing was tuned again: the proxy and its search are the paper's.",),
)


task = Task(
    "supar/tab03",
    reads=(configuration,),
    table=of_table("tab03"),
    layout=LAYOUT,
    claims=as_published(
        "tab03", "Our grids at profile `paper` have the base hyperparameters of Table 3."
    ),
)
