"""Table 15: sizes of the data sets, ours beside the paper's."""

from __future__ import annotations

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Cell,
    Frame,
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

PRINTED = {
    ("GSM8K", "train"): 7473,
    ("GSM8K", "test"): 1319,
    ("MMLU", "tasks"): 57,
    ("MT-Bench", "questions"): 80,
    ("PubMedQA", "test"): 1000,
}
"""Numbers of the paper for what is here as a whole."""


def size_of(table: Frame, *, dataset: str, counted: str) -> float:
    """Return our number for a data set. Raises MissingRows where it is not at hand."""
    rows = pick(table, dataset=dataset, counted=counted)
    if rows["num_counted"].isna().all():
        raise MissingRows(f"{dataset} ({counted}) is not at hand")
    return float(rows["num_counted"].iloc[0])


def catalogue_error(table: Frame) -> float:
    """Return the largest difference of records counted from the catalogue's number."""
    return float((table["num_records"] - table["catalogue_records"]).abs().max())


def size_error(table: Frame) -> float:
    """Return the largest difference of our numbers from those of the paper's that are whole."""
    return max(
        abs(size_of(table, dataset=dataset, counted=counted) - size)
        for (dataset, counted), size in PRINTED.items()
    )


LAYOUT = Layout(
    rows=tuple(
        Line(
            f"{counted} ({source})" if source else counted,
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
        "In brackets: the name of our data set. The last column, which is not the paper's, counts"
        " all its records.",
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
            equal(catalogue_error, 0, "records").measuring("largest difference"),
            "Every data set has as many records as the catalogue says.",
        ),
    )
    + claims(
        "Table 15 and the text on data sets",
        (
            "sizes_as_printed",
            CHECK.at(*CPU, elsewhere="this profile reads no data of the paper"),
            equal(size_error, 0, "records").measuring("largest difference"),
            "GSM8K, MMLU's tasks, MT-Bench and PubMedQA have the sizes that the paper prints.",
        ),
    ),
    figure="figures:size_dots",
    caption="Number of records of each data set: filled ours, hollow the paper's. Of AGIEval we"
    " have the English tasks, of WinoGrande the validation split, and for Alpaca-GPT4 a cleaned"
    " Alpaca. No seed changes it.",
    alt="One line per data set on a logarithmic axis with a filled dot for our number of records"
    " and a hollow one for the paper's; for GSM8K, MT-Bench and the tasks of MMLU the two"
    " coincide.",
)  # fmt: skip
