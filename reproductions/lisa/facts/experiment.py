"""What the models hold, counted on the meta device; how many records the data sets have."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc
from reproductions.lisa.memory.experiment import MODELS
from reproductions.lisa.models.names import QUALITY

ALL = "all"
COUNTED = (
    ("Alpaca-GPT4", "train", "alpaca_cleaned", ALL, ""),
    ("MT-Bench", "questions", "mt_bench_questions", ALL, ""),
    ("MMLU", "questions", "mmlu", "split=test", ""),
    ("MMLU", "tasks", "mmlu", ALL, "subject"),
    ("AGIEval", "instances", "agieval_en", ALL, ""),
    ("WinoGrande", "instances", "winogrande_val", ALL, ""),
    ("GSM8K", "train", "gsm8k_train", ALL, ""),
    ("GSM8K", "test", "gsm8k_test", ALL, ""),
    ("PubMedQA", "test", "pubmedqa_pqal", ALL, ""),
    # Nobody has staged these.
    ("PubMedQA", "train (artificial)", "", ALL, ""),
    ("OpenWebMath subset", "tokens", "", ALL, ""),
)
"""The fields of a `Count`, for every number of the paper's table."""
BUNDLED = ("digits (bundled)", "images", "digits", ALL, "")
"""What the paper does not have."""


class Model(Params):
    """A model to count."""

    model: str = doc("The paper's models, and two of ours.")


class Count(Params):
    """A number of the paper's table of data sets, and how ours is counted."""

    dataset: str = doc("Data set, as the paper names it.")
    counted: str = doc("What is counted there.")
    source: str = doc("Our data set in the catalogue; empty where there is none.")
    kept: str = doc("Which of its records count: all, or `name=value` of a field.")
    field: str = doc("Field whose distinct values are counted; empty: the records themselves.")


def model_grid(profile: Profile) -> Iterator[Model]:
    """Yield the paper's models, and ours of memory and of quality that stand for them."""
    if profile in ("smoke", "cpu"):
        for name in (*MODELS, "tiny-deep", QUALITY):
            yield Model(model=name)


def dataset_grid(profile: Profile) -> Iterator[Count]:
    """Yield every number of the paper's table; at `smoke` what is bundled."""
    rows = {"smoke": (BUNDLED,), "cpu": COUNTED}.get(profile, ())
    for dataset, counted, source, kept, field in rows:
        yield Count(dataset=dataset, counted=counted, source=source, kept=kept, field=field)


models = Experiment(
    "lisa/models",
    version=1,
    params=Model,
    grid=model_grid,
    run="trial:model_row",
    seed_from=(),
    needs=Needs(memory_bytes=2**30, packages=("transformers",)),
    estimate=lambda model: Estimate(seconds=1.0, memory_bytes=2**30),
    address=("model",),
)
datasets = Experiment(
    "lisa/datasets",
    version=1,
    params=Count,
    grid=dataset_grid,
    run="trial:dataset_row",
    seed_from=(),
    needs=lambda count: Needs(data=tuple(filter(None, [count.source])), memory_bytes=2**28),
    estimate=lambda count: Estimate(seconds=0.1, memory_bytes=2**28),
    address=("dataset", "counted"),
)
