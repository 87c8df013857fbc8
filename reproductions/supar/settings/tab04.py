"""Table 4: the settings of each experiment, as our `paper` grids use them.

Every printed number of every row counts, and the ratio of training operations that a footnote
states of Figure 10's nets. The row of Figure 5 prints a second learning rate (DEV-15).
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare.claims import CHECK, claims, equal
from harness.declare.task import Task
from reproductions.supar.settings import table
from reproductions.supar.settings.experiment import configuration
from reproductions.supar.settings.quantities import num_differences

task = Task(
    "supar/tab04",
    reads=(configuration,),
    table=table.TABLE_4,
    claims=claims(
        "Table 4",
        (
            "settings_as_published",
            replace(CHECK, threshold_from="paper"),
            equal(partial(num_differences, word="tab04"), 0, "settings"),
            "Our `paper` grids have every number that Table 4 prints, and the ratio of training"
            " operations that a footnote states of Figure 10's nets (how many settings differ).",
        ),
    ),
)
