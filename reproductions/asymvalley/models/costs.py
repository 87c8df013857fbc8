"""What trials of this paper need of the machine, and what they cost. No torch."""

from __future__ import annotations

from harness.declare.experiment import Estimate, Needs, RawParams

FORWARD_S = {
    ("vgg", 16): 1.9e-4,
    ("vgg", 11): 7.5e-5,
    ("resnet", 20): 5.0e-4,
    ("resnet", 44): 1.1e-3,
    ("alexnet", 8): 7.0e-5,
    ("vit", 12): 3.0e-3,
}
"""Seconds a forward pass of one colour image of 32 pixels takes on one core, at the widths of
`REFERENCE_WIDTH`; measured on two busy cores, channels last, float32."""
REFERENCE_WIDTH = {"vgg": 8, "resnet": 8, "alexnet": 16, "vit": 64}
WIDTH_POWER = 1.3
"""Narrow layers leave a core partly idle, so doubling a width costs less than four times."""
TRAIN_PASSES = 3.5
"""Forward passes that forward, backward and update take."""
STEP_S = 4e-3
"""Of a step beside its passes: some hundred small operations."""
GPU_SPEEDUP = 150.0
"""Of one H200 against one core: assumed."""
START_S = 0.15
"""Decoding images and building a network."""


def forward_s(params: RawParams) -> float:
    """Return the seconds that one image takes through a trial's network."""
    kind, depth, width = str(params["net"]), int(params["depth"]), int(params["width"])
    if (kind, depth) in FORWARD_S:
        base = FORWARD_S[kind, depth]
    else:
        known = next(key for key in FORWARD_S if key[0] == kind)
        base = FORWARD_S[known] * depth / known[1]
    pixels = (int(params["image_size"]) / 32) ** 2
    seconds = base * pixels * (width / REFERENCE_WIDTH[kind]) ** WIDTH_POWER
    return seconds / (GPU_SPEEDUP if params["device"] == "cuda" else 1.0)


def training_s(params: RawParams) -> float:
    """Return the seconds of a trial's training."""
    images = int(params["num_train"])
    steps = -(-images // int(params["batch_size"]))
    per_epoch = images * TRAIN_PASSES * forward_s(params) + steps * STEP_S
    return int(params["epochs"]) * per_epoch


def point_s(params: RawParams, *, bn_stats: str = "recalibrate") -> float:
    """Return the seconds of one point of a curve: a pass of the statistics, one of the test."""
    images = int(params["num_test"])
    if params["batch_norm"] and bn_stats == "recalibrate":
        images += int(params["num_statistics"])
    return images * forward_s(params) + 1e-3


def estimate(seconds: float) -> Estimate:
    """Return an estimate with what every trial costs beside."""
    return Estimate(seconds=START_S + seconds, memory_bytes=2 * 2**30)


def needs_of(params: RawParams) -> Needs:
    """Return a trial's images, and its GPU where it has one."""
    if params["device"] == "cpu":
        return Needs(data=(str(params["data"]),))
    return Needs(data=(str(params["data"]),), device="cuda", gpu_bytes=8 * 2**30)
