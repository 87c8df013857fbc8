"""Pilots on models that others trained: validation loss of Figure 6's methods at every rate."""

from harness.declare import Layout, Line, Task
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import (
    RANKS,
    STAGED_METHODS,
    staged_pilots,
)
from reproductions.lisa.finetuning.pilot_in_house import LOSS, by_rate
from reproductions.lisa.models.layouts import HEADS
from reproductions.lisa.models.names import STAGED
from reproductions.lisa.models.stand_ins import FIGURE_6

task = Task(
    "lisa/pilot_staged",
    own_kind="ablation",
    reads=(staged_pilots,),
    table=table.PILOTS,
    layout=Layout(
        rows=tuple(
            Line(
                HEADS["lisa" if name == "usual" else name],
                group=FIGURE_6[model],
                where={"model": model, "setting": name},
            )
            for model in STAGED
            for name in STAGED_METHODS
        ),
        columns=by_rate("learning rate"),
        cell=LOSS,
        title="Validation loss by learning rate",
        notes=(
            "Two seeds that no other run has. LISA trains one block at a time; LoRA has the ranks"
            f" {' and '.join(str(RANKS[model]) for model in STAGED)}, with which it needs no more"
            " memory.",
        ),
        ours=True,
    ),
    figure="figures:staged_rates",
    caption="Validation loss against the learning rate, at seeds that no other run has: each"
    " method's later runs have the rate of its least mean loss. Bars: standard error.",
    alt="Validation loss against learning rate, one line per model and method.",
)
