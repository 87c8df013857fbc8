"""Table 15: sizes of the data sets, ours beside the paper's."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim, old_task
from harness.declare.statistics import MissingRows
from harness.declare.table import Column, Table
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.continual.claims import CPU
from reproductions.lisa.facts.dataset_experiment import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Table 15 and the text on data sets"


def _count(name: str, doc: str) -> Column:
    return Column(name=name, type="int", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(name="dataset", type="str", role="param", doc="As the paper names it."),
        Column(name="counted", type="str", role="param", doc="What is counted there."),
        Column(name="source", type="str", role="value", doc="Our data set in the catalogue."),
        Column(name="kept", type="str", role="value", doc="Which of its records count."),
        Column(name="field", type="str", role="value", doc="Field whose values are counted."),
        _count("num_counted", "Our number; empty where the data set is not at hand."),
        _count("num_records", "Records of our whole data set, counted."),
        _count("catalogue_records", "Records that our catalogue says it has."),
    )
)


def size_of(table: pd.DataFrame, *, dataset: str, counted: str) -> float:
    """Return our number for a data set. Raises MissingRows where it is not at hand."""
    rows = table[(table["dataset"] == dataset) & (table["counted"] == counted)]
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


def as_printed(id: str, statement: str, dataset: str, counted: str, size: int) -> Claim:
    """Return the exact claim that a staged data set has the size that the paper prints."""
    return flat_claim(
        id=id,
        statement=statement,
        where=WHERE,
        form="equal",
        grade="exact",
        quantity=partial(size_of, dataset=dataset, counted=counted),
        threshold=float(size),
        threshold_from="paper",
        profiles=CPU,
        out_of_profile="this profile reads no data of the paper",
        deterministic=True,
        unit=counted,
        paper_value=partial(printed_size, dataset=dataset, counted=counted),
    )


CLAIMS = (
    exact(
        "catalogue_is_right",
        "Every data set has as many records as the catalogue says (largest difference).",
        where="our catalogue",
        form="equal",
        quantity=catalogue_error,
        bound=0.0,
        unit="records",
        profiles=ON_A_CPU,
    ),
    as_printed("gsm8k_train", "GSM8K has 7,473 training problems.", "GSM8K", "train", 7473),
    as_printed("gsm8k_test", "GSM8K has 1,319 test problems.", "GSM8K", "test", 1319),
    as_printed("mmlu_tasks", "MMLU has 57 tasks.", "MMLU", "tasks", 57),
    as_printed("mt_bench", "MT-Bench has 80 questions.", "MT-Bench", "questions", 80),
    as_printed(
        "pubmedqa", "PubMedQA has 1,000 questions labelled by experts.", "PubMedQA", "test", 1000
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw our number and the paper's, one line a data set."""
    from reproductions.lisa.facts.figures import size_dots

    return size_dots(context)


task = old_task(
    id="lisa/tab15",
    title="Sizes of the data sets",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Number of records of each data set: filled ours, as staged, hollow the paper's. Where"
    " ours is smaller a part is staged (AGIEval: the English tasks; WinoGrande: the validation"
    " split), where it is missing none; in place of Alpaca-GPT4 stands a cleaned Alpaca. No seed"
    " changes it.",
    alt="One line a data set on a logarithmic axis with a filled dot for our number of records and"
    " a hollow one for the paper's; for GSM8K, MT-Bench and the tasks of MMLU the two coincide.",
)
