"""Table 5: GSM8K and PubMedQA of the largest model, by method. Its MT-Bench column is Table 9's."""

from functools import partial

from harness.declare import Line, Task, at_least, claims
from reproductions.lisa.lm_benchmarks.experiment import given_70b, tuned, untuned
from reproductions.lisa.lm_benchmarks.quantities import leads
from reproductions.lisa.lm_benchmarks.table import OF_OURS, SCORER_AGREES, layout_of, table_of
from reproductions.lisa.models.claims import BENCHMARKED
from reproductions.lisa.models.names import LARGEST

NAMES = {"gsm8k": "GSM8K", "pubmedqa": "PubMedQA"}
COLUMNS = (
    Line("MT-Bench", where={"task": "mt_bench"}),
    Line("GSM8K", where={"task": "gsm8k", "metric": "exact_match strict-match"}),
    Line("PubMedQA", where={"task": "pubmedqa"}),
    Line("GSM8K, last number", where={"task": "gsm8k", "metric": "exact_match flexible-extract"}),
)
task = Task(
    "lisa/tab05",
    reads=(untuned, tuned, given_70b),
    table=table_of("gsm8k", "pubmedqa"),
    layout=layout_of(
        LARGEST,
        columns=COLUMNS,
        notes=(
            OF_OURS,
            "Ratings of MT-Bench are in Table 9.",
            "GSM8K's result is the number after its mark. The last column is not the paper's.",
        ),
    ),
    claims=claims(
        "Table 5 and section 4.3",
        SCORER_AGREES,
        (
            "lisa_at_least_lora",
            BENCHMARKED,
            at_least(partial(leads, one="lisa", other="lora", tasks=tuple(NAMES)), 0, "accuracy")
            .naming(*NAMES.values())
            .measuring("LISA's accuracy less LoRA's"),
            "On LLaMA-2-70B LISA solves at least as much of GSM8K and PubMedQA as LoRA.",
        ),
    ),
    figure="figures:accuracy_panels",
    caption="Accuracy by lm-eval, without examples in the prompt. GSM8K's result is the number"
    " after its mark (strict) or the last one (flexible). Bars: standard error over documents, mean"
    " over seeds of the fine-tuning. Dotted: guessing. The paper's values are not at hand; MT-Bench"
    " is in Table 9.",
    alt="Three panels: GSM8K by two filters and PubMedQA, with the accuracy of the untuned model"
    " and of four ways to fine-tune it, and a dotted line at the level of guessing.",
)
