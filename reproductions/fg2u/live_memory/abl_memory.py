"""Live bytes of every method against inner steps, directions at a time and meta variables."""

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
    elsewhere="`smoke` counts few methods",
    deterministic=True,
)

GROWTH = "memory at 64 steps over that at 8"
OVER_PLAIN = "memory of (FG)²U over a plain unroll's, largest over nets"

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
        value("seconds", float, "Of one estimate on a GPU; none on a CPU.", nullable=True),
    ),
    claims=claims(
        "Figure 1 and section 3.1",
        (
            "forward_free_of_depth",
            CHECK,
            at_most(partial(q.largest_growth, one=q.FG2U), 1.05, "ratio").measuring(GROWTH),
            "The memory of (FG)²U does not grow with the inner steps.",
        ),
        (
            "reverse_grows_with_depth",
            CHECK,
            at_least(partial(q.least_growth, one=q.RGU), 4, "ratio").measuring(GROWTH),
            "The memory of RGU grows with the inner steps.",
        ),
        (
            "affine_in_chunk",
            CHECK,
            at_least(q.least_fit, 0.98, "R^2").measuring("least R² over the nets"),
            "The peak of (FG)²U is affine in the directions at a time.",
        ),
        (
            "free_of_meta_variables",
            CHECK.at(*SMOKE_AND_CPU, elsewhere="a GPU's allocator rounds sizes up"),
            equal(q.largest_excess, 0, "bytes"),
            "With four times the meta variables (FG)²U holds larger directions and a larger"
            " gradient, and nothing else.",
        ),
        (
            "fits_where_reverse_does_not",
            CHECK,
            more_than(q.budget_margin, 1, "ratio").measuring("the lesser of the two factors"),
            "Memory that RGU fills in 16 inner steps is too little for RGU in 64, and enough for"
            " (FG)²U.",
        ),
        (
            "less_memory_than_biased",
            COUNTED,
            less_than(
                partial(
                    q.over_methods,
                    others=(q.HESSIAN_FREE, Counted(method="trgu", keep=5)),
                    equal_batches=False,
                ),
                1,
                "ratio",
            )
            .naming("over Hessian-free", "over TRGU of 5 steps")
            .measuring("memory of (FG)²U over the other's"),
            "With one direction at a time (FG)²U holds less memory than Hessian-free and TRGU.",
        ),
    )
    + claims(
        "section 3.2, on memory of a forward derivative",
        (
            "twice_a_plain_unroll",
            COUNTED,
            at_most(
                partial(q.over_methods, others=(q.PLAIN,), equal_batches=True), 2.5, "ratio"
            ).measuring(OVER_PLAIN),
            "One direction of (FG)²U holds at most 2.5 times the memory of a plain unroll.",
        ),
    )
    + claims(
        "MixFlow-MG, arXiv 2505.00793, beside Figure 1",
        (
            "mixflow_with_checkpoints",
            CHECK,
            at_least(q.saving, 4, "ratio").measuring("memory of RGU over MixFlow's"),
            "MixFlow with checkpoints needs a fraction of RGU's memory.",
        ),
    )
    + claims(
        "ours, beside Figure 1",
        (
            "twice_with_large_outer_batch",
            COUNTED.asked_by_us(),
            at_most(
                partial(q.over_methods, others=(q.PLAIN,), equal_batches=False), 2.5, "ratio"
            ).measuring(OVER_PLAIN),
            "With five outer images per inner one, too, one direction holds about twice a plain"
            " unroll.",
        ),
        (
            "less_than_biased_equal_batches",
            COUNTED.asked_by_us(),
            less_than(
                partial(
                    q.over_methods,
                    others=(q.HESSIAN_FREE, Counted(method="trgu", keep=1)),
                    equal_batches=True,
                ),
                1,
                "ratio",
            )
            .naming("over Hessian-free", "over TRGU of one step")
            .measuring("memory of (FG)²U over the other's"),
            "At equal batches one direction holds less memory than Hessian-free and TRGU of one"
            " step.",
        ),
    ),
    figure="figures:memory_panels",
    draws_seeds=False,
    caption="Most bytes alive at once during one gradient, beyond phi, data and initial weights,"
    " over those of an unroll without derivatives: against inner steps T, against directions at a"
    " time, and with N and 4 N meta variables. Storages are counted on a CPU; on a GPU the"
    " allocator's peak is read.",
    alt="Per net three panels: memory against inner steps, where RGU rises in proportion and (FG)2U"
    " is flat; memory against directions at a time, straight lines; and bars by method at N and"
    " 4 N, nearly equal.",
)  # fmt: skip
