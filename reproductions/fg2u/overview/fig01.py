"""Figure 1: capabilities, two phases, memory and score against depth, time."""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import inf

from harness.declare import (
    CHECK,
    CPU,
    Task,
    at_most,
    claims,
    equal,
    monotone,
    ours,
    ratio,
)
from reproductions.fg2u.condensing.experiment import runs as condensing
from reproductions.fg2u.overview import quantities as q
from reproductions.fg2u.overview.experiment import capabilities, timings
from reproductions.fg2u.overview.table import OVERVIEW

CHUNKS = (1, 2, 4, 8, 16)
"""Directions at a time."""
TIMED = ours(
    "DEV-14",
    profiles=CPU,
    elsewhere="only `cpu` measures times",
).controlled(
    "the middle three fifths of a plain unroll's times lie within 15 % of their median",
    at_most(partial(q.timed, quantity=q.spread), 0.15, "share of the median"),
)


def timed(quantity: q.Timed) -> q.Timed:
    """Return a quantity of the rows that were timed, on the table of all panels."""
    return partial(q.timed, quantity=quantity)


task = Task(
    "fg2u/fig01",
    reads=(capabilities, condensing, timings),
    table=OVERVIEW,
    claims=claims(
        "Figure 1, top left",
        (
            "capabilities_as_stated",
            CHECK,
            equal(q.num_other_flags, 0, "flags").measuring("flags that differ"),
            "RGU, Neumann, TRGU, Hessian-free and (FG)²U can do what the paper's table says.",
        ),
    )
    + claims(
        "Figure 1, bottom right, and section 3.2",
        (
            "faster_in_chunks",
            TIMED,
            ratio(timed(q.chunked_over_single), 0, 0.7)
            .measuring("time with 16 at a time over that with one")
            .beside_derived(q.papers_chunked_over_single),
            "A direction of (FG)²U takes less time with 16 at a time than alone.",
        ),
        (
            "time_falls_with_memory",
            TIMED,
            monotone(timed(q.from_largest_chunk), "s").naming(
                *(f"{many} against {few} at a time" for many, few in pairwise(CHUNKS[::-1]))
            ),
            "Every doubling of the directions at a time makes a gradient of (FG)²U faster.",
        ),
        (
            "two_workers_speed_up",
            TIMED,
            ratio(timed(q.speed_ups), 1.5, inf, "times")
            .naming(*(f"{chunk} at a time" for chunk in CHUNKS[:-1]))
            .beside_derived(q.papers_least_speed_up),
            "Two processes that share the directions make (FG)²U at least 1.5 times as fast.",
        ),
        (
            "slower_at_equal_memory",
            TIMED,
            ratio(timed(q.at_memory_of), 1, inf, "times")
            .measuring("time of (FG)²U over that of TRGU")
            .beside_derived(q.papers_at_memory_of_trgu),
            "At no more memory than TRGU's, in one process, (FG)²U is slower than TRGU.",
        ),
    ),
    figure="figures:overview_panels",
    caption="Top left: what each method can do, as measured; bias is the distance of the mean"
    " estimate from the exact gradient, over its norm. Top centre: outer loss along two phases. Top"
    " right and bottom left: memory of one gradient, and accuracy, against inner steps. Bottom"
    " centre: lead over Hessian-free against memory. Bottom right: time against memory as more"
    " directions are taken at a time, in one process and in two. Hollow: the paper's, for online"
    " adaptation (top right) and for condensing CIFAR-100 on one GPU and on two.",
    alt="Six panels: a table of yes and no by method; a falling outer loss in two colours; memory"
    " that rises with depth for RGU and stays level for (FG)2U; test accuracy against depth;"
    " accuracy against memory for three methods; time that falls as memory grows, lower with two"
    " processes.",
)
