"""The table of online adaptation: a row per weight model, model that reads, and seed."""

from __future__ import annotations

from functools import partial
from typing import Any

from harness.declare import Frame, Series, Table, Tables, columns_of, measured, param, value
from harness.declare.table import matching
from reproductions.fg2u.adaptation.experiment import (
    FIRST_DEPTH,
    SECOND_LR,
    Weighing,
    costs,
    first,
    second,
)
from reproductions.fg2u.adaptation.given_experiment import handed_in

EQUAL, RGU, OTHER_KL = "equal weights", "RGU", "RGU, other divergence"
LONGER, FG2U, EXACT = "RGU, as many steps", "(FG)2U", "RGU, deeper"
CANDIDATE, COUNTED = "candidate", "counted"
"""What was not chosen on the validation stream; rows of counted bytes."""
SWEPT = ("meta_base_model", "depth", "outer_lr")
"""What (FG)2U's four runs, and the four of RGU for as many steps, differ in."""

ENTRY = param(
    "entry",
    str,
    "What the row is: of four candidates the one of least mean validation loss has the method's"
    " name, the others are candidates.",
)
UNROLL = param("unroll", str, "Method and documents of its unroll at one outer step size, or none.")
SETTING = (
    param("dataset", str, "Where documents come from; facts stand for StreamingQA."),
    param("eval_model", str, "Model that reads the stream."),
    param("method", str, "How gradients were taken; `none` for equal weights."),
    param("meta_base_model", str, "Model whose adaptation was unrolled."),
    param("depth", int, "Documents in an unroll; 0 for equal weights."),
    param("b", int, "Random directions per gradient; 0 without."),
    param("accum", int, "Episodes per outer step; 0 for equal weights."),
    param("outer_steps", int, "Of this phase; 0 for equal weights."),
    param("outer_lr", float, "Step size of outer Adam; 0 for equal weights."),
    columns_of(Weighing, "phase", "divergence"),
    ENTRY,
    UNROLL,
    columns_of(Weighing, "seed"),
)
SCORES = (
    value("em", float, "Share of exact answers after reading.", nullable=True),
    value("f1", float, "Token F1 of the answers after reading.", nullable=True),
    value("em_before", float, "Share of exact answers before.", nullable=True),
    value("f1_before", float, "Token F1 of the answers before.", nullable=True),
    value("qa_loss_before", float, "Nats per token of the right answers before.", nullable=True),
    value("qa_loss_after", float, "Nats per token of the right answers after.", nullable=True),
    value("validation_loss", float, "The same on the validation stream.", nullable=True),
    value("stream_lr", float, "Step size of Adam, chosen there.", nullable=True),
    value("lr_at_edge", bool, "Whether that is an end of its candidates.", nullable=True),
    value("value_auc", float, "Share of pairs in which a token of an answer outweighs another"
          " one.", nullable=True),
    value("outer_loss", float, "Mean over the last quarter of outer steps.", nullable=True),
    value("peak_bytes", int, "Live tensors of one gradient, counted.", nullable=True),
    value("gradient_error", float, "Distance of (FG)2U along every coordinate from RGU, over the"
          " gradient's norm.", nullable=True),
    measured("seconds", float, "Of all outer steps.", nullable=True),
)  # fmt: skip


def adaptation_rows(tables: Tables, /, **kept: str) -> Frame:
    """Return all readings with what they are, and what was counted, if it was.

    kept: columns and the value that readings must have there.
    """
    import pandas as pd

    there = {name: rows for name, rows in tables.items() if len(rows)}
    parts = [there[one.id] for one in (first, second) if one.id in there]
    if handed_in.id in there:
        parts.append(_last_phase(there[handed_in.id]))
    if not parts:
        return pd.DataFrame(columns=ADAPTED.names)
    rows = pd.concat(parts, ignore_index=True)
    rows = rows.rename(
        columns={"stream": "dataset", "meta_base": "meta_base_model", "lr": "outer_lr",
                 "num_directions": "b", "accumulate": "accum", "steps": "outer_steps"}
    )  # fmt: skip
    equal = rows["weighing"] == "equal"
    # Equal weights know nothing of a divergence: the second run of them is the first again.
    rows = rows[~(equal & (rows["divergence"] == "initial_updated"))]
    equal = rows["weighing"] == "equal"
    nothing = ["depth", "b", "accum", "outer_steps", "outer_lr"]
    rows.loc[equal, nothing] = 0
    rows.loc[equal, "method"] = "none"
    rows = rows.assign(entry=_entries(rows), unroll=_unrolls(rows))
    rows = matching(rows, kept)
    if costs.id in there:
        # What no seed is for stands with the first.
        counted = _counted(tables[costs.id]).assign(seed=rows["seed"].min())
        rows = pd.concat([rows, counted], ignore_index=True)
    return rows.reindex(columns=ADAPTED.names).reset_index(drop=True)


def _last_phase(rows: Frame) -> Frame:
    """Return models handed in, with the numbers of their second phase where they have one."""
    later = rows["phase"] == 2
    return rows.assign(
        steps=rows["steps"].mask(later, rows["second_steps"]),
        lr=rows["lr"].mask(later, rows["second_lr"]),
    )


def _entries(rows: Frame) -> Series:
    """Return what each row is."""
    entry = rows["method"].map({"none": EQUAL, "rgu": RGU, "fg2u": CANDIDATE})
    later = rows["phase"] == 2
    entry = entry.mask(rows["divergence"] == "initial_updated", OTHER_KL)
    entry = entry.mask(later & (rows["method"] == "rgu"), CANDIDATE)
    deeper = later & (rows["method"] == "rgu") & (rows["depth"] != FIRST_DEPTH)
    entry = entry.mask(deeper, EXACT)
    for method, name in (("fg2u", FG2U), ("rgu", LONGER)):
        own = rows[later & (rows["method"] == method) & ~deeper]
        for _, cell in own.groupby(["dataset", "eval_model"]):
            means = cell.groupby(list(SWEPT))["validation_loss"].mean()
            best: Any = means.idxmin()
            chosen = (cell[list(SWEPT)] == list(best)).all(axis=1)
            entry = entry.mask(entry.index.isin(cell.index[chosen]), name)
    return entry


def _unrolls(rows: Frame) -> Series:
    """Return method and depth of second phases at one step size, on the small base."""
    one = (rows["phase"] == 2) & (rows["outer_lr"] == SECOND_LR)
    one &= rows["meta_base_model"] == "small"
    names = rows["method"] + " " + rows["depth"].astype(int).astype(str)
    return names.where(one, "none")


def _counted(rows: Frame) -> Frame:
    return rows.assign(
        dataset="streamingqa", eval_model="none", meta_base_model="none", entry=COUNTED, b=0,
        accum=1, outer_steps=0, outer_lr=0.0, phase=1, divergence="updated_initial", unroll="none",
    )  # fmt: skip


ADAPTED = Table.of(*SETTING, SCORES, make=adaptation_rows)


def adapted(**kept: str) -> Table:
    """Return the table of some readings alone: `adapted(dataset="squadseq")`."""
    return Table(ADAPTED.columns, partial(adaptation_rows, **kept))
