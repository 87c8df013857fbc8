"""Table 16: the best learning rate by model and method; gamma and K are set."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, SMOKE_AND_CPU, Cell, Layout, Line, Task, bind, claims, equal
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.experiment import BASELINES, LRS, runs, staged
from reproductions.lisa.models.layouts import HEADS
from reproductions.lisa.models.names import NAMES, QUALITY, STAGED, HowTuned
from reproductions.lisa.models.stand_ins import FIGURE_6

SHOWN: dict[str, tuple[HowTuned, ...]] = {
    QUALITY: ("lora", "galore", "lisa", "full", "cyclic"),
    **dict.fromkeys(STAGED, ("lora", "lisa", "full")),
}
LAYOUT = Layout(
    rows=tuple(
        Line(
            HEADS[method],
            group=FIGURE_6[model] if model in STAGED else NAMES["llama-2-7b"],
            where={"model": model, "method": method},
        )
        for model, methods in SHOWN.items()
        for method in methods
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
        "Only the learning rate was searched. Table 11 has other gammas.",
        f"{LRS[0]:g} and {LRS[-1]:g} are the ends of the grid: the best rate may lie beyond.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab16",
    reads=(runs, staged),
    table=table.ends(table.Shown(methods=(*BASELINES, "lisa"), rates="all")),
    layout=LAYOUT,
    claims=claims(
        "Table 16",
        (
            "rates_are_of_the_grid",
            CHECK.at(*SMOKE_AND_CPU),
            equal(partial(q.outside_grid, lrs=LRS), 0, "configurations").measuring(
                "configurations without one"
            ),
            "Every model and method has one rate of the common grid.",
        ),
    ),
    figure=bind("figures:rates", column="method"),
    caption="Held-out loss of LLaMA-2-7B against the learning rate. Every method has"
    f" the same five candidates, and gets the one that is best on another split. {q.SPREAD}",
    alt="Held-out loss against learning rate, one line per method.",
)
