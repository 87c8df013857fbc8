"""How many records the data sets have, as far as they are at hand."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext

ALL = "all"
COUNTED: tuple[tuple[str, str, str, str, str], ...] = (
    ("Alpaca-GPT4", "train", "alpaca_cleaned", ALL, ""),
    ("MT-Bench", "questions", "mt_bench_questions", ALL, ""),
    ("MMLU", "questions", "mmlu", "split=test", ""),
    ("MMLU", "tasks", "mmlu", ALL, "subject"),
    ("AGIEval", "instances", "agieval_en", ALL, ""),
    ("WinoGrande", "instances", "winogrande_val", ALL, ""),
    ("GSM8K", "train", "gsm8k_train", ALL, ""),
    ("GSM8K", "test", "gsm8k_test", ALL, ""),
    ("PubMedQA", "test", "pubmedqa_pqal", ALL, ""),
)
"""The paper's data set and what it counts there -> our data set, which records, and the field whose
distinct values are counted (records where it is empty)."""
ABSENT = (("PubMedQA", "train (artificial)"), ("OpenWebMath subset", "tokens"))
"""What the paper counts and nobody has staged."""


def run(params: RawParams, ctx: RunContext) -> list[Row]:
    """Count a data set; one row, without numbers where there is none."""
    from reproductions.lisa.facts.dataset_trial import size_row

    return [size_row(params, ctx)]


def needs(params: RawParams) -> Needs:
    """Return the data set, where there is one."""
    source = str(params["source"])
    return Needs(data=(source,) if source else (), memory_bytes=2**28)


def point(dataset: str, counted: str, source: str, kept: str, field: str) -> RawParams:
    """Return the parameters of one count."""
    return {
        "dataset": dataset, "counted": counted, "source": source, "kept": kept, "field": field,
    }  # fmt: skip


def smoke_grid() -> Iterator[RawParams]:
    """Yield what is bundled, which the paper does not have."""
    yield point("digits (bundled)", "images", "digits", ALL, "")


def cpu_grid() -> Iterator[RawParams]:
    """Yield every number of the paper's table."""
    for counted in COUNTED:
        yield point(*counted)
    for dataset, what in ABSENT:
        yield point(dataset, what, "", ALL, "")


def estimate(params: RawParams) -> Estimate:
    """Return the time to read one file."""
    return Estimate(seconds=2.0, memory_bytes=2**28)


experiment = Experiment(
    id="lisa/datasets",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid},
    seed_from=(),
    needs=needs,
    estimate=estimate,
    address=("dataset", "counted"),
)
