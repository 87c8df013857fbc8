"""What holds the memory of a step on SmolLM2, counted and by arithmetic, beside Figure 3."""

from functools import partial

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Cell,
    Layout,
    Line,
    Table,
    Task,
    claims,
    within,
)
from reproductions.lisa.compared import quantities as q
from reproductions.lisa.compared import table
from reproductions.lisa.compared.experiment import SMOLLM_SHAPE, held
from reproductions.lisa.models.steps.held import arithmetic_is_the_count, as_computed

COUNTED = CHECK.at(*SMOKE_AND_CPU)
PARTS = {
    "weights": "weights_bytes",
    "gradients": "gradients_bytes",
    "moments": "moments_bytes",
    "activations": "saved_bytes",
    "sum": "total_bytes",
}


task = Task(
    "lisa/compared_memory",
    own_kind="table",
    reads=(held,),
    table=Table.of(table.HELD),
    layout=Layout(
        rows=table.GROUPED[1:],
        columns=tuple(
            Line(head, cell=Cell(name, unit="GB", scale=1e9, digits=3, seeded=False))
            for head, name in PARTS.items()
        ),
        where={"shape": SMOLLM_SHAPE, "how": "count"},
        title="Memory of one step",
        notes=(
            "Float32, 8 sequences of 64 tokens, eager attention, all counted in a real step.",
            "Static: weights, gradients and moments. LoRA has no adapters on embedding and head.",
        ),
        ours=True,
    ),
    claims=claims(
        "Figure 3 and section 4.1",
        *as_computed(COUNTED),
        arithmetic_is_the_count(COUNTED),
    )
    + claims(
        "ours: what two of the LoRAs are",
        (
            "ranks_give_equal_memory",
            COUNTED,
            within(
                partial(q.static_over, one="lisa", others=("lora_equal", "lora_ends")), 0.9, 1.0
            ).naming("LoRA", "LoRA and E+H"),
            "LoRA set to LISA's static memory holds no more than LISA, and at most a tenth less.",
        ),
    ),
    figure="figures:held_bars",
    caption="Weights, activations, gradients and moments of one real step, stacked; the mark is"
    " their sum by arithmetic. No seed changes these numbers.",
    alt="Stacked horizontal bars of memory by method; full training's is the longest.",
)
