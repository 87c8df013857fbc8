"""Table 1: test accuracy of SGD and SWA with the same budget."""

from __future__ import annotations

from functools import partial

from harness.declare import Cell, Layout, Line, Task, at_least, by_theory, claims, more_than
from swa.digits.experiment import trainings
from swa.digits.table import TABLE, gain, gain_over_its_nets, reached

LEARNED = by_theory().controlled(
    "SGD learns the digits.", at_least(partial(reached, method="sgd"), 0.9, "1")
)
task = Task(
    "swa/tab01",
    reads=(trainings,),
    table=TABLE,
    claims=claims(
        "Table 1 and section 3",
        (
            "swa_gains",
            LEARNED,
            more_than(gain, 0, "1"),
            "SWA is more accurate than SGD with the same budget.",
        ),
        (
            "average_beats_its_nets",
            LEARNED,
            more_than(gain_over_its_nets, 0, "1"),
            "The average is more accurate than the nets that it averages.",
        ),
    ),
    layout=Layout(
        rows=(Line("VGG-16 on CIFAR-100", where={"epoch": 40}, paper={"y_name": "accuracy"}),),
        columns=(
            Line("SGD", where={"method": "sgd"}, paper={"series": "sgd"}),
            Line("SWA", where={"method": "swa"}, paper={"series": "swa"}),
        ),
        cell=Cell("accuracy", unit="%", scale=0.01),
    ),
)
