"""Read the settings of Tables 3 and 4 off our `paper` grids."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from harness.declare import Row, RunContext
from harness.errors import SpecError
from reproductions.supar.models.costs import train_flops
from reproductions.supar.models.gpt_trial import parameterization_of
from reproductions.supar.models.points import RatePoint, StdPoint, Trained
from reproductions.supar.models.training import lr_factor
from reproductions.supar.settings.experiment import ALL, TABLE_4, Item, paper_points

ROW_OF = {"mup_init_only": "mup", "mup_lr_only": "mup"}
"""The half-way ablations, which Table 4 does not name, start as muP does."""

Cell = tuple[str, str]
"""Scheme and density; either may be ALL."""


def settings_of_item(params: Item, ctx: RunContext) -> list[Row]:
    """Return one row per setting of the item: setting, of_scheme, of_density, value."""
    return list(_table_3() if params.item == "tab03" else _table_4(params.item))


def _table_3() -> Iterator[Row]:
    """Yield what all grids have in common; Figure 5 has base hyperparameters of its own."""
    points = [point for item in TABLE_4 if item != "fig05" for point in paper_points(item)]
    base = [settings_at(point) for point in points if point.scheme != "sp"]
    names = {"init_std": "sigma_W_base", "lr": "eta_base"}
    for name in ("init_std", "lr", "alpha_input", "alpha_output"):
        values = {settings[name] for settings in base if name in settings}
        yield _row(names.get(name, name), (ALL, ALL), _only(values, "tab03", name))
    widths = {float(point.base_width) for point in points}
    yield _row("d_model_base", (ALL, ALL), _only(widths, "tab03", "d_model_base"))
    contexts = {float(point.context) for point in points}
    yield _row("sequence_length", (ALL, ALL), _only(contexts, "tab03", "sequence_length"))


def _table_4(item: str) -> Iterator[Row]:
    points = paper_points(item)
    found: dict[str, dict[Cell, set[float]]] = {}
    for point in points:
        cell = ROW_OF.get(point.scheme, point.scheme), f"{point.density:g}"
        for name, value in settings_at(point).items():
            found.setdefault(name, {}).setdefault(cell, set()).add(value)
    for name, by_cell in found.items():
        one_each = {cell: _only(values, item, name) for cell, values in by_cell.items()}
        for cell, value in merge_cells(one_each).items():
            yield _row(name, cell, value)
    if item == "fig10":
        yield _row("flop_ratio", (ALL, ALL), _flop_ratio(points))


def settings_at(point: Trained) -> dict[str, float]:
    """Return what a trial sets, named as the columns of Table 4.

    Without what the grid sweeps, and without the multipliers that SP does not have.
    lr_decay: the learning rate at the end of the decay over its peak.
    """
    base = parameterization_of(point).base
    found = {
        "d_model": float(point.width),
        "n_layers": float(point.num_layers),
        "d_head": float(point.head_size),
        "batch_sequences": float(point.batch_size),
        "lr": base.lr,
        "init_std": base.init_std,
        "alpha_input": base.input_multiplier,
        "alpha_output": base.output_multiplier,
        "lr_decay": lr_factor(point.steps, point),
        "warmup_steps": float(point.warmup_steps),
        "steps": float(point.steps),
        "tokens": float(point.steps) * point.batch_size * point.context,
    }
    absent = {"alpha_input", "alpha_output"} if point.scheme == "sp" else set()
    if isinstance(point, RatePoint):
        absent |= {"lr"}
    elif isinstance(point, StdPoint):
        absent |= {"init_std"}
    return {name: value for name, value in found.items() if name not in absent}


def merge_cells(cells: Mapping[Cell, float]) -> dict[Cell, float]:
    """Return values by scheme and density, ALL where it makes no difference.

    >>> merge_cells({("sp", "1"): 2.0, ("mup", "1"): 3.0, ("mup", "0.5"): 3.0})
    {('sp', 'all'): 2.0, ('mup', 'all'): 3.0}
    """
    by_scheme, by_density = _groups(cells, 0), _groups(cells, 1)
    if len(set(cells.values())) == 1:
        return {(ALL, ALL): next(iter(cells.values()))}
    if all(len(values) == 1 for values in by_density.values()):
        return {(ALL, density): value for density, (value,) in by_density.items()}
    return {
        (scheme, ALL if len(by_scheme[scheme]) == 1 else density): value
        for (scheme, density), value in cells.items()
    }


def _groups(cells: Mapping[Cell, float], axis: int) -> dict[str, set[float]]:
    groups: dict[str, set[float]] = {}
    for cell, value in cells.items():
        groups.setdefault(cell[axis], set()).add(value)
    return groups


def _flop_ratio(points: Iterable[Trained]) -> float:
    """Return training operations of the sparsest nets over those of the dense ones."""
    by_density: dict[float, set[float]] = {}
    for point in points:
        by_density.setdefault(point.density, set()).add(train_flops(point))
    sparse, dense = by_density[min(by_density)], by_density[1.0]
    return _only(sparse, "fig10", "train_flops") / _only(dense, "fig10", "train_flops")


def _only(values: Collection[float], item: str, name: str) -> float:
    """Return the one value that trials alike but for seed and sweep have.

    Raises SpecError where they differ, or where there is none.
    """
    if len(values) != 1:
        raise SpecError(f"the paper grid of {item} sets {name} to {sorted(values)}: need one value")
    return next(iter(values))


def _row(setting: str, cell: Cell, value: float) -> Row:
    return {"setting": setting, "of_scheme": cell[0], "of_density": cell[1], "value": value}
