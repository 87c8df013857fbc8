"""Table 4: continual pre-training by full training and by LISA, accuracy and memory."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.claims import Claim
from harness.declare.old import old_task
from reproductions.lisa.claims import ON_A_CPU, counted, exact
from reproductions.lisa.continual import experiment as continual
from reproductions.lisa.continual import memory as continual_memory
from reproductions.lisa.continual.claims import CPU, on_gsm8k_itself, on_word_problems
from reproductions.lisa.continual.memory import half_of
from reproductions.lisa.continual.quantities import lead_in_errors, memory_ratio
from reproductions.lisa.continual.table import BOTH_COLUMNS, runs_and_memory
from reproductions.lisa.memory.quantities import static_error, trainable_error

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Table 4, on continual pre-training"
MODELS = {
    "tiny-quality": "the in-house model, all tensors counted",
    "tinyllama": "TinyLlama, by arithmetic",
    "llama-2-7b": "LLaMA-2-7B, by arithmetic",
}


def memory_at_half(model: str, words: str) -> Claim:
    """Return the claim on one model's memory."""
    return counted(
        f"memory_at_half_{model.replace('-', '_')}",
        f"With half of the blocks trained at once a step takes at most 0.75 of full training's"
        f" memory ({words}).",
        where=WHERE,
        form="at_most",
        quantity=partial(memory_ratio, model=model, gamma=half_of(model)),
        bound=0.75,
        unit="ratio",
        profiles=CPU,
        out_of_profile="this profile has no step of this model",
    )


CLAIMS = (
    exact(
        "trainable_as_computed",
        "As many parameters train at once as the closed form says (largest difference).",
        where=WHERE,
        form="equal",
        quantity=trainable_error,
        bound=0.0,
        unit="parameters",
        profiles=ON_A_CPU,
    ),
    exact(
        "static_as_computed",
        "Weights, gradients and moments take what the count of parameters says, within 3 %"
        " (largest relative difference; step counters and buffers are the rest).",
        where=WHERE,
        form="at_most",
        quantity=static_error,
        bound=0.03,
        unit="share",
        profiles=ON_A_CPU,
    ),
    *(memory_at_half(model, words) for model, words in MODELS.items()),
    on_word_problems(
        "half_as_accurate_as_full",
        "LISA with half of the blocks solves no fewer test problems than full training, minus one"
        " standard error of full training's accuracy.",
        where=WHERE,
        form="at_least",
        quantity=partial(lead_in_errors, gamma=half_of("tiny-quality")),
        bound=-1.0,
        unit="standard errors",
    ),
    on_gsm8k_itself(
        "half_as_accurate_as_full_on_gsm8k",
        "On GSM8K itself, LLaMA-2-7B after continual pre-training by LISA with 16 blocks is no less"
        " accurate than by full training, minus one standard error.",
        where=WHERE,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw memory by gamma, and accuracy against memory."""
    from reproductions.lisa.continual.figures import memory_and_accuracy

    return memory_and_accuracy(context)


task = old_task(
    id="lisa/tab04",
    title="Continual pre-training: accuracy on word problems, and memory",
    reads=(continual.experiment, continual_memory.experiment),
    columns=BOTH_COLUMNS,
    claims=CLAIMS,
    view=runs_and_memory,
    figure=draw,
    caption="Left: memory of one training step of LISA as a share of full training's, tensors"
    " counted (in-house model) or by arithmetic (the paper's models, 512 tokens), against the share"
    " of blocks that train at once; no seed changes it. Right: test problems solved against that"
    " memory for the in-house model, after continual pre-training and fine-tuning, each method at"
    " its chosen rate; small dots: seeds, large ones: their mean. The problems are ours, not"
    " GSM8K.",
    alt="Left panel: lines of memory share that rise with the share of trained blocks and stay"
    " below one. Right panel: one cloud of dots a method, accuracy against memory share, full"
    " training at a share of one.",
)
