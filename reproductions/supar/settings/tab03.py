"""Table 3: the base hyperparameters, as our `paper` grids use them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare.claims import CHECK, Claim, claims, equal
from harness.declare.task import Task
from reproductions.supar.models.printed import stated
from reproductions.supar.settings import table
from reproductions.supar.settings.experiment import configuration
from reproductions.supar.settings.quantities import Setting, farthest_setting, published_settings

PRINTED = replace(CHECK, threshold_from="paper")


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
    claims=tuple(
        claim for setting in published_settings("tab03") for claim in as_published(setting)
    ),
)
