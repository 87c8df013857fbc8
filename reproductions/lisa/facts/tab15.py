"""Table 15: sizes of the data sets, ours beside the paper's."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Cell,
    Criterion,
    Layout,
    Line,
    MissingRows,
    Table,
    Task,
    claims,
    columns_of,
    equal,
    pick,
    value,
)
from reproductions.lisa.facts.experiment import COUNTED, Count, datasets

if TYPE_CHECKING:
    import pandas as pd

PRINTED = replace(CHECK, threshold_from="paper").at(
    *CPU, elsewhere="this profile reads no data of the paper"
)


def size_of(table: pd.DataFrame, *, dataset: str, counted: str) -> float:
    """Return our number for a data set. Raises MissingRows where it is not at hand."""
    rows = pick(table, dataset=dataset, counted=counted)
    if rows["num_counted"].isna().all():
        raise MissingRows(f"{dataset} ({counted}) is not at hand")
    return float(rows["num_counted"].iloc[0])


def catalogue_error(table: pd.DataFrame) -> float:
    """Return the largest difference of records counted from the catalogue's number."""
    return float((table["num_records"] - table["catalogue_records"]).abs().max())


def printed_size(reference: pd.DataFrame, *, dataset: str, counted: str) -> float | None:
    """Return the paper's number, or None where it is not among the reference rows."""
    rows = reference[(reference["series"] == dataset) & (reference["y_name"] == counted)]
    return float(rows["value"].iloc[0]) if len(rows) else None


def printed(dataset: str, counted: str, size: int) -> Criterion:
    """Ask that a staged data set has the size that the paper prints."""
    ours = partial(size_of, dataset=dataset, counted=counted)
    theirs = partial(printed_size, dataset=dataset, counted=counted)
    return equal(ours, size, counted, paper_value=theirs)


LAYOUT = Layout(
    rows=tuple(
        Line(
            f"{counted}, here {source}" if source else counted,
            group=dataset,
            where={"dataset": dataset, "counted": counted},
            paper={"series": dataset, "y_name": counted},
        )
        for dataset, counted, source, _, _ in COUNTED
    ),
    columns=(
        Line("number", paper={"x": ""}),
        Line("records of ours", cell=Cell("num_records", digits=0), shows="ours"),
    ),
    cell=Cell("num_counted", digits=0),
    notes=(
        "The last column counts all records of our data set, and is not the paper's.",
        "A data set without a name of ours is not at hand.",
    ),
    ours=True,
)
task = Task(
    "lisa/tab15",
    reads=(datasets,),
    table=Table.of(
        columns_of(Count, "dataset", "counted"),
        value("source", str, "Our data set in the catalogue."),
        value("kept", str, "Which of its records count."),
        value("field", str, "Field whose values are counted."),
        value(
            "num_counted", int, "Our number; empty where the data set is not at hand.",
            nullable=True,
        ),
        value("num_records", int, "Records of our whole data set, counted.", nullable=True),
        value("catalogue_records", int, "Records that our catalogue says it has.", nullable=True),
    ),
    layout=LAYOUT,
    claims=claims(
        "our catalogue",
        (
            "catalogue_is_right",
            CHECK.at(*SMOKE_AND_CPU),
            equal(catalogue_error, 0, "records"),
            "Every data set has as many records as the catalogue says (largest difference).",
        ),
    )
    + claims(
        "Table 15 and the text on data sets",
        ("gsm8k_train", PRINTED, printed("GSM8K", "train", 7473),
         "GSM8K has 7,473 training problems."),
        ("gsm8k_test", PRINTED, printed("GSM8K", "test", 1319),
         "GSM8K has 1,319 test problems."),
        ("mmlu_tasks", PRINTED, printed("MMLU", "tasks", 57), "MMLU has 57 tasks."),
        ("mt_bench", PRINTED, printed("MT-Bench", "questions", 80),
         "MT-Bench has 80 questions."),
        ("pubmedqa", PRINTED, printed("PubMedQA", "test", 1000),
         "PubMedQA has 1,000 questions labelled by experts."),
    ),
    figure="figures:size_dots",
    caption="Number of records of each data set: filled ours, as staged, hollow the paper's. Where"
    " ours is smaller a part is staged (AGIEval: the English tasks; WinoGrande: the validation"
    " split), where it is missing none; in place of Alpaca-GPT4 stands a cleaned Alpaca. No seed"
    " changes it.",
    alt="One line per data set on a logarithmic axis with a filled dot for our number of records"
    " and a hollow one for the paper's; for GSM8K, MT-Bench and the tasks of MMLU the two"
    " coincide.",
)  # fmt: skip
