"""Online adaptation of models handed in: the paper's own setting, and one of its size on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Profile, doc
from reproductions.fg2u.adaptation.experiment import (
    FIRST_DEPTH,
    NUM_DIRECTIONS,
    SIZES,
    Method,
    Size,
    Stream,
    Weighing,
)

SEEDS = range(5)
BASES: dict[str, dict[Size, str]] = {
    "gpu": {"small": "smollm2-135m", "large": "smollm2-135m"},
    "paper": {"small": "distilgpt2", "large": "gpt2"},
}
READERS = {
    "gpu": "small=smollm2-135m",
    "paper": "small=distilgpt2 large=gpt2-large largest=gpt2-xl",
}
WINDOWS = {"gpu": 128, "paper": 512}
FILES = {"streamingqa": "streamingqa", "squadseq": "squad_seq"}
STEPS = {"gpu": (40, 8), "paper": (2000, 200)}
"""Outer steps of the phases; the paper prints none."""
STREAM_LRS = (1.5625e-6, 6.25e-6, 2.5e-5, 1e-4)
"""The example of the released evaluation."""
SECOND_LR = 2.5e-6
CONTROL_LRS = (1e-5, 5e-6, SECOND_LR, 1.25e-6)
"""RGU goes on with each: as many candidates as (FG)2U's two depths and two bases."""


class Given(Weighing):
    """Learning with models handed in: RGU, and from there a second phase of either method."""

    base: str = doc("Folder of the model whose adaptation is unrolled.")
    trunk: str = doc("Folder of the model that the weight model starts from.")
    readers: str = doc("Models that read the stream: a name for the table, and a folder.")
    window: int = doc("Tokens of a document; longer ones are cut.")
    weight_model: Literal["whole", "layer"] = doc(
        "whole: a trunk of its own and two layers, as in the paper; layer: one, on a frozen trunk."
    )
    second_steps: int = doc("Outer steps of the second phase; 0 without.", default=0)
    second_lr: float = doc("Step size of outer Adam there; 0 without.", default=0.0)
    documents: str = doc("File of the stream in the folder, or the staged SQuAD articles: staged.")
    first_accumulate: int = doc("Episodes that an outer step of RGU averages.", default=1)
    checkpoint: str = doc("Folder of models and documents.", default="not given")


def given(
    profile: Profile, stream: Stream, method: Method, meta_base: Size, depth: int, *, seed: int
) -> Given:
    """Return RGU on the small base, or that and then (FG)2U."""
    is_second, bases = method == "fg2u", BASES[profile]
    first, second = STEPS[profile]
    return Given(
        stream=stream, phase=2 if is_second else 1, method=method, meta_base=meta_base,
        depth=depth, num_directions=NUM_DIRECTIONS[meta_base] if is_second else 0,
        accumulate=(32 if is_second else 4) if profile == "paper" else 1, steps=first, lr=1e-5,
        inner_lr=5e-4, divergence="updated_initial", scale="full", seed=seed,
        base=bases[meta_base], trunk=bases["small"], readers=READERS[profile],
        window=WINDOWS[profile],
        weight_model="whole" if profile == "paper" else "layer",
        second_steps=second if is_second else 0,
        second_lr=SECOND_LR if is_second else 0.0, documents=FILES[stream],
        first_accumulate=4 if profile == "paper" else 1,
    )  # fmt: skip


def longer(profile: Profile, stream: Stream, *, lr: float, seed: int) -> Given:
    """Return RGU that goes on for as many outer steps as (FG)2U, of as many episodes each."""
    first = given(profile, stream, "rgu", "small", FIRST_DEPTH, seed=seed)
    beside = given(profile, stream, "fg2u", "small", FIRST_DEPTH, seed=seed)
    return replace(
        first, phase=2, accumulate=beside.accumulate, second_steps=beside.second_steps, second_lr=lr
    )


def given_grid(profile: Profile) -> Iterator[Given]:
    """Yield RGU and (FG)2U at the paper's depths and bases, and RGU for as many steps.

    On a GPU one base and one depth.
    """
    if profile == "gpu":
        for method, depth in (("rgu", FIRST_DEPTH), ("fg2u", 24)):
            name: Method = "rgu" if method == "rgu" else "fg2u"
            point = given(profile, "squadseq", name, "small", depth, seed=0)
            # A layer alone: a whole trunk has too many entries for so few directions and steps.
            second_lr = 2.5e-3 if name == "fg2u" else 0.0
            yield replace(point, lr=1e-2, second_lr=second_lr, documents="staged")
    if profile == "paper":
        streams: tuple[Stream, ...] = ("streamingqa", "squadseq")
        for seed in SEEDS:
            for stream in streams:
                yield given(profile, stream, "rgu", "small", FIRST_DEPTH, seed=seed)
                for lr in CONTROL_LRS:
                    yield longer(profile, stream, lr=lr, seed=seed)
                for size in SIZES:
                    for depth in (24, 48):
                        yield given(profile, stream, "fg2u", size, depth, seed=seed)


def needs(params: Given) -> Needs:
    """Return a GPU, one of the paper's memory for its setting, and the staged articles if read."""
    room = 75 * 2**30 if params.weight_model == "whole" else 40 * 2**30
    data = ("squad_docs",) if params.documents == "staged" else ()
    packages = ("transformers", "tokenizers")
    return Needs(data=data, device="cuda", gpu_bytes=room, packages=packages)


def estimate(params: Given) -> Estimate:
    """Return hours by the paper's cost of a step; on a GPU minutes."""
    first = params.steps * FIRST_DEPTH * params.first_accumulate
    along = max(1, params.num_directions)
    passes = first + params.second_steps * params.depth * params.accumulate * along
    return Estimate(seconds=60.0 + passes * (0.05 if params.weight_model == "whole" else 0.002))


def stands_in(params: Given) -> dict[str, str]:
    """Return what was run in the place of the paper's models."""
    return {"DistilGPT2": "SmolLM2-135M"} if params.base == "smollm2-135m" else {}


handed_in = Experiment(
    "fg2u/adaptation_given",
    version=1,
    params=Given,
    grid=given_grid,
    run="given_trial:given_rows",
    needs=needs,
    estimate=estimate,
    dry_run="given_trial:dry_run",
    timeout_s=72 * 3600.0,
    address=("stream", "method", "base", "depth", "second_lr", "seed"),
    stands_in=stands_in,
)
