"""How far what ranks did is from the schedule, and from the captions of Figures 1 and 2."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import pick

if TYPE_CHECKING:
    import pandas as pd

GATHER, REDUCE = "param: all_gather intra", "gradient: reduce_scatter intra"
BOUNDARY = ("sync_g: reduce_scatter inter", "update")
CAPTION = {
    "IIG": ((GATHER, GATHER, REDUCE), (*BOUNDARY, "sync_p: all_gather inter")),
    "NIG": ((REDUCE,), (*BOUNDARY, "sync_p: all_gather world")),
}
"""Of Figure 1: a unit's collectives in a micro-batch, and all units' after the last one."""


def unplanned(table: pd.DataFrame) -> float:
    """Return how many collectives and updates of all ranks are not the schedule's, or lacking."""
    rows = pick(table, track="communication")
    wrong = int((rows["done"] != rows["planned"]).sum())
    runs = rows.groupby(["strategy", "rank"])
    return float(wrong + (runs["place"].count() - runs["num_planned"].first()).abs().sum())


def unlike_caption(table: pd.DataFrame) -> float:
    """Return how many sequences of a rank, of a unit or of all, are not those of the caption."""
    wrong = 0
    for (strategy, _), rows in pick(table, track="communication").groupby(["strategy", "rank"]):
        passes, after = CAPTION[str(strategy)]
        in_pass = rows["done"].str.startswith(("param", "gradient"))
        wrong += tuple(rows[~in_pass].sort_values("place")["done"]) != after
        for _, own in rows[in_pass].groupby("units"):
            times = int(own["micro_steps"].iloc[0])
            wrong += tuple(own.sort_values("place")["done"]) != passes * times
    return float(wrong)


def ranks_apart(table: pd.DataFrame) -> float:
    """Return how many places of the order of communication differ between ranks."""
    rows = pick(table, track="communication")
    words = rows["done"] + " " + rows["units"]
    return float((words.groupby([rows["strategy"], rows["place"]]).nunique() > 1).sum())


def off_schedule(table: pd.DataFrame) -> list[float]:
    """Return what is unlike the schedule, and where ranks differ from each other."""
    return [unplanned(table), ranks_apart(table)]


def wrong_deliveries(table: pd.DataFrame) -> float:
    """Return by how many a rank's arrivals of a part differ from one, of its own from none."""
    wrong = 0
    for _, rows in table.groupby(["num_ranks", "group_size"]):
        arrived = rows.groupby(["to", "part"]).size()
        for to in range(num_ranks := int(rows["num_ranks"].iloc[0])):
            for part in range(num_ranks):
                wrong += abs(int(arrived.get((to, part), 0)) - (to != part))
    return float(wrong)


def early_sends(table: pd.DataFrame) -> float:
    """Return how many parts a rank sent on before they had arrived, by its own order.

    What arrives is what the rank before sends in the same place of its order.
    """
    wrong = 0
    for _, rows in table.groupby(["num_ranks", "group_size"]):
        sent = rows[["rank", "place", "to", "part"]].to_numpy().tolist()
        arrives = {(to, part): place for _, place, to, part in sent}
        for rank, place, _, part in sent:
            if part != rank:
                wrong += arrives.get((rank, part), place) >= place
    return float(wrong)


def off_their_rail(table: pd.DataFrame) -> float:
    """Return how many messages between groups carry a part of another place in its group."""
    rows = pick(table, scope="inter")
    places = [rows[name] % rows["group_size"] for name in ("part", "rank", "to")]
    return float(((places[0] != places[1]) | (places[1] != places[2])).sum())


def unlike_stages(table: pd.DataFrame) -> float:
    """Return how many messages are out of the order of stages, on any rank.

    In stage k a row that has come k groups goes on to the next group, and at once spreads within
    this one: m - 1 messages.
    """
    wrong = 0
    for _, rows in table.groupby(["num_ranks", "group_size", "rank"]):
        num_ranks, m = int(rows["num_ranks"].iloc[0]), int(rows["group_size"].iloc[0])
        planned = [
            (scope, stage)
            for stage in range(num_ranks // m)
            for scope in (
                *(("inter",) if stage < num_ranks // m - 1 else ()),
                *("intra",) * (m - 1),
            )
        ]
        own = rows.sort_values("place")
        found = list(zip(own["scope"], own["groups_come"], strict=True))
        same = sum(a == b for a, b in zip(found, planned, strict=False))
        wrong += max(len(found), len(planned)) - same
    return float(wrong)


def misdelivered(table: pd.DataFrame) -> list[float]:
    """Return wrong arrivals, parts sent on too early, and messages between other places."""
    return [wrong_deliveries(table), early_sends(table), off_their_rail(table)]
