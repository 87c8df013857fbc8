"""A step of every strategy, message by message: what GPUs send and hold, beside the formulas."""

from functools import partial

from harness.declare import SMALL_CHECK, Cell, Layout, Line, Task, at_most, claims, equal
from reproductions.paro.collectives import quantities as q
from reproductions.paro.collectives import table
from reproductions.paro.collectives.experiment import steps
from reproductions.paro.method.strategy import ALL

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
    where={"num_gpus": 15, "group_size": 5, "accumulation": 1},
    title="Bytes that the busiest of 15 GPUs, in groups of 5, sends in a step and holds",
    notes=(
        "47 trainable and 13 frozen parameters, padded to 60 and 15; one micro-batch.",
        "PaRO-CC's phases run in turn, as in the released code; overlapped they send the same"
        " bytes in fewer rounds.",
    ),
    ours=True,
)
task = Task(
    "paro/simulation",
    own_kind="theory",
    reads=(steps,),
    table=table.STEPS,
    layout=LAYOUT,
    claims=claims(
        "Tables 4 to 7, all 27 strategies",
        (
            "step_is_right",
            SMALL_CHECK,
            equal(partial(q.total, value="wrong_blocks"), 0, "blocks"),
            "In both passes and after a step every GPU has the parameters and states that one"
            " process computes.",
        ),
        (
            "collectives_send_least",
            SMALL_CHECK,
            equal(partial(q.total, value="other_collectives"), 0, "terms"),
            "Of all collectives that do the work, the schedule's send least.",
        ),
        (
            "sends_bytes_by_formula",
            SMALL_CHECK,
            at_most(
                partial(
                    q.largest,
                    values=("inter_difference", "intra_difference", "link_difference"),
                ),
                0,
                "bytes",
            ).naming("between groups", "within groups", "on a shared link"),
            "GPUs send the bytes of the formulas.",
        ),
        (
            "rounds",
            SMALL_CHECK,
            at_most(partial(q.largest, values=("round_difference",)), 0, "rounds"),
            "Each ring takes one round less than it has GPUs.",
        ),
        (
            "holds_bytes_by_formula",
            SMALL_CHECK,
            at_most(partial(q.largest, values=("held_difference",)), 0, "bytes"),
            "GPUs keep the bytes of the memory formula.",
        ),
    ),
)
