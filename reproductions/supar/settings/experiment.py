"""What our `paper` grids really set, to be held against Tables 3 and 4.

The settings are taken from the grids and from the functions the runs themselves use, never from
a list beside them: a grid that drifts from the paper makes a check fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from harness.canonical import digest
from harness.declare import Experiment, Params, Profile, doc
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.dynamic.experiment import dynamic_sweep
from reproductions.supar.models.points import Trained
from reproductions.supar.sweeps.experiment import (
    iso_neuron,
    iso_parameter,
    lr_ablation,
    lr_sweep,
    sigma_sweep,
)
from reproductions.supar.transfer.experiment import fixed_hyperparameters, transfer

ALL = "all"
"""As a scheme or density of a setting: one value for all of them."""
TABLE_4: dict[str, tuple[Experiment, ...]] = {
    "fig01_06_08_14": (lr_sweep, lr_ablation),
    "fig07_13": (sigma_sweep,),
    "fig03": (transfer,),
    "fig05": (coordinate_check,),
    "fig09": (iso_parameter,),
    "fig10": (fixed_hyperparameters,),
    "fig11": (iso_neuron,),
    "fig12": (dynamic_sweep,),
}
"""Row of Table 4 -> the experiments its figures show."""


class Item(Params):
    """Table 3, or a row of Table 4."""

    item: str = doc("Table 3, or a row of Table 4 by the figures it is for.")
    grids_sha256: str = doc("Digest of all `paper` grids: a changed grid makes a new trial.")


def paper_points(item: str) -> list[Trained]:
    """Return the `paper` grid of a row of Table 4."""
    return [
        experiment.typed(point)
        for experiment in TABLE_4[item]
        for point in experiment.params_of("paper")
    ]


def grid(profile: Profile) -> Iterator[Item]:
    """Yield one point per item."""
    sha256 = _grids_sha256(tuple(TABLE_4.items()))
    for item in ("tab03", *TABLE_4):
        yield Item(item=item, grids_sha256=sha256[:16])


@cache
def _grids_sha256(table: tuple[tuple[str, tuple[Experiment, ...]], ...]) -> str:
    return digest({item: [p for e in swept for p in e.params_of("paper")] for item, swept in table})


configuration = Experiment(
    "supar/configuration",
    version=2,
    params=Item,
    grid=grid,
    run="trial:settings_of_item",
    seed_from=(),
)
