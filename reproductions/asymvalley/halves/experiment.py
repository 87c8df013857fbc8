"""Two networks from one start, trained on halves of the data: Figure 11.

"random": the start is drawn. "pretrained": the staged ResNet-20 of CIFAR-10 is fine-tuned on
CIFAR-100 with a new last layer (DEV-01), at a tenth of the learning rate (DEV-13).
"""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare.experiment import (
    DryRun,
    Estimate,
    Experiment,
    Needs,
    Outcome,
    RawParams,
    RunContext,
)
from harness.declare.profiles import Profile
from reproductions.asymvalley.models.costs import estimate as estimate_of
from reproductions.asymvalley.models.costs import needs_of, point_s, training_s
from reproductions.asymvalley.models.pairs import Point, solution_point
from reproductions.asymvalley.trained_nets.walking import grids

KEPT_EPOCHS: dict[Profile, str] = {
    "smoke": "1",
    "cpu": "1 2 3 5 10",
    "gpu": "1 2 3 5 10 20",
    "paper": "1 2 3 5 10 20 30 50",
}
"""Epochs after which the line is drawn; training ends with the last (section 6.1)."""
NUM_PLACES: dict[Profile, int] = {"smoke": 3, "cpu": 11, "gpu": 11, "paper": 11}


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Train both halves and walk between them after every kept epoch."""
    from reproductions.asymvalley.halves.trial import run_halves

    return run_halves(params, ctx)


def points(profile: Profile) -> Iterator[Point]:
    """Yield one pair of halves a regime and seed; the paper's Flowers are not at hand."""
    kept = KEPT_EPOCHS[profile]
    shared: Point = {"checkpoints": kept, "epochs": int(kept.split()[-1])}
    shared |= {"num_points": NUM_PLACES[profile]}
    for seed in range(1 if profile == "smoke" else 3):
        random = solution_point(profile, "vgg16_cifar10", seed=seed)
        yield random | shared | {"regime": "random", "pretrained": False, "weights": ""}
        if profile != "paper":
            yield _pretrained(profile, seed) | shared | {"regime": "pretrained"}


def _pretrained(profile: Profile, seed: int) -> Point:
    point = solution_point(profile, "resnet20_cifar100", seed=seed)
    point |= {"pretrained": True, "lr": 0.003, "weights": ""}
    if profile != "smoke":
        staged = {"weights": "resnet20_cifar10", "width": 16, "image_size": 32}
        point |= {**staged, "normalisation": "imagenet"}
    return point


def needs(params: RawParams) -> Needs:
    """Return images, weights where there are some, and a GPU where the trial has one."""
    base = needs_of(params)
    weights = (str(params["weights"]),) if params["weights"] else ()
    return Needs(data=(*base.data, *weights), device=base.device, gpu_bytes=base.gpu_bytes)


def estimate(params: RawParams) -> Estimate:
    """Return what both trainings and their lines cost; a half each makes one whole."""
    lines = len(str(params["checkpoints"]).split()) * int(params["num_points"])
    return estimate_of(training_s(params) + lines * point_s(params))


def dry_run(params: RawParams) -> DryRun:
    """Build and count a half's network without computing it."""
    from reproductions.asymvalley.models.kept_nets import dry_run as dry_run_solution

    return dry_run_solution(params)


experiment = Experiment(
    id="asymvalley/half_lines",
    version=1,
    run=run,
    grid=grids(points),
    needs=needs,
    estimate=estimate,
    dry_run=dry_run,
    timeout_s=24 * 3600.0,
    address=("regime", "seed"),
)
