"""How far what ranks did is from the schedule, and from the captions of Figures 1 and 2."""

from __future__ import annotations

from itertools import product

from harness.declare import Frame, pick

GATHER, REDUCE = "param: all_gather intra", "gradient: reduce_scatter intra"
BOUNDARY = ("sync_g: reduce_scatter inter", "update")
CAPTION = {
    "IIG": ((GATHER, GATHER, REDUCE), (*BOUNDARY, "sync_p: all_gather inter")),
    "NIG": ((REDUCE,), (*BOUNDARY, "sync_p: all_gather world")),
}
"""Of Figure 1: a unit's collectives in a micro-batch, and all units' after the last one."""


def unlike_caption(table: Frame) -> float:
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


def off_schedule(table: Frame) -> list[float]:
    """Return how many collectives are unlike the schedule, and how many unlike other ranks'.

    Updates count too. The first: not the schedule's, or lacking, on all ranks; the second: places
    of the order that differ between ranks.
    """
    rows = pick(table, track="communication")
    wrong = int((rows["done"] != rows["planned"]).sum())
    runs = rows.groupby(["strategy", "rank"])
    lacking = (runs["place"].count() - runs["num_planned"].first()).abs().sum()
    words = rows["done"] + " " + rows["units"]
    apart = words.groupby([rows["strategy"], rows["place"]]).nunique() > 1
    return [float(wrong + lacking), float(apart.sum())]


def unlike_stages(table: Frame) -> float:
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


def misdelivered(table: Frame) -> list[float]:
    """Return wrong arrivals, parts sent on too early, and messages between other places.

    A rank receives each part but its own once; what arrives is what the rank before sends in the
    same place of its order. Between groups ranks of the same place meet.
    """
    wrong = early = 0
    for _, rows in table.groupby(["num_ranks", "group_size"]):
        arrived = rows.groupby(["to", "part"]).size()
        for to, part in product(range(int(rows["num_ranks"].iloc[0])), repeat=2):
            wrong += abs(int(arrived.get((to, part), 0)) - (to != part))
        sent = rows[["rank", "place", "to", "part"]].to_numpy().tolist()
        arrives = {(to, part): place for _, place, to, part in sent}
        for rank, place, _, part in sent:
            early += part != rank and arrives.get((rank, part), place) >= place
    between = pick(table, scope="inter")
    places = [between[name] % between["group_size"] for name in ("part", "rank", "to")]
    apart = (places[0] != places[1]) | (places[1] != places[2])
    return [float(wrong), float(early), float(apart.sum())]
