"""The control: a copy and a matrix product, timed beside every measurement.

Two results are compared only where their controls agree; a machine that throttles or is
shared shows here first.
"""

from __future__ import annotations

from harness.declare.experiment import Device
from harness.errors import EnvError
from harness.measure.timing import measure_interleaved

_COPY_BYTES: dict[Device, int] = {"cpu": 2**25, "cuda": 2**28}
"""Large enough to leave a core's own caches, small enough for a few milliseconds."""
_MATMUL_SIZE: dict[Device, int] = {"cpu": 384, "cuda": 4096}
BUDGET_S = 0.05
"""For each of the two, after a quarter of it to warm up."""


def measure_control(device: Device) -> dict[str, float]:
    """Time a copy and a square matrix product, each after a short warm-up.

    On the CPU one thread is used. Returns, by the medians of the samples, `copy_gb_per_s` (10^9
    bytes, read and written both counted) and `matmul_gflop_per_s` (2 n^3 operations a product;
    float32 on the CPU, bfloat16 on a GPU, where the speed of float32 depends on a setting of the
    process); `num_samples`, the smaller number of the two, and `load_average` over one minute
    before them, where the system keeps one. Raises EnvError for cuda without a GPU.
    """
    import torch

    if device == "cuda" and not torch.cuda.is_available():
        raise EnvError("a control on cuda needs a GPU, torch finds none: use device cpu")
    dtype = torch.bfloat16 if device == "cuda" else torch.float32
    size = _MATMUL_SIZE[device]
    source = torch.ones(_COPY_BYTES[device] // 4, device=device)
    target = torch.empty_like(source)
    square = torch.ones(size, size, device=device, dtype=dtype)
    product = torch.empty_like(square)
    # One after the other: in turn each would find the other's data in the caches.
    (copy_time,), (matmul_time,) = (
        measure_interleaved(
            [fn], device=device, warmup_s=BUDGET_S / 4, min_samples=5, budget_s=BUDGET_S
        )
        for fn in (lambda: target.copy_(source), lambda: torch.mm(square, square, out=product))
    )
    told = {
        "copy_gb_per_s": 2 * _COPY_BYTES[device] / (copy_time.median_ms * 1e6),
        "matmul_gflop_per_s": 2 * size**3 / (matmul_time.median_ms * 1e6),
        "num_samples": min(len(copy_time.samples_ms), len(matmul_time.samples_ms)),
        "load_average": copy_time.load_average,
    }
    return {name: value for name, value in told.items() if value is not None}
