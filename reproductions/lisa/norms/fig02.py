"""Figure 2: norms by layer under LoRA and under full training."""

from __future__ import annotations

from functools import partial

from harness.declare import CPU, PAPER, Task, claims, ours, ratio, within
from reproductions.lisa.models.names import QUALITY
from reproductions.lisa.norms import quantities as q
from reproductions.lisa.norms import table
from reproductions.lisa.norms.claims import MOVE, SPREAD, of_drawn
from reproductions.lisa.norms.experiment import drawn, trained

WHERE = "Figure 2 and its section"
MODELS = ("gpt2-small", "llama-2-7b")
TRAINED = ours(
    "DEV-04",
    profiles=CPU,
    elsewhere="the in-house model is trained at cpu; the paper's need their weights",
)
task = Task(
    "lisa/fig02",
    reads=(drawn, trained),
    table=table.norms_of(*MODELS, seed=table.TRAINING_OR_DRAW),
    claims=of_drawn(*MODELS, names="GPT2-Small and LLaMA-2-7B", where=WHERE)
    + claims(
        f"{WHERE}; in-house stand-in, see DEV-07",
        (
            "full_profile_is_flat",
            TRAINED.at(
                *PAPER, elsewhere="eight blocks that start alike could not come to differ by twice"
            ),
            ratio(partial(q.block_pairs, model=QUALITY), 1 / SPREAD, SPREAD),
            "In a trained LLaMA-2-7B no block's norm is more than twice another's under full"
            " training, in the mean over its steps.",
        ),
    )
    + claims(
        f"ours, beside {WHERE}; in-house stand-in, see DEV-07",
        (
            "training_hardly_moves_adapters",
            TRAINED.asked_by_us(),
            within(partial(q.adapters_moved, model=QUALITY), -MOVE, MOVE, "share")
            .naming("embedding", *(f"block {number}" for number in range(8)), "head")
            .measuring("the norm above that before any step"),
            "Ours, not the paper's: in a trained LLaMA-2-7B no adapter's norm, in the mean over"
            " training, differs by more than 10 % from that before any step.",
        ),
    ),
    figure="figures:norm_panels",
    caption="L2 norm of all parameters of a layer: E and P embeddings of tokens and positions, H"
    " head. Broad grey line: what the initialiser gives adapters, in closed form. Plus signs:"
    " adapters drawn at the paper's widths and rank 128, before any step; one block of LLaMA-2-7B,"
    " as all are drawn alike. Hollow and dashed: the paper's early version, means over its"
    " training; GPT-2's head is its token embedding, which it shows twice and we once. The in-house"
    " model: means over 122 steps of fine-tuning, each method at the rate of its least validation"
    " loss. Last panel: largest layer over the median one. Points: mean over seeds; bars: standard"
    " error.",
    alt="Panels of layer norms on a log axis. In GPT2-Small and LLaMA-2-7B untrained adapters and"
    " the early version's curve for LoRA lie on the closed form of the initialiser, high at the"
    " token embedding and low at blocks; its curve for full training has blocks that are alike. A"
    " third panel has the in-house model, trained, and a last one how far its largest layer stands"
    " out.",
)
