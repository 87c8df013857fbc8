"""Table 3: the base hyperparameters, as our `paper` grids use them."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial

from harness.declare import CHECK, Cell, Claim, Layout, Line, Task, claims, equal
from reproductions.supar.models.printed import Printed, printed, stated
from reproductions.supar.settings import table
from reproductions.supar.settings.experiment import configuration
from reproductions.supar.settings.quantities import (
    IN_WORDS,
    Setting,
    farthest_setting,
    published_settings,
)

NO_VALUE = "-"
PRINTED = replace(CHECK, threshold_from="paper")

HEADS = IN_WORDS | {
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
        HEADS[cell.y_name],
        where={"setting": cell.y_name},
        cell=Cell("value", digits=digits, absent=NO_VALUE),
        paper={"y_name": cell.y_name},
    )


LAYOUT = Layout(
    rows=tuple(row_of(cell) for cell in printed("tab03")),
    columns=(Line("value", paper={"series": ""}),),
    cell=Cell("value"),
    notes=("We tuned nothing again: the proxy and its search are the paper's alone.",),
)


def as_published(setting: Setting) -> tuple[Claim, ...]:
    """Return the check that our grids have a printed setting."""
    criterion = equal(
        partial(
            farthest_setting,
            item=setting.item,
            name=setting.name,
            published=setting.published,
            scheme=setting.scheme,
            density=setting.density,
        ),
        setting.published,
        "",
        tolerance=setting.tolerance,
        paper_value=partial(stated, y_name=setting.name, series=setting.cell.series),
    )
    return claims(setting.cell.where, (setting.id, PRINTED, criterion, setting.statement))


task = Task(
    "supar/tab03",
    reads=(configuration,),
    table=table.TABLE_3,
    layout=LAYOUT,
    claims=tuple(
        claim for setting in published_settings("tab03") for claim in as_published(setting)
    ),
)
