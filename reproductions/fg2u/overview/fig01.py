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
from reproductions.fg2u.overview import paper_values
from reproductions.fg2u.overview import quantities as q
from reproductions.fg2u.overview.experiment import capabilities, timings
from reproductions.fg2u.overview.table import OVERVIEW

CHUNKS = (1, 2, 4, 8, 16)
"""Directions at a time."""
TIMED = ours(
    "DEV-14",
    profiles=CPU,
    elsewhere="the smoke problem shows the path, and no GPU's times are declared",
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
            equal(q.num_other_flags, 0, "flags"),
            "RGU, Neumann, TRGU, Hessian-free and (FG)²U can do what the paper's table says:"
            " constant memory (live bytes at 64 inner steps at most 1.05 of those at 8), no product"
            " with the Hessian in an inverse of it, a finite estimate where inner steps"
            " take mini-batches in turn (flags that differ). The last could hardly differ: what an"
            " implicit method makes of the batches before the last is not asked.",
        ),
        (
            "fg2u_mean_is_exact",
            CHECK,
            at_most(partial(q.bias_of, method="fg2u"), q.EXACT, "relative"),
            "The mean of (FG)²U over all coordinate directions is RGU's gradient (distance over"
            " its norm).",
        ),
    )
    + claims(
        "Figure 1, bottom right, and section 3.2",
        (
            "faster_in_chunks",
            TIMED,
            ratio(timed(q.chunked_over_single), 0, 0.7).beside_derived(
                paper_values.chunked_over_single
            ),
            "A direction of (FG)²U takes at most 0.7 times as long with 16 at a time as with one.",
        ),
        (
            "time_falls_with_memory",
            TIMED,
            monotone(timed(q.from_largest_chunk), "s").naming(
                *(f"{many} against {few} at a time" for many, few in pairwise(CHUNKS[::-1]))
            ),
            "The time of a gradient falls with every doubling of the directions at a time.",
        ),
        (
            "last_doubling_saves_little",
            TIMED,
            at_most(timed(q.last_doubling), 0.1, "share of the time").beside_derived(
                paper_values.last_doubling
            ),
            "The last doubling of the directions at a time saves less than a tenth of the time.",
        ),
        (
            "two_workers_speed_up",
            TIMED,
            ratio(timed(q.speed_ups), 1.5, inf, "times")
            .naming(*(f"{chunk} at a time" for chunk in CHUNKS[:-1]))
            .beside_derived(paper_values.least_speed_up),
            "Two processes take a gradient at least 1.5 times as fast as one, at every number of"
            " directions at a time that both can have.",
        ),
        (
            "slower_at_equal_memory",
            TIMED,
            ratio(timed(q.at_memory_of), 1, inf, "times").beside_derived(
                paper_values.at_memory_of_trgu
            ),
            "At no more memory than TRGU's, in one process, (FG)²U is slower.",
        ),
    ),
    figure="figures:overview_panels",
    caption="Hypergradient methods on digits. Top left: what each can do, measured on a small net"
    " (bias: distance of the mean estimate from the exact gradient, over its norm). Top centre:"
    " outer loss along two phases. Top right and bottom left: memory of one gradient, and test"
    " accuracy of condensed digits, against inner steps; (FG)²U with 32 directions at a time."
    " Bottom centre: accuracy against memory, both beside Hessian-free's. Bottom right: time"
    " against memory as more directions are taken at a time, in one process and in two. Hollow:"
    " the paper's, online adaptation (top right) and condensation of CIFAR-100 on one GPU and on"
    " two; its F1 by depth stands in the reference file.",
    alt="Six panels: a table of yes and no by method; a falling outer loss in two colours; memory"
    " that rises with depth for RGU and stays level for (FG)2U; test accuracy against depth;"
    " accuracy against memory for three methods; time that falls as memory grows, lower with two"
    " processes.",
)
