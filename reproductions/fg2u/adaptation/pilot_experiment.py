"""A pilot of online adaptation, at seeds that the run does not use.

What it is to tell was fixed before: whether learned weights of tokens help a model that reads a
stream.
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import PILOT_SEEDS, Estimate, Experiment, Params, Profile, doc, seed
from reproductions.fg2u.adaptation.experiment import BASE_STEPS, Scale

SEEDS = PILOT_SEEDS[1:3]
"""Those of the pilots of Table 1."""


class Stream(Params):
    """Two models trained on made-up facts, which then read streams with and without weights."""

    scale: Scale = doc("full, or tiny for a path that takes a second.")
    small_steps: int = doc("Optimizer steps of the smaller model.")
    large_steps: int = doc("Optimizer steps of the larger one.")
    num_read: int = doc("Documents of the validation stream, and of the longer test stream.")
    seed: int = seed("One corpus and its streams, base models, batches and directions.")


def streams_grid(profile: Profile) -> Iterator[Stream]:
    """Yield both base models as the experiment of Table 2 trains them."""
    steps = BASE_STEPS["streamingqa"]
    for number in SEEDS if profile == "cpu" else ():
        yield Stream(
            scale="full", small_steps=steps["small"], large_steps=steps["large"], num_read=160,
            seed=number,
        )  # fmt: skip
    if profile == "smoke":
        yield Stream(scale="tiny", small_steps=2, large_steps=2, num_read=8, seed=PILOT_SEEDS[0])


def streams_estimate(params: Stream) -> Estimate:
    """Return the time of training, and of reading."""
    if params.scale == "tiny":
        return Estimate(seconds=1.0, memory_bytes=2**30)
    training_s = 0.044 * params.small_steps + 0.088 * params.large_steps
    return Estimate(seconds=training_s + 0.6 * params.num_read, memory_bytes=2**31)


streams = Experiment(
    "fg2u/pilot_streams",
    version=1,
    params=Stream,
    grid=streams_grid,
    run="pilot_trial:stream_rows",
    estimate=streams_estimate,
    address=("scale", "seed"),
    stands_in=lambda params: {"StreamingQA": "made-up facts"},
)
