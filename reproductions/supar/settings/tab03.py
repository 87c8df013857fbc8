"""Table 3: the base hyperparameters, as our `paper` grids use them."""

from __future__ import annotations

from functools import partial

from harness.declare.old import old_task
from reproductions.supar.settings.experiment import experiment
from reproductions.supar.settings.quantities import COLUMNS, setting_claims, settings_table

NOT_CLAIMED = dict.fromkeys(
    (
        "proxy_layers",
        "proxy_d_head",
        "proxy_params",
        "proxy_tokens",
        "proxy_batch_sequences",
        "random_search_configs",
    ),
    "of the dense proxy on which the paper tuned: we take its result, and tune nothing again",
)

task = old_task(
    id="supar/tab03",
    title="Base hyperparameters",
    reads=(experiment,),
    columns=COLUMNS,
    claims=tuple(setting_claims("tab03", not_claimed=NOT_CLAIMED)),
    view=partial(settings_table, word="tab03"),
)
