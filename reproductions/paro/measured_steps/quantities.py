"""What is asked of measured steps: scopes and claims of several tasks, and what claims measure.

Claims' functions take one seed's table; checks' the whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from harness.declare import (
    CPU,
    SMALL_CHECK,
    Claim,
    Criterion,
    Frame,
    InvalidQuantity,
    MissingRows,
    Scalar,
    Scope,
    Series,
    at_least,
    at_most,
    claims,
    more_than,
    ours,
    pick,
)
from reproductions.paro.measured_steps.experiment import BASELINES, OURS
from reproductions.paro.models.known_bytes import FASTER_WITHIN, TOLD, in_time

TIED = 1.05
"""Predicted times that differ by less count as equal: the guideline does not tell them apart."""
Where = dict[str, Scalar]
RAIL: Where = {"nic": "rail"}
SHARED: Where = {"nic": "shared"}


def seconds(table: Frame, name: str, where: Where) -> float:
    """Return the seconds of a setting's step."""
    rows = pick(table, setting=name, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {name} where {where}: need one per seed")
    return float(rows["step_s"].iloc[0])


def speed_ratios(
    table: Frame, *, pairs: Sequence[tuple[str, str]], at: Sequence[Where]
) -> list[float]:
    """Return the speed of the first of each pair over that of the second, in turn where told."""
    return [
        seconds(table, over, where) / seconds(table, one, where)
        for where in at
        for one, over in pairs
    ]


def rank_correlation(table: Frame, *, where: Where = RAIL) -> float:
    """Return Spearman's rank correlation of predicted and measured times of the 14 strategies."""
    from scipy.stats import spearmanr

    rows = pick(table, **where).set_index("setting").reindex(OURS)
    if rows["step_s"].isna().any():
        raise MissingRows(f"a strategy has no row where {where}")
    return float(spearmanr(tied(list(rows["predicted_s"])), rows["step_s"]).statistic)


def better_than_memory(table: Frame, *, where: Where = RAIL) -> float:
    """Return by how much the guideline's correlation is above that of an order without formulas.

    That order has what holds more as the faster.
    """
    from scipy.stats import spearmanr

    rows = pick(table, **where).set_index("setting").reindex(OURS)
    by_memory = float(spearmanr(-rows["held_bytes"], rows["step_s"]).statistic)
    return rank_correlation(table, where=where) - by_memory


def known_bytes(table: Frame, *, at: Sequence[Where]) -> list[float]:
    """Return the time of known bytes between groups over what arithmetic says, in turn where told.

    Raises InvalidQuantity where links within groups are not much faster than those between.
    """
    found = []
    for where in at:
        rows = pick(table, **where)
        if (rows["intra_gbit_per_s"] < FASTER_WITHIN * rows["inter_gbit_per_s"]).any():
            raise InvalidQuantity(f"where {where}: slow within groups")
        asked = rows["inter_mbit_per_s"] / 1e3
        found.append(float((asked / rows["inter_gbit_per_s"]).iloc[0]))
    return found


def filled_links(table: Frame, *, at: Sequence[Where]) -> list[float]:
    """Return the same between groups and then within them, in turn where told."""
    found = []
    for where in at:
        row = pick(table, **where).iloc[0]
        found += [
            float(row[f"{scope}_mbit_per_s"] / 1e3 / row[f"{scope}_gbit_per_s"])
            for scope in ("inter", "intra")
        ]
    return found


def tied(times: Sequence[float]) -> list[float]:
    """Return times with those that are near the least of their neighbours put equal to it.

    >>> tied([1.0, 2.0, 1.04, 2.2])
    [1.0, 2.0, 1.0, 2.2]
    """
    firsts: list[float] = []
    for time in sorted(times):
        if not firsts or time > TIED * firsts[-1]:
            firsts.append(time)
    return [max(first for first in firsts if first <= time) for time in times]


def samples(table: Frame, name: str) -> Series:
    """Return samples per second of a setting by micro-batches per step, ascending."""
    rows = pick(table, setting=name, question="accumulation")
    if rows.empty or rows["accumulation"].duplicated().any():
        raise MissingRows(f"{len(rows)} rows of {name}: need one per accumulation and seed")
    return rows.set_index("accumulation")["samples_per_s"].astype(float).sort_index()


def over_each(table: Frame, *, one: str, over: str) -> list[float]:
    """Return samples per second of a setting with most micro-batches over another's with each."""
    return [float(samples(table, one).iloc[-1] / each) for each in samples(table, over)]


def speedup(table: Frame, name: str) -> float:
    """Return samples per second on most ranks over those on fewest, per rank."""
    rows = pick(table, setting=name, question="scaling").set_index("num_ranks")["samples_per_s"]
    if len(rows) < 2:
        raise MissingRows(f"{len(rows)} numbers of ranks with {name}: need two per seed")
    few, many = min(rows.index), max(rows.index)
    return float(rows[many] / rows[few] * few / many)


def speedup_leads(table: Frame, *, pairs: Sequence[tuple[str, str]]) -> list[float]:
    """Return the speed-up ratio of the first of each pair less that of the second."""
    return [speedup(table, one) - speedup(table, other) for one, other in pairs]


def byte_errors(table: Frame) -> list[float]:
    """Return by how much what the engine holds and what it sends are off the formula at most."""
    rows = table[~table["setting"].isin(BASELINES)]
    return [
        float((rows[f"{what}_bytes"] - rows[f"predicted_{what}_bytes"]).abs().max())
        for what in ("held", "between")
    ]


def measured(*at: Where) -> Scope:
    """Return the scope of what is asked of steps that are timed on a testbed.

    at: which trials, whose links must carry known bytes in time. A claim on speed needs the links
    between groups alone: slower ones within work against the strategies that the paper favours.
    """
    asked = ours("DEV-45", profiles=CPU, elsewhere="steps of the quick run are too short to time")
    return asked.controlled(TOLD, in_time(partial(known_bytes, at=at)))


MEASURED = measured(RAIL)
"""A claim of the paper on speed, asked of ranks on a testbed."""
WHEN_SHARED = measured(SHARED).asked_by_us()
LEAST_CORRELATION = 0.8


def faster(
    *pairs: tuple[str, str],
    where: Where = RAIL,
    at: Sequence[tuple[str, Where]] = (("", {}),),
) -> Criterion:
    """Ask that of every pair the first strategy is the faster one.

    at: where in turn, each with a word that tells its numbers from others.
    """
    ratios = partial(speed_ratios, pairs=pairs, at=tuple({**where, **more} for _, more in at))
    names = [f"{one} over {over}{word}" for word, _ in at for one, over in pairs]
    # One number alone is what the statement says.
    found = more_than(ratios, 1, "times the speed")
    return found.naming(*names) if len(names) > 1 else found


def follows_guideline(where: Where = RAIL) -> Criterion:
    """Ask that predicted and measured times are in one order."""
    return at_least(partial(rank_correlation, where=where), LEAST_CORRELATION, "rank correlation")


COUNTS = claims(
    "appendix A.3, formulas 1 and 2",
    (
        "bytes_as_by_formula",
        SMALL_CHECK,
        at_most(byte_errors, 0, "bytes").naming("held", "sent"),
        "Every strategy holds and sends the bytes of the formulas.",
    ),
)


def of_strategies(
    figure: str, *more: tuple[str, Scope, Criterion, str], beside: str = "Figures 3 and 4"
) -> tuple[Claim, ...]:
    """Return what is asked of the 14 strategies together, and what more we ask.

    figure: where the paper shows them. beside: where it says what our questions are about.
    """
    follows = (
        "follows_guideline",
        MEASURED,
        follows_guideline(),
        "The guideline ranks the 14 strategies by speed with few errors.",
    )
    beats_memory = (
        "guideline_beats_memory",
        MEASURED.asked_by_us(),
        more_than(better_than_memory, 0, "rank correlation").measuring(
            "the guideline's rank correlation less that of bytes held"
        ),
        'The guideline ranks strategies better than the rule "the more held, the faster".',
    )
    return (
        claims(f"abstract, section 4.3 and {figure}", follows)
        + claims(f"ours, beside {beside}", beats_memory, *more)
        + COUNTS
    )
