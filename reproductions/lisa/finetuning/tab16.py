"""Table 16: the best learning rate by model and method; gamma and K are set."""

from harness.declare import Cell, Layout, Line, Task, claims
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import (
    LRS,
    PILOTED,
    RATES,
    STAGED_RATES,
    pilots,
    staged_pilots,
)
from reproductions.lisa.models.layouts import HEADS
from reproductions.lisa.models.names import NAMES, QUALITY, STAGED
from reproductions.lisa.models.rates import asked_of_rates
from reproductions.lisa.models.stand_ins import FIGURE_6

SHOWN = {
    QUALITY: ("lora", "galore", "usual", "full", "cyclic"),
    **dict.fromkeys(STAGED, ("lora", "usual", "full")),
}
LAYOUT = Layout(
    rows=tuple(
        Line(
            HEADS["lisa" if name == "usual" else name],
            group=FIGURE_6[model] if model in STAGED else NAMES["llama-2-7b"],
            where={"model": model, "setting": name},
        )
        for model, names in SHOWN.items()
        for name in names
    ),
    columns=(
        Line("learning rate", group="searched"),
        Line("gamma", group="set, not searched", cell=Cell("gamma", digits=0)),
        Line("K", group="set, not searched", cell=Cell("period", digits=0)),
    ),
    cell=Cell("lr", digits=4),
    where={"chosen": True},
    notes=(
        "BAdam's row is not the paper's. Only LISA has a gamma.",
        "Only the learning rate was searched, in pilots. Table 11 has other gammas.",
        f"The rates that every method tried go from {LRS[0]:g} to {LRS[-1]:g}.",
    ),
    ours=True,
)
DECLARED = {**{(QUALITY, name): RATES[name] for name in PILOTED}, **STAGED_RATES}
task = Task(
    "lisa/tab16",
    reads=(pilots, staged_pilots),
    table=table.PILOTS,
    layout=LAYOUT,
    claims=claims("Table 16", asked_of_rates(DECLARED, ["model", "setting"])),
    figure="figures:method_rates",
    caption="Validation loss of LLaMA-2-7B against the learning rate. Every method has the same"
    f" candidates. {q.SPREAD}",
    alt="Validation loss against learning rate, one line per method.",
)
