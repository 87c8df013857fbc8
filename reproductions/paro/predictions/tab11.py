"""Table 11, its predicted half: all parameters trained."""

from harness.declare import Task, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.table import ROWS_OURS, gain_layout, table_of

task = Task(
    "paro/tab11",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="1"),
    layout=gain_layout("1", "LLaMA-7B", "LLaMA-65B", rows=ROWS_OURS),
    claims=claims(
        "section 4.3",
        (
            "faster_than_zero",
            q.SET,
            # The ratios are those of LLaMA-65B too: where all parameters train, none is in them.
            q.faster(("LLaMA-7B", "IIG", "GGG"), ("LLaMA-7B", "NII", "NGG")),
            "By the formulas IIG is faster than ZeRO-3, and NII than ZeRO-2.",
        ),
    ),
)
