"""What the checks measure: counts of what differs, over whole tables."""

from __future__ import annotations

from collections.abc import Sequence

from harness.declare import Frame, pick

CLUSTER = ["numbering", "num_gpus", "group_size"]


def incomplete(table: Frame, granularity: str, within: list[str]) -> int:
    """Return in how many parts of a table the blocks are not each of 0 to n-1 once."""
    num_wrong = 0
    for _, rows in pick(table, granularity=granularity).groupby(within):
        found = [int(number) for ids in rows["block_ids"] for number in ids.split()]
        num_wrong += sorted(found) != list(range(rows["num_gpus"].iloc[0]))
    return num_wrong


def unlike_groups(table: Frame) -> int:
    """Return how many places hold other blocks under I in one group than in another."""
    places = pick(table, granularity="I").groupby([*CLUSTER, "local"])["block_ids"].nunique()
    return int((places > 1).sum())


def outside(table: Frame) -> int:
    """Return how many GPUs have another block under G than the one of their group's turn in I."""
    place = [*CLUSTER, "group", "local"]
    within = pick(table, granularity="I").set_index(place)["block_ids"]
    own = pick(table, granularity="G").set_index(place)["block_ids"]
    turns = within.index.get_level_values("group")
    expected = [ids.split()[turn] for ids, turn in zip(within, turns, strict=True)]
    return int((own.loc[within.index] != expected).sum())


def misplaced(table: Frame) -> list[int]:
    """Return what is wrong with blocks under G, under I, between groups and between G and I."""
    return [
        incomplete(table, "G", CLUSTER),
        incomplete(table, "I", [*CLUSTER, "group"]),
        unlike_groups(table),
        outside(table),
    ]


def total(table: Frame, *, value: str) -> float:
    """Return the sum of a column."""
    return float(table[value].sum())


def largest(table: Frame, *, values: Sequence[str]) -> list[float]:
    """Return the largest value of each of some columns."""
    return [float(table[value].max()) for value in values]


def closed_form_error(table: Frame) -> float:
    """Return the largest relative difference of seconds from the closed form."""
    expected = table["closed_form_s"]
    return float(((table["value_s"] - expected).abs() / expected.where(expected > 0, 1.0)).max())


def paro_cc_on_others(table: Frame) -> int:
    """Return how many collectives PaRO-CC helps though not all GPUs take part, or does not."""
    return int(((table["among"] == "world") != (table["paro_cc"] == "yes")).sum())
