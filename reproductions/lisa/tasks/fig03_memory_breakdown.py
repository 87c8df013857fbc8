"""Figure 3: what holds the memory of full training, LoRA and LISA."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.profiles import Profile
from reproductions.lisa.claims import CPU_UP, GPU_UP, NEEDS_GPU, ON_A_CPU, counted, exact
from reproductions.lisa.experiments import memory
from reproductions.lisa.memory_quantities import (
    ACTIVATIONS_GB,
    PARTS,
    arithmetic_error,
    bytes_ratio,
    total_at_activations,
)
from reproductions.lisa.memory_views import BREAKDOWN_COLUMNS, breakdown_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

ON_CPU: tuple[Profile, ...] = ("cpu",)
WHERE = "Figure 3 and section 4.1"
TINY = partial(bytes_ratio, shape="tiny-deep", value="saved_bytes")
SEVEN_B = partial(bytes_ratio, shape="llama-2-7b", value="saved_bytes")
FULL, LISA = {"method": "full"}, {"method": "lisa"}
DROPPED, PLAIN = {"method": "lora", "dropout": 0.1}, {"method": "lora", "dropout": 0.0}

CLAIMS = (
    exact(
        "arithmetic_is_the_count",
        "On the meta device every part has the bytes of a real step (largest difference over"
        " methods): what is said of models too large to run rests on it.",
        where=WHERE,
        form="equal",
        quantity=partial(arithmetic_error, values=tuple(PARTS)),
        bound=0.0,
        unit="bytes",
        profiles=ON_A_CPU,
    ),
    *(
        counted(
            f"{name}{suffix}",
            f"{statement} ({model}; largest ratio over sequence lengths).",
            where=WHERE,
            form="at_most",
            quantity=partial(ratio, one=one, other=other),
            bound=bound,
            unit="ratio",
            profiles=profiles,
        )
        for suffix, model, ratio, profiles in (
            ("", "a model of 32 small blocks, counted", TINY, ON_CPU),
            ("_7b", "LLaMA-2-7B, arithmetic", SEVEN_B, CPU_UP),
        )
        for name, statement, one, other, bound in (
            (
                "lisa_saves_activations",
                "LISA's activations are at most 0.9 of full training's",
                LISA,
                FULL,
                0.9,
            ),
            (
                "dropout_costs_activations",
                "Full training's activations are at most LoRA's with dropout 0.1",
                FULL,
                DROPPED,
                1.0,
            ),
            (
                "lisa_below_lora",
                "LISA's activations are below LoRA's without dropout",
                LISA,
                PLAIN,
                1.0 - 1e-9,
            ),
        )
    ),
    counted(
        "fits_24_gb",
        "LISA with two blocks of LLaMA-2-7B reserves 24 GB or less, a card that the paper names, at"
        " the length at which full training's activations are nearest to the paper's.",
        where=WHERE,
        form="at_most",
        quantity=partial(total_at_activations, near_gb=ACTIVATIONS_GB),
        bound=24.0,
        unit="GB",
        profiles=GPU_UP,
        out_of_profile=NEEDS_GPU,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw stacked bars."""
    from reproductions.lisa.memory_figures import breakdown_bars

    return breakdown_bars(context)


task = old_task(
    id="lisa/fig03",
    title="What holds the memory of a step",
    reads=(memory.experiment,),
    columns=BREAKDOWN_COLUMNS,
    claims=CLAIMS,
    view=breakdown_table,
    figure=draw,
    caption="Weights, activations, gradients and moments of one step, stacked. LLaMA-2-7B by"
    " arithmetic, at the length whose activations under full training are nearest to those of the"
    " paper, which does not state its own. Hollow and dashed: totals of the paper's early version."
    " No seed changes these numbers.",
    alt="Stacked horizontal bars of memory for full training, LoRA with and without dropout and"
    " LISA: in the large model gradients and moments fill most of full training's bar and little"
    " of the others'; in the small one activations fill all.",
)
