"""The control: a copy and a matrix product, timed beside every measurement.

Two results are compared only where their controls agree; a machine that throttles or is
shared shows here first.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass

from harness.declare.experiment import Device
from harness.errors import EnvError
from harness.measure.timing import measure

_COPY_BYTES: dict[Device, int] = {"cpu": 2**25, "cuda": 2**28}
"""Large enough to leave a core's own caches, small enough for a few milliseconds."""
_MATMUL_SIZE: dict[Device, int] = {"cpu": 384, "cuda": 4096}


@dataclass(frozen=True, kw_only=True, slots=True)
class Control:
    """Speed of the machine at the moment of a measurement, medians of the samples."""

    copy_gb_per_s: float
    """10^9 bytes a second, read and written both counted."""
    matmul_gflop_per_s: float
    """10^9 operations a second, 2 n^3 a product; float32 on the CPU, bfloat16 on a GPU, where
    the speed of float32 depends on a setting of the process."""
    num_samples: int
    """The smaller number of the two."""
    load_average: float | None
    """One-minute load average before the samples; None where the system keeps none."""

    def to_json(self) -> dict[str, float]:
        """Return what is known as plain numbers."""
        return {name: value for name, value in asdict(self).items() if value is not None}


def measure_control(device: Device, *, budget_s: float = 0.05) -> Control:
    """Time a copy and a square matrix product, each for `budget_s` after a short warm-up.

    On the CPU one thread is used. Raises EnvError for cuda without a GPU.
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
    copy_time, matmul_time = (
        measure(fn, device=device, warmup_s=budget_s / 4, min_samples=5, budget_s=budget_s)
        for fn in (lambda: target.copy_(source), lambda: torch.mm(square, square, out=product))
    )
    return Control(
        copy_gb_per_s=2 * _COPY_BYTES[device] / (copy_time.median_ms * 1e6),
        matmul_gflop_per_s=2 * size**3 / (matmul_time.median_ms * 1e6),
        num_samples=min(len(copy_time.samples_ms), len(matmul_time.samples_ms)),
        load_average=copy_time.load_average,
    )
