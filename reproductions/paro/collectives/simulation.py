"""A step of every strategy, message by message: what GPUs send and hold, beside the formulas."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Cell,
    Criterion,
    Layout,
    Line,
    Task,
    claims,
    equal,
)
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import steps
from reproductions.paro.method.strategy import ALL

EXACT = CHECK.at(*SMOKE_AND_CPU, elsewhere="messages are counted, at any scale alike")


def none(value: str, unit: str) -> Criterion:
    """Ask that a column is 0 throughout."""
    return equal(partial(q.largest, value=value), 0, unit)


LAYOUT = Layout(
    rows=tuple(
        Line(
            strategy.letters,
            group="kept" if strategy.is_effective else "left out",
            where={"strategy": strategy.letters},
        )
        for strategy in sorted(ALL, key=lambda each: not each.is_effective)
    ),
    columns=(
        *(
            Line(head, group=way, where={"world": world}, cell=Cell(name, digits=0))
            for world, way in {**table.WAYS, "hier": "PaRO-CC, phases in turn"}.items()
            for name, head in (
                ("inter_bytes", "between groups"),
                ("intra_bytes", "within"),
                ("rounds", "rounds"),
            )
        ),
        Line("held", where={"world": "flat"}, cell=Cell("held_bytes", digits=0)),
    ),
    cell=Cell("held_bytes", digits=0),
    where={"num_gpus": 15, "group_size": 5, "accumulation": 1},
    title="Bytes that the busiest of 15 GPUs in groups of 5 sends in a step, and holds",
    notes=(
        "47 trainable and 13 frozen parameters of 2 bytes, padded to 60 and 15; gradients of 2 and"
        " states of 12 bytes; one micro-batch.",
        "Counted, and equal to the formulas term by term. PaRO-CC's phases take turns here, as in"
        " the released code; in two steps they send the same bytes in fewer rounds.",
        "The paper has no such table.",
    ),
    ours=True,
)
task = Task(
    "paro/simulation",
    own_kind="theory",
    reads=(steps,),
    table=table.COUNTED,
    layout=LAYOUT,
    claims=claims(
        "Tables 4 to 7, as rebuilt; all 27 strategies, with one ring of all GPUs and with PaRO-CC",
        (
            "step_is_right",
            EXACT,
            equal(partial(q.total, value="wrong_blocks"), 0, "blocks"),
            "In both passes every GPU has all parameters, and after the step each holds, at its"
            " strategy's granularities, the parameters and states of one process, to the last"
            " integer (blocks that are missing or differ).",
        ),
        (
            "collectives_send_least",
            EXACT,
            equal(partial(q.total, value="other_collectives"), 0, "terms"),
            "A search over collectives, told only who holds what and who needs what, finds those of"
            " the method's schedule: the fewest of those that send least (terms for which it finds"
            " others; on clusters of several groups of several GPUs).",
        ),
        (
            "bytes_between_groups",
            EXACT,
            none("inter_difference", "bytes"),
            "What the busiest GPU sends out of its group is what the formulas say, in every term"
            " (largest difference).",
        ),
        (
            "bytes_within_groups",
            EXACT,
            none("intra_difference", "bytes"),
            "What the busiest GPU sends within its group is what the formulas say, in every term"
            " (largest difference).",
        ),
        (
            "bytes_on_a_shared_link",
            EXACT,
            none("link_difference", "bytes"),
            "What leaves a group is what the formulas say of a link that its GPUs share, in every"
            " term (largest difference).",
        ),
        (
            "rounds",
            EXACT,
            none("round_difference", "rounds"),
            "A term has as many rounds as its rings have GPUs, less one each, ring after ring; with"
            " PaRO-CC its phases take turns (largest difference).",
        ),
        (
            "held_bytes",
            EXACT,
            none("held_difference", "bytes"),
            "What a GPU keeps is what the formula of memory says of padded sizes (largest"
            " difference).",
        ),
        (
            "affine_in_accumulation",
            EXACT,
            equal(q.bend, 0, "bytes"),
            "Bytes and rounds grow by the same number with every micro-batch (largest second"
            " difference over 1, 2 and 3).",
        ),
    ),
)
