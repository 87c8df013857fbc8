"""Claims on valley curves by kinds, draws and nets; and tables among other nets' rows."""

from __future__ import annotations

import pandas as pd
import pytest

from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from tests.reproductions.asymvalley.claims import TASKS, decide
from tests.reproductions.asymvalley.hand_made.curves import table_of


def frame_of(table: pd.DataFrame) -> pd.DataFrame:
    """Return a long frame with a table's rows among those of another net and a diverged one."""
    other = table.assign(pair="of another figure", error=0.0)
    lost = table.iloc[:1][["pair", "seed"]].assign(seed=9, status="diverged")
    return pd.concat([table.assign(status="done", width=8), other, lost], ignore_index=True)


@pytest.mark.parametrize("word", ["fig12", "fig05"])
def test_table_has_the_curves_of_its_nets_alone(word: str) -> None:
    task, table = TASKS[word], table_of(word, "holds")
    frame = frame_of(table)
    built = build_table(task, {task.reads[0].id: frame})
    expected = table[task.table.names].reset_index(drop=True)
    pd.testing.assert_frame_equal(built, expected, check_dtype=False, rtol=1e-8)
    lost = frame.query("status == 'diverged'").dropna(axis="columns")
    assert build_table(task, {task.reads[0].id: lost}).empty


def flattened(word: str, **place: object) -> pd.DataFrame:
    """Return the table where claims hold, but sign-consistent curves of a place are flat."""
    table = table_of(word, "holds")
    chosen = table["sign_consistent"] & (table["lambda"] != 0.0)
    for column, value in place.items():
        chosen &= table[column] == value
    table.loc[chosen, ["error", "ce"]] = 0.5
    return table


@pytest.mark.parametrize(
    ("address", "column", "one", "other", "expected"),
    [
        ("fig03:sign_noise_is_asymmetric", "noise", "ones", "uniform", Word.CONTRADICTED),
        # No asymmetry at all is a tie.
        ("fig06:groups_are_asymmetric_in_loss", "group", "clf", "bn", Word.UNDECIDED),
    ],
)
def test_one_of_the_kinds_may_be_symmetric_and_not_two(
    address: str, column: str, one: str, other: str, expected: Word
) -> None:
    word = address.split(":")[0]
    table = flattened(word, **{column: one})
    assert decide(address, table).word is Word.SUPPORTED
    two = table.where(table[column] != other, flattened(word, **{column: other}))
    assert decide(address, two).word is expected


def test_six_of_seven_are_counted_over_seeds_and_not_within_each() -> None:
    """Another pair of kinds has no asymmetry in each seed; over the seeds all seven have some."""
    table = table_of("fig15", "holds")
    for seed, kinds in enumerate(
        (("ones", "uniform"), ("binary", "gaussian"), ("ones", "uniform"), ("binary", "gaussian"))
    ):
        chosen = (table["seed"] == seed) & table["noise"].isin(kinds) & (table["lambda"] != 0.0)
        table.loc[chosen & table["sign_consistent"], "error"] = 0.5
    assert decide("fig15:sign_noise_is_asymmetric", table).word is Word.UNDECIDED


@pytest.mark.parametrize(("word", "few"), [("fig03", 2), ("fig13", 4)])
def test_too_few_draws_decide_no_symmetry(word: str, few: int) -> None:
    address, table = f"{word}:raw_noise_is_symmetric", table_of(word, "holds")
    assert decide(address, table[table["draw"] <= few]).word is Word.SUPPORTED
    verdict = decide(address, table[table["draw"] < few])
    assert (verdict.word, verdict.reason) == (
        Word.UNDECIDED,
        f"{few} draw(s) of the noise, need at least {few + 1}",
    )
