"""What trials of this paper need of the machine, and what they cost. No torch."""

from __future__ import annotations

from harness.declare import Estimate, Needs
from reproductions.asymvalley.models.pairs import Net, Training

LAYER_S = {"vgg": (8, 1.0e-5), "resnet": (8, 2.5e-5), "alexnet": (16, 9.0e-6), "vit": (64, 2.5e-4)}
"""A width, and the seconds that one layer of it takes for a colour image of 32 pixels, forwards on
one core; measured on two busy cores, channels last, float32."""
WIDTH_POWER = 1.3
"""Narrow layers leave a core partly idle, so doubling a width costs less than four times."""
TRAIN_PASSES = 3.5
"""Forward passes that forward, backward and update take."""
POINT_PASSES = 1.27
"""Forward passes that one of a walk takes on a core: its batches of 250 leave the caches, and
estimating statistics takes longer than using them."""
STEP_S = 4e-3
"""What a step takes beside its passes: some hundred small operations."""
GPU_SPEEDUP = 150.0
"""One H200 against one core: assumed."""
START_S = 0.15
"""Decoding images and building a network."""


def forward_s(net: Net) -> float:
    """Return the seconds that one image takes through a network."""
    width, layer_s = LAYER_S[net.net]
    pixels = (net.image_size / 32) ** 2
    seconds = net.depth * layer_s * pixels * (net.width / width) ** WIDTH_POWER
    return float(seconds) / (GPU_SPEEDUP if net.device == "cuda" else 1.0)


def training_s(training: Training) -> float:
    """Return the seconds of a training."""
    images = training.num_train
    steps = -(-images // training.batch_size)
    return training.epochs * (images * TRAIN_PASSES * forward_s(training) + steps * STEP_S)


def point_s(net: Net) -> float:
    """Return the seconds of one point of a curve: a pass of the statistics, one of the test."""
    images = net.num_test + (net.num_statistics if net.batch_norm else 0)
    passes = POINT_PASSES if net.device == "cpu" else 1.0
    return images * passes * forward_s(net) + 1e-3


def estimate_of(seconds: float) -> Estimate:
    """Return an estimate with what every trial costs beside."""
    return Estimate(seconds=START_S + seconds, memory_bytes=2 * 2**30)


def needs_of(net: Net, *weights: str) -> Needs:
    """Return a trial's images, the weights that it starts from, and its GPU where it has one."""
    data = tuple(name for name in (net.data, net.more_data, *weights) if name)
    return Needs(data=data, device=net.device, gpu_bytes=0 if net.device == "cpu" else 8 * 2**30)
