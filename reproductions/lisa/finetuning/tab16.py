"""Table 16: the best learning rate by model and method; gamma and K are set."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, SMOKE_AND_CPU, Cell, Layout, Line, Task, bind, claims, equal
from reproductions.lisa.finetuning import quantities as q
from reproductions.lisa.finetuning import table
from reproductions.lisa.finetuning.claims import SPREAD
from reproductions.lisa.finetuning.experiment import BASELINES, LRS, runs, staged
from reproductions.lisa.models.layouts import HEADS, MODELS
from reproductions.lisa.models.names import QUALITY, STAGED, HowTuned
from reproductions.lisa.models.stand_ins import net

SHOWN: dict[str, tuple[HowTuned, ...]] = {
    QUALITY: ("lora", "galore", "lisa", "full", "cyclic"),
    **dict.fromkeys(STAGED, ("lora", "lisa", "full")),
}
LAYOUT = Layout(
    rows=tuple(
        Line(
            HEADS[method],
            group=MODELS.get(model, f"here: {net(model)}"),
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
        "The models are ours, and BAdam's row is not the paper's; gamma is 0 but for LISA.",
        "Only the learning rate was searched: gamma and K were set. Table 11 has other gammas.",
        f"A rate of {LRS[0]:g} or {LRS[-1]:g} is an end of the grid, beyond which the best one may"
        " lie.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab16",
    reads=(runs, staged),
    table=table.ends(methods=(*BASELINES, "lisa")),
    layout=LAYOUT,
    claims=claims(
        "Table 16",
        (
            "rates_are_of_the_grid",
            CHECK.at(*SMOKE_AND_CPU),
            equal(partial(q.outside_grid, lrs=LRS), 0, "configurations"),
            "One rate of the common grid is chosen for each model and method; those that break this"
            " are counted.",
        ),
    ),
    figure=bind("figures:rates", column="method"),
    caption="Held-out loss of the in-house model against the learning rate: every method has the"
    f" same five candidates, and is given the one with the least loss on another split. {SPREAD}",
    alt="Held-out loss against learning rate, one line per method.",
)
