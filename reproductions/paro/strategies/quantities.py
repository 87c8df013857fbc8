"""What checks and claims on strategies measure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from harness.declare import Frame, pick

SETTING = ["model", "trainable_share", "world"]


def num_strategies(table: Frame) -> int:
    """Return how many strategies there are, each named by its letters."""
    rows = pick(table, part="sweep", world="flat")
    spelled = rows["p"] + rows["g"] + rows["os"]
    return int(spelled[spelled == rows["strategy"]].nunique())


def num_with(table: Frame, *, effective: int) -> int:
    """Return how many strategies are kept, or left out."""
    return len(pick(table, part="sweep", world="flat", effective=effective))


def printed(rows: Frame, *, name: str) -> float | None:
    """Return a number that the paper's text has, None where it is not at hand."""
    found = rows[rows["y_name"] == name]["value"]
    return float(found.iloc[0]) if len(found) else None


def largest_saving(table: Frame, *, world: str) -> float:
    """Return by which share of its time a strategy that is left out beats the one kept for it."""
    return float(pick(table, part="sweep", world=world, effective=0)["largest_saving"].max())


def other_savers(table: Frame, *, named: Collection[str]) -> int:
    """Return how many beat the kept one with one ring and are not named, or named and do not."""
    rows = pick(table, part="sweep", world="flat", effective=0)
    return len(set(rows.loc[rows["largest_saving"] > 0.0, "strategy"]) ^ set(named))


def least_memory_ratio(table: Frame) -> float:
    """Return the least memory of one that is left out over that of the one kept for it."""
    return float(pick(table, part="sweep", effective=0)["least_memory_ratio"].min())


def off_the_front(table: Frame, *, named: Mapping[str, Collection[str]]) -> list[int]:
    """Return how many are on a front somewhere and are not named, or are named and never on it.

    named: by how collectives of all GPUs are sent.
    """
    found = []
    for world, names in named.items():
        rows = pick(table, part="sweep", world=world)
        found.append(len(set(rows.loc[rows["num_on_front"] > 0, "strategy"]) ^ set(names)))
    return found


def time_error(table: Frame, *, one: str, other: str) -> float:
    """Return the largest relative difference of two strategies' communication."""
    rows = pick(table, part="costs")
    left = pick(rows, strategy=one).set_index(SETTING)["comm_s"]
    right = pick(rows, strategy=other).set_index(SETTING)["comm_s"]
    return float((left / right - 1.0).abs().max())


def memory_ratios(table: Frame, *, pairs: Collection[tuple[str, str]]) -> list[float]:
    """Return for each pair the largest memory of the one over the other's, over the inputs."""
    rows = pick(table, part="costs", world="flat")
    found = []
    for one, other in pairs:
        below = pick(rows, strategy=one).set_index(SETTING)["memory_bytes"]
        above = pick(rows, strategy=other).set_index(SETTING)["memory_bytes"]
        found.append(float((below / above).max()))
    return found
