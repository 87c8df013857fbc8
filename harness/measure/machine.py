"""What a number was measured on: facts of the machine, versions, state of the source tree.

Nothing here imports torch, and nothing it returns holds a path, a user or a host name.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import shutil
import subprocess
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

PACKAGES = (
    "torch", "numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "transformers", "peft",
    "tokenizers", "datasets", "lm-eval", "safetensors", "triton", "ray", "flwr",
)  # fmt: skip
"""Distributions whose version can change a result."""
UNKNOWN = "unknown"
GENERATED = ("results", "figures", "RESULTS.md")
"""What runs write: a change there does not make the source tree dirty."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gpu:
    """One NVIDIA GPU as nvidia-smi names it."""

    name: str
    driver: str
    memory_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceState:
    """The commit of the checkout this code runs from."""

    commit: str
    """Full hash, or `unknown` outside a checkout."""
    dirty: bool
    """Whether code or text differs from the commit; results and figures do not count."""


@dataclass(frozen=True, kw_only=True, slots=True)
class MachineFacts:
    """Facts that stand beside every result of one `run`."""

    cpu: str
    num_cores: int
    """Cores this process may use, not those of the machine."""
    memory_bytes: int
    """Main memory, or the container's limit where that is lower."""
    os: str
    architecture: str
    python: str
    versions: dict[str, str]
    gpus: tuple[Gpu, ...]
    load_average: float | None
    """Runnable processes over the last minute when the facts were taken."""
    commit: str
    dirty: bool

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        facts = asdict(self)
        facts["gpus"] = [asdict(gpu) for gpu in self.gpus]
        return facts


def machine_facts() -> MachineFacts:
    """Collect the facts; under 100 ms where there is no GPU to ask."""
    source = source_state()
    return MachineFacts(
        cpu=cpu_model(),
        num_cores=num_cores(),
        memory_bytes=memory_bytes(),
        os=_operating_system(),
        architecture=platform.machine(),
        python=platform.python_version(),
        versions=package_versions(),
        gpus=gpus(),
        load_average=load_average(),
        commit=source.commit,
        dirty=source.dirty,
    )


def cpu_model() -> str:
    """Return the processor's marketing name, or its architecture where none is told."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            name, _, value = line.partition(":")
            if name.strip() == "model name":
                return " ".join(value.split())
    except OSError:
        pass
    told = _output(["sysctl", "-n", "machdep.cpu.brand_string"])
    return told or platform.processor() or platform.machine()


def num_cores() -> int:
    """Return how many cores this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory_bytes() -> int:
    """Return main memory, or the control group's limit where that is lower."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text(encoding="utf-8").strip()
    except OSError:
        return physical
    return min(physical, int(limit)) if limit.isdigit() else physical


def load_average() -> float | None:
    """Return the one-minute load average; None where the system keeps none."""
    try:
        return round(os.getloadavg()[0], 2)
    except (AttributeError, OSError):
        return None


def package_versions() -> dict[str, str]:
    """Return the installed versions of packages that matter, from metadata alone."""
    versions = {}
    for name in PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return versions


def gpus() -> tuple[Gpu, ...]:
    """Return the NVIDIA GPUs; none where nvidia-smi is absent or fails."""
    query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits"]
    found = []
    for line in _output(["nvidia-smi", *query]).splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3:
            name, driver, mebibytes = fields
            size = int(mebibytes) * 2**20 if mebibytes.isdigit() else 0
            found.append(Gpu(name=name, driver=driver, memory_bytes=size))
    return tuple(found)


def source_state(root: Path | None = None) -> SourceState:
    """Return commit and dirtiness of the checkout whose top is `root`, ours by default.

    A `root` inside another checkout (a venv's site-packages) is unknown: that commit says
    nothing of this code.
    """
    top = (root or Path(__file__).parents[2]).resolve()
    told = _output(["git", "-C", str(top), "rev-parse", "HEAD", "--show-toplevel"]).splitlines()
    if len(told) != 2 or Path(told[1]).resolve() != top:
        return SourceState(commit=UNKNOWN, dirty=False)
    excluded = [f":(exclude){name}" for name in GENERATED]
    changes = _output(["git", "-C", str(top), "status", "--porcelain", "--", ".", *excluded])
    return SourceState(commit=told[0], dirty=bool(changes))


def _operating_system() -> str:
    # Two numbers of the kernel's release: the rest may name whoever built it.
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    return f"{platform.system()} {release}"


def _output(command: list[str]) -> str:
    """Return a program's stripped stdout, empty where it is absent, fails or hangs."""
    program = shutil.which(command[0])
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, *command[1:]], capture_output=True, text=True, timeout=10, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()
