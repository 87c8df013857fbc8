"""Figure 5 on a testbed: time of an all-gather by a ring, by PaRO-CC and by gloo itself."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    SMOKE_AND_CPU,
    Cell,
    Criterion,
    Layout,
    Line,
    Table,
    Task,
    at_least,
    at_most,
    by_theory,
    claims,
    columns_of,
    equal,
    less_than,
    measured,
    monotone,
    ours,
    param,
    value,
    within,
)
from reproductions.paro.links import quantities as q
from reproductions.paro.links.experiment import LAYOUTS, NICS, Gathers, gather_times
from reproductions.paro.links.table import ABOUT, TIMES

HEADS = {"flat": "one ring", "two-layer": "PaRO-CC", "gloo": "gloo's own"}
KINDS = {"shared": "one link per group", "rail": "one link per rank"}
SIZES = tuple(f"{groups} x {ranks}" for groups, ranks in LAYOUTS)
SMALL = "smoke's all-gathers are too small to time"
COUNTED = CHECK.at(*SMOKE_AND_CPU, elsewhere="a testbed is of one machine's cores")
FASTER = by_theory(profiles=CPU, elsewhere=SMALL)
OURS = ours("DEV-46", profiles=CPU, elsewhere=SMALL).asked_by_us()
BYTES = replace(OURS, deterministic=True)


def faster(nic: str) -> Criterion:
    """Ask that PaRO-CC takes less than one ring, for every layout of ranks."""
    return less_than(partial(q.share_of_flat, nic=nic), 1, "ratio").naming(*SIZES)


def as_predicted(nic: str) -> Criterion:
    """Ask that the gain over one ring is the formulas', to a fifth."""
    return within(partial(q.over_predicted, nic=nic), 0.8, 1.2, "ratio").naming(*SIZES)


def gather_layout(nic: str) -> Layout:
    """Return ms by layout of ranks, measured and predicted."""
    cells = {"measured": Cell("median_ms", unit="ms", digits=1),
             "predicted": Cell("predicted_ms", unit="ms", digits=1)}  # fmt: skip
    return Layout(
        rows=tuple(
            Line(f"{groups} groups of {ranks}",
                 where={"num_groups": groups, "ranks_per_group": ranks})
            for groups, ranks in LAYOUTS
        ),
        columns=tuple(
            Line(head, group=words, where={"algorithm": algorithm}, cell=cell)
            for algorithm, words in HEADS.items()
            for head, cell in cells.items()
            if (algorithm, head) != ("gloo", "predicted")
        ),
        cell=cells["measured"],
        where={"nic": nic},
        title=f"All-gather of 1 MiB per rank, {KINDS[nic]}",
        ours=True,
        notes=(
            "Predicted from the bandwidths of messages of a block's size, measured beside: between"
            " groups by one ring, within by all at once.",
            "PaRO-CC spreads a row in its group while the next one arrives.",
        ),
    )  # fmt: skip


task = Task(
    "paro/testbed_all_gather",
    own_kind="figure",
    reads=(gather_times,),
    table=Table.of(
        columns_of(
            Gathers, "num_groups", "ranks_per_group", "nic", "inter_mbit", "intra_mbit",
            "block_bytes",
        ),
        param("algorithm", str, "flat: one ring of all ranks; two-layer: PaRO-CC; gloo: its own."),
        columns_of(Gathers, "seed"),
        value("gathered_bytes", int, "What every rank has in the end."),
        value("wrong_bytes", int, "Bytes that arrived as others."),
        value("formula_bytes", float, "Out of all groups, by the planner's formula; of gloo's as"
              " if it were one ring."),
        value("booked_bytes", int, "The same, as the engine counts what it sends."),
        measured("counted_bytes", float, "The same, as interfaces count; null without any.",
                 nullable=True),
        *TIMES,
        measured("predicted_ms", float, "By formula, from measured bandwidths.", nullable=True),
        measured("between_gbit_per_s", float, "Bandwidth between groups, of one ring."),
        measured("within_gbit_per_s", float, "Bandwidth within, all groups at once."),
        *ABOUT,
    ),
    layout=tuple(gather_layout(nic) for nic in NICS),
    claims=claims(
        "of the testbed that stands for the cluster of section 4.1",
        (
            "blocks_arrive",
            COUNTED,
            equal(q.wrong_bytes, 0, "bytes"),
            "Every algorithm gives every rank the same bytes, those that were sent.",
        ),
        (
            "bytes_as_booked",
            COUNTED,
            equal(q.booked_error, 0, "bytes"),
            "Out of groups one ring and PaRO-CC send the bytes of the planner's formulas.",
        ),
    )
    + claims(
        "Figure 5 and section 4.4",
        (
            "faster_on_a_shared_link",
            FASTER,
            faster("shared"),
            "PaRO-CC's all-gather takes less time than one ring where a group shares a link (the"
            " paper: 25.2 % to 39.7 % better, 16 to 128 GPUs).",
        ),
        (
            "faster_with_a_link_each",
            FASTER,
            faster("rail"),
            "PaRO-CC's all-gather takes less time than one ring where every rank has a link.",
        ),
    )
    + claims(
        "ours, beside Figure 5",
        (
            "no_fewer_bytes_than_formula",
            BYTES,
            at_least(q.least_counted, 1, "ratio"),
            "Interfaces between groups count no fewer bytes than the formulas (least ratio).",
        ),
        (
            "headers_alone_above_formula",
            BYTES,
            at_most(q.most_counted, 1.08, "ratio"),
            "Interfaces between groups count at most 8 % more bytes than the formulas: headers, and"
            " what ranks wait for each other by (largest ratio).",
        ),
        (
            "shared_as_predicted",
            OURS,
            as_predicted("shared"),
            "Where a group shares a link PaRO-CC gains on one ring what the formulas say with the"
            " measured bandwidths, to 20 %.",
        ),
        (
            "rail_as_predicted",
            OURS,
            as_predicted("rail"),
            "Where every rank has a link PaRO-CC gains on one ring what the formulas say with the"
            " measured bandwidths, to 20 %.",
        ),
        (
            "saving_grows_with_groups",
            OURS,
            monotone(partial(q.saved_by_groups, nic="rail"), "ms", strict=True).naming(
                "2 to 3 groups", "3 to 4 groups"
            ),
            "At as many bytes per rank what PaRO-CC saves grows with the number of groups of two"
            " (a link per rank).",
        ),
        (
            "our_ring_no_slower_than_gloo",
            OURS,
            at_most(partial(q.flat_over_gloo, nic="rail"), 1.1, "ratio").naming(*SIZES),
            "Our one ring takes at most 1.1 times gloo's own all-gather (a link per rank).",
        ),
    ),
    figure="figures:gather_panels",
    caption="All-gather of 1 MiB per rank of gloo on links of 100 Mbit/s between groups and 1000"
    " within, as one ring, by PaRO-CC and by gloo itself: milliseconds, mean over seeds with their"
    " standard error, and hollow what the formulas say with the bandwidths measured beside.",
    alt="Two panels of bars against layouts of four to eight ranks, with one link per group and"
    " with one per rank: one ring, PaRO-CC and gloo's own all-gather, with marks for what the"
    " formulas predict.",
)  # fmt: skip
