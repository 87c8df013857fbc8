"""What trials of this paper need of the machine, and what they cost. No torch."""

from __future__ import annotations

from harness.declare import Estimate, Needs
from reproductions.asymvalley.models.pairs import Net, Training

LAYER_S = {"vgg": 6.7e-7, "resnet": 1.7e-6, "alexnet": 2.4e-7, "vit": 1.1e-6}
"""Seconds of one core that a layer of one channel would take for an image of 32 pixels; measured on
wider layers, which take less than the square of their width."""
GPU_SPEEDUP = 150.0
"""One H200 against one core: assumed."""


def image_s(net: Net) -> float:
    """Return the seconds that one image takes through a network."""
    pixels = (net.image_size / 32) ** 2
    seconds = float(net.depth * LAYER_S[net.net] * pixels * net.width**1.3)
    return seconds / (GPU_SPEEDUP if net.device == "cuda" else 1.0)


def training_s(training: Training) -> float:
    """Return the seconds of a training: a step has some hundred operations beside its passes."""
    images = training.num_train
    steps = -(-images // training.batch_size)
    return training.epochs * (3.5 * images * image_s(training) + 4e-3 * steps)


def point_s(net: Net) -> float:
    """Return the seconds of one point of a curve: a pass of the statistics, one of the test."""
    images = net.num_test + (net.num_statistics if net.batch_norm else 0)
    return 1.1 * images * image_s(net) + 1e-3


def estimate_of(seconds: float) -> Estimate:
    """Return an estimate with what every trial costs beside: to decode images, to make a net."""
    return Estimate(seconds=0.15 + seconds, memory_bytes=2 * 2**30)


def needs_of(net: Net) -> Needs:
    """Return a trial's images, the weights that it starts from, and its GPU where it has one."""
    named = (net.data, net.more_data, getattr(net, "weights", ""))
    gpu_bytes = 0 if net.device == "cpu" else 8 * 2**30
    return Needs(data=tuple(filter(None, named)), device=net.device, gpu_bytes=gpu_bytes)
