"""Table 12, its predicted half: 1/16 of the parameters trained."""

from harness.declare import Task, claims
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import predictions
from reproductions.paro.predictions.table import ROWS_OURS, gain_layout, table_of

task = Task(
    "paro/tab12",
    reads=(predictions,),
    table=table_of(about="guideline", trainable="1/16"),
    layout=gain_layout("1/16", "LLaMA-7B", "LLaMA-65B", rows=ROWS_OURS),
    claims=claims(
        "section 4.3",
        (
            "faster_than_zero",
            q.SET,
            # III sends what IIG does, and NII over ZeRO-2 is as in Table 11.
            q.faster(
                ("LLaMA-7B", "NIG", "NGG"),
                ("LLaMA-7B", "NII", "NIG"),
                ("LLaMA-65B", "IIG", "GGG"),
            ),
            "By the formulas NIG is faster than ZeRO-2, NII than NIG, and IIG than ZeRO-3.",
        ),
    ),
)
