"""Figure 1: capabilities, two phases, memory and score against depth, time."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, CPU, Task, at_most, claims, equal, ours
from reproductions.fg2u.capabilities import quantities as q
from reproductions.fg2u.capabilities.experiment import capabilities
from reproductions.fg2u.capabilities.table import OVERVIEW
from reproductions.fg2u.condensing.experiment import runs as condensing
from reproductions.fg2u.step_time.experiment import timings

TIMED = ours(
    "DEV-14",
    profiles=CPU,
    elsewhere="times are taken on two cores: the smoke problem shows the path",
)

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
            " with the Hessian in an inverse of it, a mini-batch per inner step (flags that"
            " differ).",
        ),
        (
            "fg2u_mean_is_exact",
            CHECK,
            at_most(partial(q.bias_of, method="fg2u"), 1e-10, "relative"),
            "The mean of (FG)²U over all coordinate directions is RGU's gradient (distance over"
            " its norm).",
        ),
    ),
    figure="figures:overview_panels",
    caption="Hypergradient methods on digits. Top left: what each can do, measured on a small net"
    " (bias: distance of the mean estimate from the exact gradient, over its norm). Top centre:"
    " outer loss along two phases. Top right and bottom left: memory of one gradient, and test"
    " accuracy of condensed digits, against inner steps. Bottom centre: accuracy against memory."
    " Bottom right: time against memory, as more directions are taken at a time. Memory and time"
    " are relative, so that the paper's GPUs (hollow) can stand beside.",
    alt="Six panels: a table of yes and no by method; a falling outer loss in two colours; memory"
    " that rises with depth for RGU and stays level for (FG)2U; test accuracy against depth;"
    " accuracy against memory for three methods; time that falls as memory grows, lower with two"
    " workers.",
)
