"""Live bytes of every method against inner steps, directions at a time and meta variables."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Table,
    Task,
    at_least,
    at_most,
    claims,
    columns_of,
    equal,
    less_than,
    more_than,
    ours,
    param,
    value,
)
from reproductions.fg2u.live_memory import quantities as q
from reproductions.fg2u.live_memory.experiment import Counted, Setting, settings

COUNTED = ours(
    "DEV-08",
    elsewhere="smoke has a net of its own, and few methods",
    deterministic=True,
)

task = Task(
    "fg2u/abl_memory",
    reads=(settings,),
    table=Table.of(
        columns_of(
            Setting, "net", "device", "depth", "inner_batch", "num_images", "outer_batch"
        ),
        param("method", str, "Method; `plain` is the unroll without a derivative."),
        param("keep", int, "Last steps that TRGU walks back; 0 for others."),
        param("segment", int, "Steps per mixflow segment: 1 keeps every state; 0: the root of T."),
        param("chunk", int, "Directions at a time; 0 for methods without."),
        value("num_meta", int, "Entries of phi, N."),
        value("num_inner", int, "Weights of the net, M."),
        value("phi_bytes", int, "Bytes of phi, which are in no peak."),
        value(
            "peak_bytes", int, "Most bytes alive at once beyond phi, data and initial weights;"
            " none where a GPU had no room.", nullable=True,
        ),
    ),
    claims=claims(
        "Figure 1 and section 3.1",
        (
            "forward_free_of_depth",
            CHECK,
            at_most(partial(q.largest_growth, one=q.FG2U), 1.05, "ratio"),
            "(FG)2U holds at 64 inner steps at most 1.05 times what it holds at 8 (largest ratio"
            " over nets).",
        ),
        (
            "reverse_grows_with_depth",
            CHECK,
            at_least(partial(q.least_growth, one=q.RGU), 4, "ratio"),
            "RGU holds at 64 inner steps at least 4 times what it holds at 8 (least ratio over"
            " nets).",
        ),
        (
            "affine_in_chunk",
            CHECK,
            at_least(q.least_fit, 0.98, "R^2"),
            "(FG)2U's peak is affine in the directions at a time (least R^2 over nets).",
        ),
        (
            "free_of_meta_variables",
            CHECK.at(*SMOKE_AND_CPU, elsewhere="a GPU's allocator rounds sizes up"),
            equal(q.largest_excess, 0, "bytes"),
            "With four times the meta variables (FG)2U holds more by the directions and the"
            " gradient, and by nothing else (largest difference over nets and chunks).",
        ),
        (
            "fits_where_reverse_does_not",
            CHECK,
            more_than(q.budget_margin, 1, "ratio"),
            "In a budget that RGU fills with 16 inner steps RGU with 64 has no room and (FG)2U with"
            " 64 has some to spare (the lesser factor, least over nets).",
        ),
        (
            "below_hessian_free",
            COUNTED,
            less_than(
                partial(q.over_method, other=q.HESSIAN_FREE, equal_batches=False), 1, "ratio"
            ),
            "One direction at a time holds less than Hessian-free, at the released code's five"
            " outer images per inner one (largest ratio over nets).",
        ),
        (
            "below_trgu",
            COUNTED,
            less_than(
                partial(q.over_method, other=Counted(method="trgu", keep=5), equal_batches=False),
                1,
                "ratio",
            ),
            "One direction at a time holds less than TRGU that keeps 5 steps (the paper does not"
            " state how many), at the released code's five outer images per inner one (largest"
            " ratio over nets).",
        ),
    )
    + claims(
        "section 3.2, on memory of a forward derivative",
        (
            "one_direction_mlp",
            COUNTED,
            at_most(partial(q.over_plain, family="mlp"), 2.5, "ratio"),
            "On an MLP one direction holds at most 2.5 times a plain unroll (the paper: 2).",
        ),
        (
            "one_direction_convnet",
            COUNTED,
            at_most(partial(q.over_plain, family="convnet"), 2.5, "ratio"),
            "On a ConvNet one direction holds at most 2.5 times a plain unroll (the paper: 2).",
        ),
    )
    + claims(
        "MixFlow-MG, arXiv 2505.00793, beside Figure 1",
        (
            "mixflow_with_checkpoints",
            CHECK,
            at_least(q.saving, 4, "ratio"),
            "Over 64 inner steps RGU holds at least 4 times what mixflow does with states kept at"
            " every 8th step: both give the same exact gradient (least ratio over nets).",
        ),
    )
    + claims(
        "ours, beside Figure 1",
        (
            "one_direction_many_outer_images",
            COUNTED.asked_by_us(),
            at_most(partial(q.over_method, other=q.PLAIN, equal_batches=False), 2.5, "ratio"),
            "With five outer images per inner one, where the outer loss sets the peak, one"
            " direction holds at most 2.5 times a plain unroll (largest ratio over nets).",
        ),
        (
            "below_hessian_free_equal_batches",
            COUNTED.asked_by_us(),
            less_than(partial(q.over_method, other=q.HESSIAN_FREE, equal_batches=True), 1, "ratio"),
            "With as many outer as inner images one direction at a time holds less than"
            " Hessian-free (largest ratio over nets).",
        ),
        (
            "below_trgu_of_one_step",
            COUNTED.asked_by_us(),
            less_than(
                partial(q.over_method, other=Counted(method="trgu", keep=1), equal_batches=True),
                1,
                "ratio",
            ),
            "With as many outer as inner images one direction at a time holds less than TRGU that"
            " keeps one step (largest ratio over nets).",
        ),
    ),
    figure="figures:memory_panels",
    draws_seeds=False,
    caption="Most bytes alive at once during one estimate, beyond phi, data and initial weights,"
    " in units of the plain unroll: against inner steps T, against directions at a time, and with"
    " four times as many meta variables (N, beside the same at N). Storages are counted on a CPU,"
    " on a GPU the allocator's peak is read. No seed changes these numbers.",
    alt="Per net three panels: memory against inner steps, where RGU rises in proportion and (FG)2U"
    " is flat; memory against directions at a time, straight lines; and bars by method at N and"
    " 4 N, nearly equal.",
)  # fmt: skip
