"""What our `paper` grids really set, to be held against Tables 3 and 4.

The settings are taken from the grids and from the functions the runs themselves use, never from
a list beside them: a grid that drifts from the paper makes an exact claim fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from harness.canonical import digest
from harness.errors import SpecError
from harness.task import PROFILES, Experiment, Params, Row, RunContext, Scalar
from reproductions.supar.base import FIGURE_5, TABLE_3, base_for
from reproductions.supar.experiments import coordinate_check, lr_sweep

if TYPE_CHECKING:
    from reproductions.supar.parameterization import BaseHyperparameters, Scheme
    from reproductions.supar.training import Settings

SCHEMES: tuple[Scheme, ...] = ("sp", "mup", "supar")
ALL = "all"
"""In the column `scheme`: the setting is one for all schemes."""


def run(params: Params, ctx: RunContext) -> list[Row]:
    """Return one row a setting of the item: setting, of_scheme, value."""
    if params["item"] == "tab03":
        return list(_table_3())
    if params["item"] == "fig06":
        grid, settings_of = lr_sweep.experiment.params_of("paper"), lr_sweep.settings_of
        return list(_table_4(grid, TABLE_3, settings_of))
    if params["item"] == "fig05":
        grid, settings_of = (
            coordinate_check.experiment.params_of("paper"),
            coordinate_check.settings_of,
        )
        rows = list(_table_4(grid, FIGURE_5, settings_of))
        return [*rows, _row("lr", ALL, FIGURE_5.lr)]
    raise SpecError(f"item={params['item']!r}: need 'tab03', 'fig05' or 'fig06'")


def _row(setting: str, scheme: str, value: float) -> Row:
    return {"setting": setting, "of_scheme": scheme, "value": value}


def _table_3() -> Iterator[Row]:
    shape = lr_sweep.experiment.params_of("paper")
    yield _row("sigma_W_base", ALL, TABLE_3.init_std)
    yield _row("eta_base", ALL, TABLE_3.lr)
    yield _row("alpha_input", ALL, TABLE_3.input_multiplier)
    yield _row("alpha_output", ALL, TABLE_3.output_multiplier)
    yield _row("d_model_base", ALL, _only(shape, "base_width"))
    yield _row("sequence_length", ALL, _only(shape, "context"))


def _table_4(
    grid: Sequence[Params],
    base: BaseHyperparameters,
    settings_of: Callable[[Params], Settings],
) -> Iterator[Row]:
    width, batch_size = _only(grid, "width"), _only(grid, "batch_size")
    yield _row("d_model", ALL, width)
    yield _row("n_layers", ALL, _only(grid, "num_layers"))
    yield _row("d_head", ALL, _only(grid, "head_size"))
    yield _row("batch_sequences", ALL, batch_size)
    for scheme in SCHEMES:
        multiplier = width / _only(grid, "base_width")
        chosen = base_for(scheme, base, lr=base.lr, width_multiplier=multiplier)
        yield _row("init_std", scheme, chosen.init_std)
    yield _row("alpha_input", ALL, base.input_multiplier)
    yield _row("alpha_output", ALL, base.output_multiplier)
    settings = settings_of(grid[0])
    decay = {"to_tenth": 10.0, "constant": 1.0}[settings.schedule]
    yield _row("lr_decay", ALL, decay)
    yield _row("warmup_steps", ALL, float(settings.warmup_steps))
    yield _row("steps", ALL, float(settings.num_steps))
    yield _row("tokens", ALL, settings.num_steps * batch_size * _only(grid, "context"))


def _only(grid: Sequence[Params], name: str) -> float:
    """Return the value that a parameter has in every point of a grid.

    Raises SpecError where the grid is empty or its points differ.
    """
    values = {float(point[name]) for point in grid}
    if len(values) != 1:
        raise SpecError(f"the paper grid sets {name} to {sorted(values)}: need one value")
    return values.pop()


def grid() -> Iterator[Params]:
    """Yield one point an item; a digest of the grids makes a changed grid a new trial."""
    grids = [e.params_of("paper") for e in (lr_sweep.experiment, coordinate_check.experiment)]
    sha256 = digest([grids, asdict(TABLE_3), asdict(FIGURE_5)])
    for item in ("tab03", "fig05", "fig06"):
        point: dict[str, Scalar] = {"item": item, "grids_sha256": sha256[:16]}
        yield point


experiment = Experiment(
    id="supar/configuration",
    version=1,
    run=run,
    grid=dict.fromkeys(PROFILES, grid),
    seed_from=(),
)
