"""Table 10: bandwidth within groups and between, on a testbed of shaped links."""

from __future__ import annotations

from harness.declare import (
    SMALL_CHECK,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    claims,
    columns_of,
    equal,
    measured,
    param,
    value,
)
from reproductions.paro.links import quantities as q
from reproductions.paro.links.experiment import ABOUT, NICS, TIMES, Messages, bandwidths
from reproductions.paro.method.cluster import Nic

SIZES = tuple(2**power for power in range(10, 23, 2))
HEADS = {"within": "within a group", "between": "between groups"}


def sizes_layout(nic: Nic) -> Layout:
    """Return ms and Gbit/s by size of a message, as the text says that the paper's table has."""
    cells = {"ms": Cell("median_ms", unit="ms", digits=2),
             "Gbit/s": Cell("gbit_per_s", unit="Gbit/s", digits=3)}  # fmt: skip
    return Layout(
        rows=tuple(Line(f"{size:,} B", where={"message_bytes": size}) for size in SIZES),
        columns=tuple(
            Line(head, group=words, where={"scope": scope}, cell=cell)
            for scope, words in HEADS.items()
            for head, cell in cells.items()
        ),
        where={"nic": nic, "rings": "one", "via": "ring"},
        title=f"Messages between two ranks, {NICS[nic]}",
        inferred=True,
        notes=(
            "Both ranks send and receive. Links are set to 100 Mbit/s between groups, 1000 within.",
            "The paper's own cells are not readable; its guideline takes 80 and 2000 Gbit/s.",
        ),
    )


task = Task(
    "paro/tab10",
    reads=(bandwidths,),
    table=Table.of(
        columns_of(Messages, "num_groups", "ranks_per_group", "nic", "inter_mbit", "intra_mbit"),
        param("scope", str, "within a group, or between groups."),
        param("rings", str, "one: ranks of one ring alone; all: all of that scope at once."),
        param("via", str, "ring: the engine's messages, both ways; gloo: its own, one way."),
        param("message_bytes", int, "One message."),
        columns_of(Messages, "seed"),
        value("wrong_bytes", int, "Bytes that arrived as others."),
        value("asked_gbit_per_s", float, "What a rank's share of the link was given."),
        *TIMES,
        measured("gbit_per_s", float, "A rank's, by the median.", nullable=True),
        *ABOUT,
    ),
    layout=tuple(sizes_layout(nic) for nic in NICS),
    claims=claims(
        "Table 10",
        (
            "messages_arrive",
            SMALL_CHECK,
            equal(q.wrong_bytes, 0, "bytes"),
            "Every message arrives as it was sent.",
        ),
    ),
)
