"""Run the golden trials as other CPUs would, and print how far their rows are apart.

    python -m tests.compare_golden

Every setting is a process of its own, since libraries choose their instructions when they are
loaded. The last one stands for machines that are not at hand: each number that torch computes is
off by up to 1e-12 of it, some thousand times what float64 rounds. Takes about 40 s per setting.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

from harness.registry import load_registry
from tests.checkout import ROOT
from tests.golden_rows import RELATIVE, Body, cells, distance
from tests.golden_trials import GoldenRuns, declared_golden

NOISE = "GOLDEN_NOISE"
OLD_LIBM = "glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F"
SETTINGS = (
    *({"ATEN_CPU_CAPABILITY": name} for name in ("default", "avx2", "avx512")),
    *({"ONEDNN_MAX_CPU_ISA": name} for name in ("SSE41", "AVX2", "AVX512_CORE")),
    *({"MKL_CBWR": name} for name in ("COMPATIBLE", "AVX2", "AVX512")),
    *({"MKL_ENABLE_INSTRUCTIONS": name} for name in ("SSE4_2", "AVX2")),
    *({"OPENBLAS_CORETYPE": name} for name in ("Nehalem", "Haswell", "SkylakeX")),
    {"GLIBC_TUNABLES": OLD_LIBM},
    {"OMP_NUM_THREADS": "2"},
    {
        "ATEN_CPU_CAPABILITY": "default",
        "ONEDNN_MAX_CPU_ISA": "SSE41",
        "MKL_CBWR": "COMPATIBLE",
        "OPENBLAS_CORETYPE": "Nehalem",
        "GLIBC_TUNABLES": OLD_LIBM,
        "OMP_NUM_THREADS": "2",
    },
    {NOISE: "1e-12"},
)


class Noisy(TorchDispatchMode):
    """Makes each number that an operation in float64 computes wrong by a random part.

    Whole numbers stay: counts, signs and masks are exact on every machine.
    """

    def __init__(self, size: float) -> None:
        super().__init__()
        self._size, self._generator = size, torch.Generator().manual_seed(0)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        found = func(*args, **(kwargs or {}))
        # What a view or a copy shows was computed before.
        moved = func.is_view or func in (torch.ops.aten.copy_.default, torch.ops.aten.clone.default)
        return found if moved else tree_map_only(torch.Tensor, self._disturb, found)

    def _disturb(self, result: torch.Tensor) -> torch.Tensor:
        if result.dtype is torch.float64 and result.device.type == "cpu":
            draw = torch.rand(result.shape, dtype=result.dtype, generator=self._generator)
            factor = 1.0 + self._size * (2.0 * draw - 1.0)
            with torch.no_grad():
                result.mul_(torch.where(result == result.round(), 1.0, factor))
        return result


def bodies() -> dict[str, Body]:
    """Return the golden bodies of this process."""
    declared = declared_golden()
    size = float(os.environ.get(NOISE, "0"))
    with tempfile.TemporaryDirectory() as folder, Noisy(size) if size else nullcontext():
        runs = GoldenRuns(load_registry(), declared, Path(folder))
        return {name: runs.body(name) for name in declared}


def run_under(setting: dict[str, str]) -> dict[str, Body]:
    """Return the golden bodies of a process with some environment."""
    fixed = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "PYTHONWARNINGS": "ignore"}
    env = {**os.environ, **fixed, **setting}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "bodies.json"
        command = [sys.executable, "-m", "tests.compare_golden", str(path)]
        subprocess.run(command, cwd=ROOT, env=env, check=True)
        return dict(json.loads(path.read_text(encoding="utf-8")))


def apart(plain: Body, other: Body) -> tuple[float, str]:
    """Return the largest distance of two bodies, and where it is."""
    return max((distance(old, new), where) for where, old, new in cells(plain, other))


def main() -> int:
    """Print for every experiment how far its rows are from those of a plain run on this machine."""
    plain = run_under({})
    found: dict[bool, list[dict[str, tuple[float, str]]]] = {True: [], False: []}
    for setting in SETTINGS:
        print(" ".join(f"{name}={value}" for name, value in setting.items()), flush=True)
        others = run_under(setting)
        found[NOISE in setting].append({n: apart(plain[n], others[n]) for n in plain})
    print(f"{'largest difference':35} {'settings':>8} {'noise':>8}  there in")
    worst = 0.0
    for name in plain:
        real, noisy = (max(each[name] for each in found[kind]) for kind in (False, True))
        worst = max(worst, real[0], noisy[0])
        print(f"{name:35} {real[0]:8.0e} {noisy[0]:8.0e}  {noisy[1]}")
    return int(worst > RELATIVE)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(json.dumps(bodies()), encoding="utf-8")
    else:
        sys.exit(main())
