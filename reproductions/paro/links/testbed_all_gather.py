"""Figure 5 on a testbed: time of an all-gather by a ring, by PaRO-CC and by gloo itself."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CPU,
    SMALL_CHECK,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    at_most,
    by_theory,
    claims,
    equal,
    less_than,
    ours,
    within,
)
from reproductions.paro.links import quantities as q
from reproductions.paro.links.experiment import (
    ALGORITHMS,
    LAYOUTS,
    NICS,
    gather_times,
)
from reproductions.paro.links.table import GATHER_COLUMNS, GROUPS
from reproductions.paro.method.cluster import Nic
from reproductions.paro.models.known_bytes import TOLD, in_time

SIZES = tuple(f"{groups} x {ranks} ranks" for groups, ranks in LAYOUTS)
ON_LINKS = tuple(f"{size}, {words}" for words in NICS.values() for size in SIZES)
SMALL = "all-gathers of the quick run are too small to time"
BOTH = in_time(partial(q.on_all_links, quantity=q.known_bytes)).naming(*ON_LINKS)
OURS = ours("DEV-46", profiles=CPU, elsewhere=SMALL).controlled(TOLD, BOTH).asked_by_us()


def gather_layout(nic: Nic) -> Layout:
    """Return ms by layout of ranks, measured and predicted."""
    cells = {"measured": Cell("median_ms", unit="ms", digits=1),
             "predicted": Cell("predicted_ms", unit="ms", digits=1)}  # fmt: skip
    return Layout(
        rows=GROUPS,
        columns=tuple(
            Line(head, group=words, where={"algorithm": algorithm}, cell=cell)
            for algorithm, words in ALGORITHMS.items()
            for head, cell in cells.items()
            if (algorithm, head) != ("gloo", "predicted")
        ),
        where={"nic": nic},
        title=f"All-gather of 1 MiB per rank, {NICS[nic]}",
        ours=True,
        notes=(
            "Predicted from bandwidths that the same ranks measured.",
        ),
    )  # fmt: skip


task = Task(
    "paro/testbed_all_gather",
    own_kind="figure",
    reads=(gather_times,),
    table=Table.of(GATHER_COLUMNS),
    layout=tuple(gather_layout(nic) for nic in NICS),
    claims=claims(
        "Figure 5 and section 4.4",
        (
            "blocks_arrive",
            SMALL_CHECK,
            equal(q.wrong_bytes, 0, "bytes"),
            "Every algorithm gives every rank the blocks that were sent.",
        ),
        (
            "bytes_as_by_formula",
            SMALL_CHECK,
            equal(q.booked_error, 0, "bytes"),
            "One ring and PaRO-CC send the bytes of the formulas out of groups.",
        ),
        (
            "paro_cc_beats_one_ring",
            by_theory(profiles=CPU, elsewhere=SMALL).controlled(TOLD, BOTH),
            less_than(partial(q.on_all_links, quantity=q.share_of_ring), 1, "ratio")
            .naming(*ON_LINKS)
            .measuring("its time over that of the faster ring, ours or gloo's own"),
            "PaRO-CC's all-gather takes less time than one ring.",
        ),
    )
    + claims(
        "ours, beside Figure 5",
        (
            "gain_as_predicted",
            OURS,
            within(partial(q.on_all_links, quantity=q.over_predicted), 0.8, 1.2, "ratio")
            .naming(*ON_LINKS)
            .measuring("measured gain over predicted"),
            "PaRO-CC's gain over one ring is as predicted.",
        ),
        (
            "ring_no_slower_than_gloo",
            OURS,
            at_most(partial(q.on_all_links, quantity=q.flat_over_gloo), 1.1, "ratio")
            .naming(*ON_LINKS)
            .measuring("its time over gloo's"),
            "Our ring is no slower than gloo's own all-gather.",
        ),
    ),
    figure="figures:gather_panels",
    caption="Time of an all-gather of 1 MiB per rank, as one ring, by PaRO-CC and by gloo itself:"
    " mean and standard error over seeds. Hollow: what the formulas say with the measured"
    " bandwidths.",
    alt="Two panels of bars against layouts of four to eight ranks, with one link per group and"
    " with one per rank: one ring, PaRO-CC and gloo's own all-gather, with marks for what the"
    " formulas predict.",
)  # fmt: skip
