"""Table 4: continual pre-training by full training and by LISA, accuracy and memory."""

from __future__ import annotations

from functools import partial

from harness.declare import (
    CHECK,
    CPU,
    PAPER,
    SMOKE_AND_CPU,
    Cell,
    Layout,
    Line,
    Task,
    at_least,
    at_most,
    claims,
    equal,
    ours,
)
from reproductions.lisa.continual import quantities as q
from reproductions.lisa.continual import table
from reproductions.lisa.continual.experiment import FULL_SIZE, half_of, memory, memory_grid, runs
from reproductions.lisa.models import layouts
from reproductions.lisa.models.claims import (
    IN_HOUSE,
    ON_GSM8K,
    on_gsm8k,
    stand_in,
)
from reproductions.lisa.models.names import QUALITY
from reproductions.lisa.models.scored import VANILLA
from reproductions.lisa.models.step_bytes import static_error, trainable_error

WHERE = "Table 4, on continual pre-training"
COUNTED = CHECK.at(*SMOKE_AND_CPU)
BY_ARITHMETIC = CHECK.at(*CPU, elsewhere="this profile has no step of this model")
ON_OURS = ours(
    "DEV-04",
    profiles=PAPER,
    elsewhere="a quarter of the in-house model is embeddings and head, 4 % of LLaMA-2-7B: its own"
    " memory, in the table, says nothing of the paper's models, whose memory is checked",
    deterministic=True,
)
MODELS = {
    QUALITY: "the in-house model, all tensors counted",
    "tinyllama": "TinyLlama, by arithmetic",
    "llama-2-7b": "LLaMA-2-7B, by arithmetic",
}
MEMORY_AT_HALF = (
    (
        f"memory_at_half_{model.replace('-', '_')}",
        ON_OURS if model == QUALITY else BY_ARITHMETIC,
        at_most(partial(q.memory_ratio, model=model, gamma=half_of(model)), 0.75, "ratio"),
        "With half of the blocks trained at once a step takes at most 0.75 of full training's"
        f" memory ({words}).",
    )
    for model, words in MODELS.items()
)


def rows_of(model: str) -> tuple[Line, ...]:
    """Return a model's rows, LISA's with half of the blocks."""
    half = half_of(model)
    return tuple(
        Line(
            layouts.HEADS[method],
            group=layouts.MODELS[model],
            where={"model": model, "method": method, "gamma": half if method == "lisa" else 0},
        )
        for method in (VANILLA, "lisa", "full")
    )


LAYOUT = Layout(
    rows=(
        *(row for model in (*FULL_SIZE, QUALITY) for row in rows_of(model)),
        *(
            Line(
                f"LISA, gamma = {step.gamma}",
                group=layouts.MODELS[step.shape],
                where={"model": step.shape, "method": "lisa", "gamma": step.gamma},
            )
            for step in memory_grid("cpu")
            if step.method == "lisa" and step.gamma != half_of(step.shape)
        ),
    ),
    columns=(
        Line(
            layouts.PROBLEMS,
            where={"part": "run", "chosen": True},
        ),
        Line(
            "memory",
            where={"part": "step"},
            cell=Cell("total_bytes", unit="GB", scale=1e9, seeded=False),
        ),
    ),
    cell=Cell("accuracy", unit="%", scale=0.01, digits=1),
    notes=(
        "LISA trains half of the blocks at once; its rows with fewer, at the end, are not"
        " Table 4's.",
        "Memory is that of one step, tensors counted on our model, by arithmetic on the paper's;"
        " the untuned model takes none.",
        layouts.VANILLA_IS_UNTUNED,
    ),
    ours=True,
)
task = Task(
    "lisa/tab04",
    reads=(runs, memory),
    table=table.RUNS_AND_MEMORY,
    layout=LAYOUT,
    claims=claims(
        WHERE,
        (
            "trainable_as_computed",
            COUNTED,
            equal(trainable_error, 0, "parameters"),
            "As many parameters train at once as the closed form says (largest difference).",
        ),
        (
            "static_as_computed",
            COUNTED,
            at_most(static_error, 0.03, "share"),
            "Weights, gradients and moments take what the count of parameters says, within 3 %"
            " (largest relative difference; step counters and buffers are the rest).",
        ),
        *MEMORY_AT_HALF,
    )
    + claims(
        stand_in(WHERE),
        (
            "half_as_accurate_as_full",
            IN_HOUSE,
            at_least(
                partial(q.lead_in_errors, gamma=half_of(QUALITY)), -1, "standard errors"
            ).measuring("accuracy of LISA less that of full training"),
            "LISA with half of the blocks is on test problems of GSM8K at most one standard error"
            " less accurate than full training. The numbers of steps were set so that full training"
            " solves half, which may be too few for LISA.",
        ),
    )
    + claims(
        WHERE,
        (
            "half_as_accurate_as_full_on_gsm8k",
            ON_GSM8K,
            at_least(on_gsm8k, -1, "standard errors").measuring(
                "accuracy of LISA less that of full training"
            ),
            "On GSM8K itself, LLaMA-2-7B after continual pre-training by LISA with 16 blocks is at"
            " most one standard error less accurate than by full training.",
        ),
    ),
    figure="figures:memory_and_accuracy",
    caption="Left: memory of one training step of LISA as a share of full training's, tensors"
    " counted (in-house model) or by arithmetic (the paper's models, 512 tokens), against the share"
    " of blocks that train at once; no seed changes it. Right: test problems solved against that"
    " memory for the in-house model, after continual pre-training and fine-tuning, each method at"
    " its chosen rate; small dots: seeds, large ones: their mean. The problems are ours, not"
    " GSM8K.",
    alt="Left panel: lines of memory share that rise with the share of trained blocks and stay"
    " below one. Right panel: one cloud of dots per method, accuracy against memory share, full"
    " training at a share of one.",
)
