"""What the checks measure: counts of what differs, over whole tables."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from harness.declare import MissingRows, pick

if TYPE_CHECKING:
    import pandas as pd

SETTING = ["model", "trainable_share", "num_gpus", "group_size", "world"]
CLUSTER = ["numbering", "num_gpus", "group_size"]


def _complete(rows: pd.DataFrame) -> bool:
    """Return whether GPUs hold each of the blocks 0 to n-1 once."""
    found = [int(number) for ids in rows["block_ids"] for number in ids.split()]
    return sorted(found) == list(range(rows["num_gpus"].iloc[0]))


def not_permuted(table: pd.DataFrame) -> int:
    """Return on how many clusters the blocks under G are not each of 0 to n-1 once."""
    return sum(not _complete(rows) for _, rows in pick(table, granularity="G").groupby(CLUSTER))


def not_parted(table: pd.DataFrame) -> int:
    """Return how many groups' blocks under I are not each of 0 to n-1 once."""
    return sum(
        not _complete(rows) for _, rows in pick(table, granularity="I").groupby([*CLUSTER, "group"])
    )


def unlike_groups(table: pd.DataFrame) -> int:
    """Return how many places hold other blocks under I in one group than in another."""
    places = pick(table, granularity="I").groupby([*CLUSTER, "local"])["block_ids"].nunique()
    return int((places > 1).sum())


def outside(table: pd.DataFrame) -> int:
    """Return how many GPUs have another block under G than the one of their group's turn in I."""
    place = [*CLUSTER, "group", "local"]
    within = pick(table, granularity="I").set_index(place)["block_ids"]
    own = pick(table, granularity="G").set_index(place)["block_ids"]
    turns = within.index.get_level_values("group")
    expected = [ids.split()[turn] for ids, turn in zip(within, turns, strict=True)]
    return int((own.loc[within.index] != expected).sum())


def total(table: pd.DataFrame, *, value: str) -> float:
    """Return the sum of a column."""
    return float(table[value].sum())


def largest(table: pd.DataFrame, *, value: str) -> float:
    """Return the largest value of a column."""
    return float(table[value].max())


def closed_form_error(table: pd.DataFrame) -> float:
    """Return the largest relative difference of seconds from the closed form."""
    expected = table["closed_form_s"]
    return float(((table["value_s"] - expected).abs() / expected.where(expected > 0, 1.0)).max())


def least_rise(table: pd.DataFrame) -> float:
    """Return the least step in seconds from N to I to G, where B' is at least B."""
    rows = table[table["intra_gbit_per_s"] >= table["inter_gbit_per_s"]]
    return min(after - before for found in _by_setting(rows) for before, after in pairwise(found))


def _by_setting(rows: pd.DataFrame) -> Iterator[list[float]]:
    """Yield the seconds of N, I and G in every setting."""
    for _, group in rows.groupby(SETTING):
        seconds = group.set_index("held")["value_s"]
        yield [float(seconds[letter]) for letter in "NIG"]


def one_group_error(table: pd.DataFrame) -> float:
    """Return how far I is from G, relative, where one group on equal links is all there is.

    Raises MissingRows where there is no such setting.
    """
    alone = table[
        (table["num_gpus"] == table["group_size"])
        & (table["inter_gbit_per_s"] == table["intra_gbit_per_s"])
    ]
    if alone.empty:
        raise MissingRows("no setting has one group, on equal links")
    letters = [name for name in ("held", "states") if name in table]
    as_one = alone.assign(**{name: alone[name].replace("I", "G") for name in letters})
    seconds = as_one.groupby([*SETTING, *letters])["value_s"]
    most, least = seconds.max(), seconds.min()
    return float(((most - least) / most.where(most > 0, 1.0)).max())


def moved_for_nothing(table: pd.DataFrame) -> int:
    """Return how many terms take time though GPUs hold what they need already."""
    finer = table["states"].map("NIG".index) > table["held"].map("NIG".index)
    return int((table.loc[~finer, "value_s"] != 0.0).sum())


def unsynced(table: pd.DataFrame) -> int:
    """Return how many terms take no time, on several groups, but from G to G."""
    several = table[table["num_gpus"] > table["group_size"]]
    there = (several["held"] == "G") & (several["states"] == "G")
    return int((several.loc[~there, "value_s"] <= 0.0).sum())


def paro_cc_on_others(table: pd.DataFrame) -> int:
    """Return how many collectives PaRO-CC helps though not all GPUs take part, or does not."""
    return int(((table["among"] == "world") != (table["paro_cc"] == "yes")).sum())


def bend(table: pd.DataFrame) -> float:
    """Return the largest second difference of bytes over 1, 2 and 3 micro-batches."""
    kinds = ["inter_bytes", "intra_bytes", "link_bytes", "rounds"]
    place = ["num_gpus", "group_size", "num_trainable", "num_frozen", "world", "strategy"]
    found = []
    for _, rows in table.groupby(place):
        by_count = rows.set_index("accumulation")[kinds]
        if {1, 2, 3} <= set(by_count.index):
            first, second, third = (by_count.loc[count] for count in (1, 2, 3))
            found.append(float((first - 2 * second + third).abs().to_numpy().max()))
    if not found:
        raise MissingRows("no setting has 1, 2 and 3 micro-batches")
    return max(found)
