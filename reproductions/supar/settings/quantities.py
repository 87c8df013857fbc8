"""What tab03 and tab04 share: the columns of a settings table, its view, its exact claims."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import flat_claim
from harness.declare.profiles import PROFILES
from harness.declare.statistics import MissingRows
from harness.declare.table import Column, Table
from harness.errors import SpecError
from reproductions.supar.models.claims import NAMES
from reproductions.supar.models.printed import (
    ALL,
    LR_DECAYS,
    Printed,
    half_unit,
    num_digits,
    printed,
    stated,
)

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables

CONFIGURATION = "supar/configuration"

COLUMNS = Table(
    (
        Column(
            name="item",
            type="str",
            role="param",
            doc="Table 3, or a row of Table 4 by the figures it is for.",
        ),
        Column(name="setting", type="str", role="param", doc="Named as in the reference rows."),
        Column(name="scheme", type="str", role="param", doc="sp, mup, supar, or all of them."),
        Column(name="density", type="str", role="param", doc="Of a rung of a ladder, or all."),
        Column(name="value", type="float", role="value", doc="What our `paper` grids use."),
    )
)

FEWEST_DIGITS = {"tokens": 1, "flop_ratio": 1, "init_std": 2, "alpha_output": 2}
"""Settings that the paper prints with fewer digits than ours have, and from how many printed
digits on: a standard deviation of 0.02 and a multiplier of 1 are chosen, not rounded."""
FLOAT_NOISE = 1e-12
"""Of a learning rate that is a product; far below any printed digit."""

IN_WORDS = {
    "d_model": "width",
    "n_layers": "number of layers",
    "d_head": "head size",
    "batch_sequences": "batch size in sequences",
    "lr": "peak learning rate",
    "init_std": "initial standard deviation",
    "alpha_input": "input multiplier",
    "alpha_output": "output multiplier",
    "lr_decay": "final learning rate over the peak",
    "warmup_steps": "number of warm-up steps",
    "steps": "number of steps",
    "tokens": "number of tokens",
    "flop_ratio": "ratio of training operations, the sparsest net over the dense one",
    "sigma_W_base": "base standard deviation",
    "eta_base": "base learning rate",
    "d_model_base": "base width",
    "sequence_length": "sequence length",
}


def settings_table(frames: Tables, *, word: str) -> pd.DataFrame:
    """Return the settings of Table 3 (`tab03`), or of every row of Table 4 (`tab04`)."""
    names = {"of_scheme": "scheme", "of_density": "density"}
    frame = frames[CONFIGURATION].rename(columns=names)
    return frame[(frame["item"] == "tab03") == (word == "tab03")]


def setting_claims(word: str, *, not_claimed: Mapping[str, str]) -> Iterator[Claim]:
    """Yield the exact claim of every printed value of a table: our grid sets it so.

    not_claimed: names of settings, or printed words, and why nothing is claimed of them.
    """
    for cell in printed(word):
        if cell.y_name not in not_claimed and cell.text not in not_claimed:
            yield _setting_claim(word, cell)


def _setting_claim(word: str, cell: Printed) -> Claim:
    item, _, scheme = cell.series.partition(" ")
    item, name, value = item or word, cell.y_name, cell.number
    if value is None:
        raise SpecError(
            f"{item}, {name}: {cell.text!r} is no number: say what it stands for in LR_DECAYS, or"
            " in not_claimed why it is not claimed"
        )
    scheme, density = scheme or ALL, cell.x or ALL
    places = [place for place in (scheme, density) if place != ALL]
    return flat_claim(
        id="_".join([item, name.lower(), *places]),
        statement=_statement(item, cell, scheme, density),
        where=cell.where,
        form="equal",
        grade="exact",
        quantity=partial(
            farthest_setting,
            item=item,
            name=name,
            scheme=scheme,
            density=density,
            published=value,
        ),
        threshold=value,
        threshold_from="paper",
        profiles=PROFILES,
        tolerance=tolerance_of(name, cell.text),
        deterministic=True,
        paper_value=partial(
            stated, y_name=name, series=cell.series, x=float(cell.x) if cell.x else None
        ),
    )


def _statement(item: str, cell: Printed, scheme: str, density: str) -> str:
    of_scheme = "" if scheme == ALL else f" of {NAMES[scheme]}"
    at_density = "" if density == ALL else f" at density {density}"
    value = f"{cell.number:g} ({cell.text})" if cell.text in LR_DECAYS else cell.text
    return (
        f"Our `paper` grids for {_title(item)} have the published {IN_WORDS[cell.y_name]}"
        f"{of_scheme}{at_density}: {value}."
    )


def _title(item: str) -> str:
    """Return what an item is called in a sentence.

    >>> _title("tab03"), _title("fig05"), _title("fig01_06_08_14")
    ('Table 3', 'Figure 5', 'Figures 1, 6, 8 and 14')
    """
    *first, last = [str(int(number)) for number in item[3:].split("_")]
    kind = "Table" if item.startswith("tab") else "Figure"
    return f"{kind}s {', '.join(first)} and {last}" if first else f"{kind} {last}"


def tolerance_of(name: str, text: str) -> float:
    """Return how far our setting may lie from the printed one.

    Half a unit of the last printed digit where ours has more digits, else nothing.

    >>> tolerance_of("init_std", "0.087"), tolerance_of("tokens", "306e6")
    (0.0005, 500000.0)
    >>> tolerance_of("steps", "1169") == tolerance_of("init_std", "0.02") == FLOAT_NOISE
    True
    """
    rounded = name in FEWEST_DIGITS and num_digits(text) >= FEWEST_DIGITS[name]
    return half_unit(text) if rounded else FLOAT_NOISE


def farthest_setting(
    table: pd.DataFrame, *, item: str, name: str, scheme: str, density: str, published: float
) -> float:
    """Return the value of a setting that lies farthest from the published one; whole table.

    Every scheme and density counts for which the paper prints this value, so one that drifts
    alone is seen. Raises MissingRows without the item, SpecError where our grid leaves it open.
    """
    rows = table[table["item"] == item]
    if rows.empty:
        raise MissingRows(f"the table has no settings of {item}")
    rows = rows[rows["setting"] == name]
    for column, wanted in (("scheme", scheme), ("density", density)):
        if wanted != ALL:
            rows = rows[rows[column].isin((wanted, ALL))]
    if rows.empty:
        raise SpecError(f"{item}, {scheme}, density {density}: our grid has no one {name}")
    return max((float(value) for value in rows["value"]), key=lambda ours: abs(ours - published))
