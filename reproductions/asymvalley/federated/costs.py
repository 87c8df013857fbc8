"""What a federated trial needs of the machine, and what it costs. No torch."""

from __future__ import annotations

from harness.declare.experiment import Estimate, Needs, RawParams

CPU_NS = 40.0
"""Of one core: nanoseconds a pixel and channel of the first layer, forward and backward."""
GPU_STEP_S = 4e-3
"""Of a step of a small net, which costs its launches: assumed."""
DEPTH = {"convnet": 1.0, "resnet20": 12.0}
"""Work a pixel and channel in units of the small net's."""


def needs(params: RawParams) -> Needs:
    """Return data and device."""
    if params["device"] == "cpu":
        return Needs(data=(str(params["data"]),))
    return Needs(data=(str(params["data"]),), device="cuda", gpu_bytes=8 * 2**30)


def estimate_of(params: RawParams, *, num_runs: int, num_tests: int) -> Estimate:
    """Return seconds and memory of simulations with `num_tests` evaluations each."""
    side = int(params["image_size"]) // int(params["pool"])
    image_s = CPU_NS * 1e-9 * side * side * int(params["width"]) * DEPTH[str(params["net"])]
    share = max(float(params["participation"]), 1.0 / int(params["num_clients"]))
    seen = int(params["rounds"]) * share * int(params["num_train"]) * int(params["local_epochs"])
    steps = seen / int(params["batch_size"])
    held = 2000 if params["data"] == "digits" else 5000
    if params["device"] == "cpu":
        seconds = image_s * (seen + 0.3 * num_tests * held) + 1e-3 * steps
    else:
        seconds = GPU_STEP_S * DEPTH[str(params["net"])] * steps
    pixels = int(params["num_train"]) * int(params["channels"]) * int(params["image_size"]) ** 2
    return Estimate(seconds=0.1 + num_runs * seconds, memory_bytes=5 * 10**8 + 16 * pixels)
