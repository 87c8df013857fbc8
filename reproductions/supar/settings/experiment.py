"""What our `paper` grids really set, to be held against Tables 3 and 4.

The settings are taken from the grids and from the functions the runs themselves use, never from
a list beside them: a grid that drifts from the paper makes an exact claim fail.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from harness.declare.experiment import Experiment, RawParams, Row, RunContext
from harness.declare.profiles import PROFILES
from harness.errors import SpecError
from harness.provenance.canonical import digest
from reproductions.supar.coordinates import experiment as coordinate_check
from reproductions.supar.dynamic import experiment as dynamic_sweep
from reproductions.supar.models.costs import train_flops
from reproductions.supar.models.printed import ALL
from reproductions.supar.sweeps import iso_neuron, iso_parameter, lr_ablation, lr_sweep, sigma_sweep
from reproductions.supar.transfer import experiment as transfer
from reproductions.supar.transfer import fixed_hyperparameters

TABLE_4: dict[str, tuple[Experiment, ...]] = {
    "fig01_06_08_14": (lr_sweep.experiment, lr_ablation.experiment),
    "fig07_13": (sigma_sweep.experiment,),
    "fig03": (transfer.experiment,),
    "fig05": (coordinate_check.experiment,),
    "fig09": (iso_parameter.experiment,),
    "fig10": (fixed_hyperparameters.experiment,),
    "fig11": (iso_neuron.experiment,),
    "fig12": (dynamic_sweep.experiment,),
}
"""Row of Table 4 -> the experiments its figures show."""

ROW_OF = {"mup_init_only": "mup", "mup_lr_only": "mup"}
"""The half-way ablations, which Table 4 does not name, start as muP does."""

Cell = tuple[str, str]
"""Scheme and density; either may be ALL."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Return one row a setting of the item: setting, of_scheme, of_density, value."""
    item = str(params["item"])
    return list(_table_3() if item == "tab03" else _table_4(item))


def paper_points(item: str) -> list[RawParams]:
    """Return the `paper` grid of a row of Table 4."""
    return [point for experiment in TABLE_4[item] for point in experiment.params_of("paper")]


def _table_3() -> Iterator[Row]:
    """Yield what all grids have in common; Figure 5 has base hyperparameters of its own."""
    points = [point for item in TABLE_4 if item != "fig05" for point in paper_points(item)]
    base = [settings_at(point) for point in points if point["scheme"] != "sp"]
    names = {"init_std": "sigma_W_base", "lr": "eta_base"}
    for name in ("init_std", "lr", "alpha_input", "alpha_output"):
        values = {settings[name] for settings in base if name in settings}
        yield _row(names.get(name, name), (ALL, ALL), _only(values, "tab03", name))
    for name, parameter in (("d_model_base", "base_width"), ("sequence_length", "context")):
        values = {float(point[parameter]) for point in points}
        yield _row(name, (ALL, ALL), _only(values, "tab03", name))


def _table_4(item: str) -> Iterator[Row]:
    points = paper_points(item)
    found: dict[str, dict[Cell, set[float]]] = {}
    for point in points:
        scheme = str(point["scheme"])
        cell = ROW_OF.get(scheme, scheme), f"{point['density']:g}"
        for name, value in settings_at(point).items():
            found.setdefault(name, {}).setdefault(cell, set()).add(value)
    for name, by_cell in found.items():
        one_each = {cell: _only(values, item, name) for cell, values in by_cell.items()}
        for cell, value in merge_cells(one_each).items():
            yield _row(name, cell, value)
    if item == "fig10":
        yield _row("flop_ratio", (ALL, ALL), _flop_ratio(points))


def settings_at(point: RawParams) -> dict[str, float]:
    """Return what a trial sets, named as the columns of Table 4.

    Without what the grid sweeps, and without the multipliers that SP does not have.
    lr_decay: the learning rate at the end of the decay over its peak.
    """
    from reproductions.supar.models.gpt_trial import parameterization_of, settings_of
    from reproductions.supar.models.training import lr_factor

    training, base = settings_of(point), parameterization_of(point).base
    absent = {"lr"} if "log2_lr" in point else {"init_std"} if "log2_sigma" in point else set()
    if point["scheme"] == "sp":
        absent |= {"alpha_input", "alpha_output"}
    found = {
        "d_model": float(point["width"]),
        "n_layers": float(point["num_layers"]),
        "d_head": float(point["head_size"]),
        "batch_sequences": float(point["batch_size"]),
        "lr": base.lr,
        "init_std": base.init_std,
        "alpha_input": base.input_multiplier,
        "alpha_output": base.output_multiplier,
        "lr_decay": lr_factor(training.num_steps, training),
        "warmup_steps": float(training.warmup_steps),
        "steps": float(training.num_steps),
        "tokens": float(training.num_steps) * int(point["batch_size"]) * int(point["context"]),
    }
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


def _flop_ratio(points: Iterable[RawParams]) -> float:
    """Return training operations of the sparsest nets over those of the dense ones."""
    by_density: dict[float, set[float]] = {}
    for point in points:
        by_density.setdefault(float(point["density"]), set()).add(train_flops(point))
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


def grid() -> Iterator[RawParams]:
    """Yield one point an item; a digest of the grids makes a changed grid a new trial."""
    sha256 = digest({item: paper_points(item) for item in TABLE_4})
    for item in ("tab03", *TABLE_4):
        yield {"item": item, "grids_sha256": sha256[:16]}


experiment = Experiment(
    id="supar/configuration",
    version=2,
    run=run,
    grid=dict.fromkeys(PROFILES, grid),
    seed_from=(),
)
