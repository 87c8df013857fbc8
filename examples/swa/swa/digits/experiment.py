"""Nets that are trained with and without averaging."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of


class Training(Params):
    """How a net is trained, and for how long."""

    method: Literal["sgd", "swa"] = doc("SGD to a rate of zero, or SWA at a constant rate.")
    epochs: int = doc("Passes over the training images.")
    seed: int = seed("One net, with the same start and batches for both methods.")


def grid(profile: Profile) -> Iterator[Training]:
    """Yield both methods at every seed."""
    if profile in ("smoke", "cpu"):
        for number in seeds_of(profile, count=10):
            for method in ("sgd", "swa"):
                yield Training(method=method, epochs=4 if profile == "smoke" else 40, seed=number)


trainings = Experiment(
    "swa/digits",
    version=1,
    params=Training,
    grid=grid,
    run="trial:train",
    needs=Needs(data=("digits",)),
    estimate=lambda training: Estimate(seconds=0.05 * training.epochs),
    address=("method", "seed"),
    stands_in=lambda training: {"CIFAR-100": "digits", "VGG-16": "a small perceptron"},
)
