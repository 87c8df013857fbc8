"""Table 4: the settings of each experiment, as our `paper` grids use them.

Every printed number of every row is claimed, and the ratio of training operations that a
footnote states of Figure 10's nets. The row of Figure 5 prints a second learning rate (DEV-15).
"""

from __future__ import annotations

from functools import partial

from harness.declare.old import old_task
from reproductions.supar.settings.experiment import experiment
from reproductions.supar.settings.quantities import COLUMNS, setting_claims, settings_table

NOT_CLAIMED = {
    "swept": "the figure's own x axis, whose points Table 4 does not print",
    "N/A": "SP, alone in Figure 11, has no multipliers",
}

task = old_task(
    id="supar/tab04",
    title="Settings of each experiment",
    reads=(experiment,),
    columns=COLUMNS,
    claims=tuple(setting_claims("tab04", not_claimed=NOT_CLAIMED)),
    view=partial(settings_table, word="tab04"),
)
