"""Weights of tokens for online adaptation: base models, two phases, what a gradient costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, Use, doc, seed, seeds_of

if TYPE_CHECKING:
    from reproductions.fg2u import Estimator

Stream = Literal["streamingqa", "squadseq"]
Size = Literal["small", "large"]
Scale = Literal["tiny", "full", "even"]
Method = Literal["rgu", "fg2u"]
Divergence = Literal["updated_initial", "initial_updated"]

SCALES = (
    "full; even, whose validation stream is as long as its test stream; or tiny for a path that"
    " takes a second."
)
STREAMS: tuple[Stream, ...] = ("streamingqa", "squadseq")
SIZES: tuple[Size, ...] = ("small", "large")
NAMES = {"streamingqa": "StreamingQA", "squadseq": "SQuAD-Seq"}
NUM_SEEDS: dict[Stream, int] = {"streamingqa": 5, "squadseq": 3}
FIRST_DEPTH = 6
"""Of RGU, the paper's own run."""
DEPTHS = (24, 48)
"""Of (FG)2U."""
TINY_DEPTH = 4
"""Of (FG)2U at `smoke`."""
NUM_DIRECTIONS: dict[Size, int] = {"small": 12, "large": 8}
"""The paper's b by base model."""
BLOCKS: dict[Scale, dict[Size, int]] = {
    "tiny": {"small": 1, "large": 2},
    "full": {"small": 2, "large": 4},
    "even": {"small": 2, "large": 4},
}
WIDTHS: dict[Scale, int] = {"tiny": 16, "full": 64, "even": 64}
HEADS = 4
INNER_LR = 0.05
FIRST_LR, SECOND_LR = 0.02, 0.005
"""Of outer Adam; the second is a quarter of the first, as 2.5e-6 is of 1e-5."""
CONTROL_LRS = (0.02, 0.01, SECOND_LR, 0.0025)
"""RGU goes on with each: as many candidates as (FG)2U's two depths and two bases."""
STEPS: dict[Scale, dict[Stream, tuple[int, int]]] = {
    "tiny": {"streamingqa": (2, 1), "squadseq": (2, 1)},
    "full": {"streamingqa": (60, 24), "squadseq": (60, 12)},
    "even": {"streamingqa": (60, 24), "squadseq": (60, 12)},
}
"""Outer steps of the phases."""
BASE_STEPS: dict[Stream, dict[Size, int]] = {
    "streamingqa": {"small": 1500, "large": 2200},
    "squadseq": {"small": 600, "large": 600},
}
"""Until both know some of the facts that they saw; the larger one takes longer. On articles neither
ever does."""
TINY_STEPS = 3
STREAM_LRS = (3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
"""Candidates of Adam while a stream is read, the same for all."""


class BaseTraining(Params):
    """Training of a base model on documents and their questions."""

    stream: Stream = doc("Where documents come from: made-up facts, or the staged SQuAD articles.")
    model: Size = doc("small: two blocks; large: four.")
    scale: Scale = doc(SCALES)
    num_steps: int = doc("Optimizer steps.")
    batch_size: int = doc("Documents per step, and as many questions.", default=32)
    seed: int = seed("One corpus and its streams, base models, batches and directions.")


class Weighing(Params):
    """Learning of the weights of tokens, and what models know that read a stream with them."""

    stream: Stream = doc("Where documents come from: made-up facts, or the staged SQuAD articles.")
    phase: Literal[1, 2] = doc("1: from equal weights; 2: from what the first phase of RGU gave.")
    method: Method = doc("How gradients of the weight model are taken.")
    meta_base: Size = doc("The model whose adaptation is unrolled.")
    depth: int = doc("Documents in an unroll, an inner step each.")
    num_directions: int = doc("Random directions per gradient, b; 0 without.", default=0)
    accumulate: int = doc("Episodes whose gradients an outer step averages.", default=1)
    steps: int = doc("Outer steps.")
    lr: float = doc("Step size of outer Adam.")
    inner_lr: float = doc("Step size of inner SGD.", default=INNER_LR)
    divergence: Divergence = doc(
        "Locality term: KL of the updated model from the initial one, as the paper prints it, or"
        " the other way round, as its code has it."
    )
    scale: Scale = doc(SCALES)
    seed: int = seed("One corpus and its streams, base models, batches and directions.")


def base_of(params: Any, model: Size) -> BaseTraining:
    """Return the training of a base model that a trial starts from."""
    return BaseTraining(
        stream=params.stream,
        model=model,
        scale=params.scale,
        num_steps=TINY_STEPS if params.scale == "tiny" else BASE_STEPS[params.stream][model],
        batch_size=8 if params.scale == "tiny" else 32,
        seed=params.seed,
    )


def first_phase(
    stream: Stream, scale: Scale, *, seed: int, divergence: Divergence = "updated_initial"
) -> Weighing:
    """Return RGU from equal weights."""
    return Weighing(
        stream=stream, phase=1, method="rgu", meta_base="small", depth=FIRST_DEPTH,
        steps=STEPS[scale][stream][0], lr=FIRST_LR, divergence=divergence, scale=scale, seed=seed,
    )  # fmt: skip


def second_phase(
    stream: Stream, scale: Scale, method: Method, meta_base: Size, depth: int, *, seed: int,
    lr: float = SECOND_LR,
) -> Weighing:  # fmt: skip
    """Return a method from what the first phase gave."""
    return replace(
        first_phase(stream, scale, seed=seed),
        phase=2,
        method=method,
        meta_base=meta_base,
        depth=depth,
        num_directions=NUM_DIRECTIONS[meta_base] if method == "fg2u" else 0,
        steps=STEPS[scale][stream][1],
        lr=lr,
    )


def base_grid(profile: Profile) -> Iterator[BaseTraining]:
    """Yield both sizes for every stream and seed."""
    for point in first_grid(profile):
        if point.divergence == "updated_initial":
            yield from (base_of(point, model) for model in SIZES)


def first_grid(profile: Profile) -> Iterator[Weighing]:
    """Yield RGU per stream and seed, on made-up facts with either direction of the divergence."""
    if profile == "smoke":
        for stream in STREAMS:
            yield first_phase(stream, "tiny", seed=0)
    for stream in STREAMS if profile == "cpu" else ():
        for number in seeds_of(profile, NUM_SEEDS[stream]):
            yield first_phase(stream, "even", seed=number)
            if stream == "streamingqa":
                yield first_phase(stream, "even", seed=number, divergence="initial_updated")


def second_grid(profile: Profile) -> Iterator[Weighing]:
    """Yield (FG)2U by depth and base; RGU for as many steps; exact gradients of its depths."""
    if profile == "smoke":
        for stream in STREAMS:
            yield second_phase(stream, "tiny", "fg2u", "small", TINY_DEPTH, seed=0)
    for stream in STREAMS if profile == "cpu" else ():
        for number in seeds_of(profile, NUM_SEEDS[stream]):
            for meta_base in SIZES:
                for depth in DEPTHS:
                    yield second_phase(stream, "even", "fg2u", meta_base, depth, seed=number)
            for lr in CONTROL_LRS:
                yield second_phase(stream, "even", "rgu", "small", FIRST_DEPTH, lr=lr, seed=number)
            for depth in DEPTHS:
                yield second_phase(stream, "even", "rgu", "small", depth, seed=number)


def needs(params: Any) -> Needs:
    """Return the staged articles where they are read, and room."""
    staged = params.stream == "squadseq" and params.scale != "tiny"
    data = ("squad_docs", "squad_single") if staged else ()
    return Needs(data=data, memory_bytes=2**31)


def base_estimate(params: BaseTraining) -> Estimate:
    """Return a start and the time of every block's steps."""
    num_blocks = BLOCKS[params.scale][params.model]
    return Estimate(seconds=0.5 + 0.028 * num_blocks * params.num_steps, memory_bytes=2**31)


def estimate(params: Weighing) -> Estimate:
    """Return a start, the inner steps' time, and that of the streams."""
    if params.scale == "tiny":
        return Estimate(seconds=0.1, memory_bytes=2**30)
    inner_s = 0.02 if params.method == "rgu" else 0.006 * params.num_directions
    inner_s *= BLOCKS["full"][params.meta_base] / 2 * (1.6 if params.stream == "squadseq" else 1.0)
    learning_s = inner_s * params.depth * params.steps * params.accumulate
    return Estimate(seconds=20.0 + learning_s, memory_bytes=2**31)


def estimator(params: Any) -> Estimator:
    """Return the method of a trial; all directions are carried at once, of large models one."""
    from reproductions.fg2u import hypergradient

    count = params.num_directions
    chunk = 1 if hasattr(params, "checkpoint") else count
    options = {"num_directions": count, "chunk": chunk} if params.method == "fg2u" else {}
    return hypergradient(params.method, **options)


def stands_in(params: Any) -> dict[str, str]:
    """Return what was read, and adapted, in the place of what the paper names."""
    articles = "20 SQuAD articles in pieces of 40 words"
    if params.scale == "tiny":
        articles = "made-up articles"
    other = "made-up facts" if params.stream == "streamingqa" else articles
    return {
        NAMES[params.stream]: other,
        "DistilGPT2": f"a GPT of {BLOCKS[params.scale]['small']} blocks",
        "GPT2": f"one of {BLOCKS[params.scale]['large']} blocks",
        "GPT2-Large": f"one of {BLOCKS[params.scale]['large']} blocks",
    }


bases = Experiment(
    "fg2u/adaptation_bases",
    version=1,
    params=BaseTraining,
    grid=base_grid,
    run="trial:base_rows",
    needs=needs,
    estimate=base_estimate,
    address=("stream", "model", "seed"),
    stands_in=stands_in,
)
USES_BASES = (
    Use(experiment=bases, params=lambda params: base_of(params, "small")),
    Use(experiment=bases, params=lambda params: base_of(params, "large")),
)
first = Experiment(
    "fg2u/adaptation_first",
    version=1,
    params=Weighing,
    grid=first_grid,
    run="trial:weighing_rows",
    needs=needs,
    uses=USES_BASES,
    estimate=estimate,
    address=("stream", "method", "depth", "divergence", "seed"),
    stands_in=stands_in,
)
second = Experiment(
    "fg2u/adaptation_second",
    version=1,
    params=Weighing,
    grid=second_grid,
    run="trial:weighing_rows",
    needs=needs,
    uses=(
        *USES_BASES,
        Use(
            experiment=first,
            params=lambda params: first_phase(params.stream, params.scale, seed=params.seed),
        ),
    ),
    estimate=estimate,
    address=("stream", "method", "meta_base", "depth", "lr", "seed"),
    stands_in=stands_in,
)


class Counting(Params):
    """One gradient per method and depth, counted, and set beside the exact one."""

    width: int = doc("Of a GPT of one block.", default=16)
    num_questions: int = doc(
        "Questions of the outer loss, whatever the depth: so few that it is small beside a step.",
        default=2,
    )
    rgu_depths: str = doc("Inner steps that RGU is counted over.", default="6 24")
    fg2u_depths: str = doc("Inner steps that (FG)2U is counted over.", default="6 48")


costs = Experiment(
    "fg2u/adaptation_costs",
    version=1,
    params=Counting,
    grid=lambda profile: iter((Counting(),)) if profile in ("smoke", "cpu") else iter(()),
    run="counting:cost_rows",
    seed_from=(),
    estimate=lambda params: Estimate(seconds=4.0, memory_bytes=2**30),
)
