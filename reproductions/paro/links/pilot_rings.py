"""A pilot: how many blocks of all-gathers a trial needs, and whether known bytes arrive in time."""

from __future__ import annotations

from harness.declare import Cell, Frame, Layout, Line, Table, Tables, Task, measured, param
from reproductions.paro.links.experiment import NICS, PILOT_BLOCKS, gather_pilots
from reproductions.paro.links.table import GATHER_COLUMNS, GROUPS
from reproductions.paro.method.cluster import Nic

BESIDE = ["num_groups", "ranks_per_group", "nic", "first_blocks", "seed"]
"""What algorithms share that are compared."""
CELLS = {
    "known bytes over arithmetic": Cell("known_over_arithmetic", digits=3),
    "PaRO-CC over one ring": Cell("over_one_ring", digits=3),
}


def by_first_blocks(tables: Tables) -> Frame:
    """Return rows with what known bytes take, and with times over one ring's beside them."""
    rows = tables[gather_pilots.id].reset_index(drop=True)
    ring = rows[rows["algorithm"] == "flat"].set_index(BESIDE)["median_ms"].astype("float64")
    ring_ms = ring.reindex(rows.set_index(BESIDE).index).to_numpy()
    return rows.assign(
        known_over_arithmetic=rows["inter_mbit"] / 1e3 / rows["between_gbit_per_s"],
        over_one_ring=rows["median_ms"].astype("float64").to_numpy() / ring_ms,
    )


def blocks_layout(nic: Nic) -> Layout:
    """Return what known bytes and all-gathers take, by the number of first blocks."""
    return Layout(
        rows=GROUPS,
        columns=tuple(
            Line(f"{count} of {PILOT_BLOCKS} blocks", group=head, where={"first_blocks": count},
                 cell=cell)
            for head, cell in CELLS.items()
            for count in range(1, PILOT_BLOCKS + 1)
        ),
        where={"nic": nic, "algorithm": "two-layer"},
        title=f"All-gathers of 1 MiB per rank by first blocks, {NICS[nic]}",
        ours=True,
        notes=(
            "A trial takes the least number of blocks at which every standard error here is at most"
            " 0.01: five seeds then have intervals of about 0.02, half of what known bytes may be"
            " off by. If none is as small, it takes all three.",
        ),
    )  # fmt: skip


task = Task(
    "paro/pilot_rings",
    own_kind="ablation",
    reads=(gather_pilots,),
    table=Table.of(
        GATHER_COLUMNS,
        param("first_blocks", int, "Of how many blocks, from the first one on, the row speaks."),
        measured("known_over_arithmetic", float, "Time of known bytes between groups, by one ring,"
                 " over bytes by the rate of the link."),
        measured("over_one_ring", float, "Time over that of one ring.", nullable=True),
        make=by_first_blocks,
    ),
    layout=tuple(blocks_layout(nic) for nic in NICS),
)  # fmt: skip
