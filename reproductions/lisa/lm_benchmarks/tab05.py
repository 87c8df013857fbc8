"""Table 5: GSM8K and PubMedQA of the largest model, by method. Its MT-Bench column is Table 9's."""

from __future__ import annotations

from functools import partial

from harness.declare import Line, Task, at_least, claims
from reproductions.lisa.lm_benchmarks.claims import ON_THE_PAPERS_MODELS, SCORER_AGREES
from reproductions.lisa.lm_benchmarks.experiment import accuracy
from reproductions.lisa.lm_benchmarks.quantities import leads
from reproductions.lisa.lm_benchmarks.table import OF_OURS, layout_of, table_of
from reproductions.lisa.models.names import LARGEST, TITLES

WHERE = "Table 5 and section 4.3"
NAMES = {"gsm8k": "GSM8K (strict match)", "pubmedqa": "PubMedQA"}
LISA_AT_LEAST_LORA = (
    (
        f"lisa_at_least_lora_{task}",
        ON_THE_PAPERS_MODELS,
        at_least(partial(leads, one="lisa", other="lora", task=task), 0, "accuracy"),
        f"On {name} LISA's accuracy with {TITLES[LARGEST]} is at least LoRA's.",
    )
    for task, name in NAMES.items()
)
COLUMNS = (
    Line("MT-Bench", where={"task": "mt_bench"}),
    Line("GSM8K", where={"task": "gsm8k", "metric": "exact_match strict-match"}),
    Line("PubMedQA", where={"task": "pubmedqa"}),
    Line("GSM8K, last number", where={"task": "gsm8k", "metric": "exact_match flexible-extract"}),
)
task = Task(
    "lisa/tab05",
    reads=accuracy.with_largest,
    table=table_of("gsm8k", "pubmedqa"),
    layout=layout_of(
        LARGEST,
        columns=COLUMNS,
        notes=(
            OF_OURS,
            "Ratings of MT-Bench are in Table 9.",
            "GSM8K's result is the number after its mark; the last column is not the paper's.",
        ),
    ),
    claims=claims(WHERE, SCORER_AGREES, *LISA_AT_LEAST_LORA)
    + claims(
        f"{WHERE}; the direction is a remark by others, not seen in the paper",
        (
            "full_at_least_lisa_gsm8k",
            ON_THE_PAPERS_MODELS,
            at_least(partial(leads, one="full", other="lisa", task="gsm8k"), 0, "accuracy"),
            f"On GSM8K (strict match) full training's accuracy with {TITLES[LARGEST]} is at least"
            " LISA's.",
        ),
    ),
    figure="figures:accuracy_panels",
    caption="Accuracy by lm-eval, without examples in the prompt; GSM8K's number is taken after its"
    " mark (strict) or is the last one (flexible). Bars: standard error over documents, mean over"
    " seeds of the fine-tuning (of ours one). Dotted: guessing. The in-house model stands where the"
    " paper has LLaMA-2-70B, whose values are not at hand; MT-Bench is in Table 9.",
    alt="Three panels: GSM8K by two filters and PubMedQA, with the accuracy of the untuned model"
    " and of four ways to fine-tune it, and a dotted line at the level of guessing.",
)
