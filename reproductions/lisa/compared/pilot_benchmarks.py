"""Pilots on SmolLM2: which benchmarks the untuned model does better on than guessing."""

from harness.declare import Cell, Layout, Line, Task
from reproductions.lisa.compared import table
from reproductions.lisa.compared.experiment import CANDIDATE_BENCHMARKS, pilots
from reproductions.lisa.compared.table import TITLES

task = Task(
    "lisa/pilot_benchmarks",
    own_kind="ablation",
    reads=(pilots,),
    table=table.PILOT_ACCURACIES,
    layout=Layout(
        rows=tuple(Line(TITLES[name], where={"benchmark": name}) for name in CANDIDATE_BENCHMARKS),
        columns=(
            Line("accuracy"),
            Line("guessing", cell=Cell("random_accuracy", unit="%", scale=0.01, digits=1)),
            Line("documents", cell=Cell("num_documents", digits=0)),
        ),
        cell=Cell("accuracy", unit="%", scale=0.01, digits=1, spread="stderr"),
        title="The untuned model",
        notes=(
            "Behind accuracies: standard error over documents. Runs are scored where the accuracy"
            " is two of them above guessing.",
        ),
        ours=True,
    ),
)
