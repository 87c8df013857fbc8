"""Table 2: MMLU, AGIEval and WinoGrande before and after fine-tuning, by method."""

from harness.declare import Line, Task, at_least, claims
from reproductions.lisa.lm_benchmarks import quantities as q
from reproductions.lisa.lm_benchmarks.experiment import given, tuned, untuned
from reproductions.lisa.lm_benchmarks.table import OF_OURS, SCORER_AGREES, layout_of, table_of
from reproductions.lisa.models.claims import BENCHMARKED
from reproductions.lisa.models.names import THREE

NAMES = {"mmlu": "MMLU", "agieval": "AGIEval", "winogrande": "WinoGrande"}
task = Task(
    "lisa/tab02",
    reads=(untuned, tuned, given),
    table=table_of(*NAMES),
    layout=layout_of(
        *THREE,
        columns=tuple(Line(name, where={"task": task}) for task, name in NAMES.items()),
        notes=(OF_OURS,),
    ),
    claims=claims(
        "Table 2 and section 4.2",
        SCORER_AGREES,
        (
            "lisa_best_in_most",
            BENCHMARKED,
            at_least(q.leads_but_error, 0, "accuracy")
            .in_at_least(5)
            .measuring("lead over the best method, plus its standard error"),
            "LISA is the best way to fine-tune in most pairs of model and benchmark.",
        ),
    ),
    figure="figures:accuracy_panels",
    caption="Accuracy by lm-eval, without examples in the prompt. Bars: standard error over"
    " documents, mean over seeds of the fine-tuning. Dotted: guessing. The paper's values are not"
    " at hand.",
    alt="Three panels, one per benchmark, with the accuracy of the untuned model and of four ways"
    " to fine-tune it, and a dotted line at the level of guessing.",
)
