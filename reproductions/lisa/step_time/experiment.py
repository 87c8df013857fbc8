"""Time of one training step by method: warm, all methods in turn, and each one's cold start."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from harness.declare.experiment import Estimate, Experiment, Needs, RawParams, Row, RunContext
from harness.declare.params import Scalar
from reproductions.lisa.models.costs import room_bytes, static_bytes
from reproductions.lisa.models.shapes import shape_of

Point = dict[str, Scalar]

ALL = ("full", "lora_dropout", "lora", "lisa")
DROPOUT = 0.1
"""Of adapters in the authors' memory script."""
NUM_WARMUP, NUM_TIMED = 5, 20
NUM_SEEDS = 3
START_S = 6.0
"""Import of transformers and peft."""


def run(params: RawParams, ctx: RunContext) -> Sequence[Row]:
    """Time the trial's methods; one row a method and phase."""
    from reproductions.lisa.step_time.trial import time_rows

    return time_rows(params, ctx)


def points_of(params: RawParams) -> list[Point]:
    """Return the methods of a trial as the columns that name them."""
    none: Point = {"rank": 0, "dropout": 0.0, "gamma": 0}
    lora: Point = {**none, "method": "lora", "rank": params["lora_rank"]}
    known: dict[str, Point] = {
        "full": {**none, "method": "full"},
        "lora_dropout": {**lora, "dropout": DROPOUT},
        "lora": lora,
        "lisa": {**none, "method": "lisa", "gamma": params["lisa_gamma"]},
    }
    return list(known.values()) if params["methods"] == "all" else [known[str(params["methods"])]]


def needs(params: RawParams) -> Needs:
    """Return what a trial asks for: on a GPU all its models at once, and one's activations."""
    packages = ("transformers", "peft")
    if params["device"] != "cuda":
        return Needs(memory_bytes=2**31, packages=packages, exclusive=True)
    shape = shape_of(str(params["shape"]))
    points: list[RawParams] = [{**params, **point} for point in points_of(params)]
    static = [static_bytes(point, shape) for point in points]
    rooms = [room_bytes(point, shape) for point in points]
    room = sum(static) + max(a - b for a, b in zip(rooms, static, strict=True))
    return Needs(device="cuda", gpu_bytes=room, packages=packages, exclusive=True)


def estimate(params: RawParams) -> Estimate:
    """Return a start, and a second a step at `cpu`."""
    rounds = 1 if params["cold"] else int(params["num_warmup"]) + int(params["num_timed"])
    step_s = 0.6 if params["shape"] == "tiny-deep" else 0.2
    return Estimate(seconds=START_S + step_s * rounds * len(points_of(params)), memory_bytes=2**31)


def trials(
    setting: Point, *, num_seeds: int, cold_methods: Sequence[str] = ALL
) -> Iterator[RawParams]:
    """Yield a warm trial of all methods a seed, and the cold start of each method."""
    for seed in range(num_seeds):
        yield {**setting, "cold": False, "methods": "all", "seed": seed}
        for method in cold_methods:
            yield {**setting, "cold": True, "methods": method, "seed": seed}


def smoke_grid() -> Iterator[RawParams]:
    """Yield three rounds of a model of eight blocks, and one cold start."""
    setting: Point = {
        "shape": "tiny-smoke", "device": "cpu", "dtype": "float32", "seq_len": 16,
        "batch_size": 1, "lora_rank": 1, "lisa_gamma": 2, "num_warmup": 0, "num_timed": 3,
    }  # fmt: skip
    return trials(setting, num_seeds=1, cold_methods=("full",))


def cpu_grid() -> Iterator[RawParams]:
    """Yield 32 small blocks on two sequences of 256 tokens."""
    return trials(
        {
            "shape": "tiny-deep", "device": "cpu", "dtype": "float32", "seq_len": 256,
            "batch_size": 2, "lora_rank": 4, "lisa_gamma": 2,
            "num_warmup": NUM_WARMUP, "num_timed": NUM_TIMED,
        },
        num_seeds=NUM_SEEDS,
    )  # fmt: skip


def gpu_grid() -> Iterator[RawParams]:
    """Yield LLaMA-2-7B with random weights on one sequence of 512 tokens."""
    return trials(
        {
            "shape": "llama-2-7b", "device": "cuda", "dtype": "bfloat16", "seq_len": 512,
            "batch_size": 1, "lora_rank": 128, "lisa_gamma": 2,
            "num_warmup": NUM_WARMUP, "num_timed": NUM_TIMED,
        },
        num_seeds=NUM_SEEDS,
    )  # fmt: skip


experiment = Experiment(
    id="lisa/step_time",
    version=1,
    run=run,
    grid={"smoke": smoke_grid, "cpu": cpu_grid, "gpu": gpu_grid, "paper": gpu_grid},
    needs=needs,
    estimate=estimate,
    address=("shape", "cold", "methods", "seed"),
)
