"""Table 4: the settings of each experiment, as our `paper` grids use them.

Only the rows of implemented figures are held against the paper: that of Figures 1, 6 and 8, and
that of Figure 5.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.claims import Claim
from harness.task import Task
from reproductions.supar.experiments.configuration import experiment
from reproductions.supar.settings import COLUMNS, setting_claim, settings_table

Printed = tuple[float, float]
"""A printed value, and half a unit of its last digit where ours is not rounded."""

PRINTED: dict[str, dict[str, Printed]] = {
    "fig06": {
        "d_model": (4096.0, 0.0),
        "n_layers": (2.0, 0.0),
        "d_head": (64.0, 0.0),
        "batch_sequences": (128.0, 0.0),
        "init_std sp": (2.166e-2, 5e-6),
        "init_std mup": (0.087, 5e-4),
        "init_std supar": (0.087, 5e-4),
        "alpha_input": (9.1705, 0.0),
        "alpha_output": (1.095, 5e-4),
        "lr_decay": (10.0, 0.0),
        "warmup_steps": (116.0, 0.0),
        "steps": (1169.0, 0.0),
        "tokens": (306e6, 5e5),
    },
    "fig05": {
        "d_model": (2048.0, 0.0),
        "n_layers": (2.0, 0.0),
        "d_head": (32.0, 0.0),
        "batch_sequences": (4.0, 0.0),
        "lr": (1.68e-2, 0.0),
        "init_std sp": (0.101, 0.0),
        "init_std mup": (0.101, 0.0),
        "init_std supar": (0.101, 0.0),
        "alpha_input": (11.22, 0.0),
        "alpha_output": (1.0, 0.0),
        "lr_decay": (1.0, 0.0),
        "warmup_steps": (0.0, 0.0),
        "steps": (10.0, 0.0),
        "tokens": (82e3, 500.0),
    },
}
"""Held equal to the reference rows by a test; "10x linear" reads 10, "constant" reads 1."""


def _claims() -> Iterator[Claim]:
    for item, settings in PRINTED.items():
        for key, (value, tolerance) in settings.items():
            name, _, scheme = key.partition(" ")
            # The row of Figure 5 prints one standard deviation for all schemes.
            told_apart = scheme and item == "fig06"
            yield setting_claim(
                item=item,
                name=name,
                value=value,
                tolerance=tolerance,
                scheme=scheme or "all",
                series=f"{item} {scheme}" if told_apart else item,
                where="Table 4",
            )


task = Task(
    id="supar/tab04",
    title="Settings of each experiment",
    reads=(experiment,),
    columns=COLUMNS,
    claims=tuple(_claims()),
    view=partial(settings_table, items=("fig05", "fig06")),
)
