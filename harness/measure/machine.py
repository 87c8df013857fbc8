"""What a number was measured on: facts of the machine, versions, state of the source tree.

Nothing here imports torch, and nothing it returns holds a path, a user or a host name.
"""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

PACKAGES = (
    "torch", "numpy", "pandas", "scipy", "scikit-learn", "matplotlib", "transformers", "peft",
    "tokenizers", "datasets", "lm-eval", "safetensors", "triton", "liger-kernel", "torchao",
    "ray", "flwr",
)  # fmt: skip
"""Distributions whose version can change a result."""
GENERATED = ("results", "figures", "RESULTS.md")
"""What runs write: a change there does not make the source tree dirty."""
INSTRUCTION_SETS = (
    ("avx512", ("avx512f", "avx512dq", "avx512bw", "avx512vl", "fma")),
    ("avx2", ("avx2", "fma")),
)
"""Widest first, each with the flags of /proc/cpuinfo that it needs: torch's own conditions, whose
kernels of both widths multiply and add in one instruction."""
CAPABILITY = "ATEN_CPU_CAPABILITY"
"""Environment variable by which torch takes narrower kernels than the processor has."""
CPU_ID_FIELDS = (
    # x86
    ("vendor_id", ""), ("cpu family", "family"), ("model", "model"), ("stepping", "stepping"),
    # ARM
    ("CPU implementer", "implementer"), ("CPU part", "part"), ("CPU variant", "variant"),
    ("CPU revision", "revision"),
)  # fmt: skip
"""Lines of /proc/cpuinfo that tell one design of processor from another, and our word for each."""


def machine_facts() -> dict[str, Any]:
    """Return what stands beside every result of one `run`, as JSON values.

    cpu_id: vendor, family, model and stepping, for a virtual machine may hide the rest of the name.
    isa: the widest instruction set that torch can use here; empty where it is none of ours.
    num_cores: those that this process may use. memory_bytes: main memory, or the container's limit
    where that is lower. load_average: runnable processes over the last minute.
    """
    commit, dirty = source_state()
    cpuinfo = read_cpuinfo()
    # Two numbers of the kernel's release: the rest may name whoever built it.
    release = ".".join(platform.release().split("-")[0].split(".")[:2])
    return {
        "cpu": cpuinfo.get("model name") or platform.processor() or platform.machine(),
        "cpu_id": cpu_id(cpuinfo),
        "isa": instruction_set(cpuinfo.get("flags", "").split(), os.environ.get(CAPABILITY, "")),
        "num_cores": num_cores(),
        "memory_bytes": memory_bytes(),
        "os": f"{platform.system()} {release}",
        "architecture": platform.machine(),
        "python": platform.python_version(),
        "versions": package_versions(),
        "gpus": gpus(),
        "load_average": load_average(),
        "commit": commit,
        "dirty": dirty,
    }


def record_facts() -> dict[str, Any]:
    """Return `machine_facts` as records carry them: commit, state and versions apart."""
    facts = machine_facts()
    return {name: facts.pop(name) for name in ("commit", "dirty", "versions")} | {"machine": facts}


def cpu_name(machine: Mapping[str, Any]) -> str:
    """Return what pages call the processor of a record's machine.

    >>> cpu_name({"cpu": "AMD EPYC", "isa": "avx2", "cpu_id": "AMD family 25 model 1 stepping 1"})
    'AMD EPYC (family 25 model 1), avx2'
    """
    kind = re.search(r"family \d+ model \d+", machine.get("cpu_id") or "")
    name = (machine.get("cpu") or "unknown CPU") + (f" ({kind[0]})" if kind else "")
    return f"{name}, {machine['isa']}" if machine.get("isa") else name


def read_cpuinfo(path: Path = Path("/proc/cpuinfo")) -> dict[str, str]:
    """Return the facts of the first processor; none where the system has no such file."""
    found: dict[str, str] = {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return found
    for line in lines:
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), " ".join(value.split()))
    return found


def cpu_id(cpuinfo: Mapping[str, str]) -> str:
    """Return what tells this design of processor from others, empty where nothing is told.

    >>> cpu_id({"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "17", "stepping": "1"})
    'AuthenticAMD family 25 model 17 stepping 1'
    """
    fields = [(word, cpuinfo.get(line, "")) for line, word in CPU_ID_FIELDS]
    return " ".join(f"{word} {value}".strip() for word, value in fields if value)


def instruction_set(flags: Collection[str], capability: str = "") -> str:
    """Return the widest instruction set that the flags allow, as far as torch may use it.

    flags: those of /proc/cpuinfo. capability: the value of ATEN_CPU_CAPABILITY, or nothing;
    where it lowers what torch takes, the answer says so. Other libraries do not heed it.

    >>> instruction_set(["avx2", "fma"]), instruction_set(["avx2", "fma"], "default")
    ('avx2', 'default (ATEN_CPU_CAPABILITY)')
    """
    able = [name for name, needed in INSTRUCTION_SETS if set(needed) <= set(flags)]
    # torch ignores a text that it does not know, and a set that the processor lacks.
    lowered = able and capability in (*able[1:], "default")
    return f"{capability} ({CAPABILITY})" if lowered else next(iter(able), "")


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
        with suppress(importlib.metadata.PackageNotFoundError):
            versions[name] = importlib.metadata.version(name)
    return versions


def gpus() -> list[dict[str, Any]]:
    """Return name, driver and memory_bytes of each NVIDIA GPU; none where nvidia-smi fails."""
    query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader,nounits"]
    found = []
    for line in _output(["nvidia-smi", *query]).splitlines():
        fields = [field.strip() for field in line.split(",")]
        if len(fields) == 3:
            name, driver, mebibytes = fields
            size = int(mebibytes) * 2**20 if mebibytes.isdigit() else 0
            found.append({"name": name, "driver": driver, "memory_bytes": size})
    return found


def source_state(root: Path | None = None) -> tuple[str, bool]:
    """Return the commit of the checkout whose top is `root`, ours by default, and whether it is
    dirty: code or text differs from the commit; results and figures do not count.

    A `root` inside another checkout (a venv's site-packages) is unknown: that commit says
    nothing of this code.
    """
    top = (root or Path(__file__).parents[2]).resolve()
    answer = _output(["git", "-C", str(top), "rev-parse", "HEAD", "--show-toplevel"]).splitlines()
    if len(answer) != 2 or Path(answer[1]).resolve() != top:
        return _archived(top), False
    excluded = [f":(exclude){name}" for name in GENERATED]
    # It would write what it finds of times into the index, under a lock that outlives a kill.
    asked = ["git", "--no-optional-locks", "-C", str(top), "status", "--porcelain", "--", "."]
    changes = _output([*asked, *excluded])
    return answer[0], bool(changes)


def _archived(top: Path) -> str:
    """Return the commit that `git archive` wrote into a tree without history."""
    try:
        text = (top / "harness" / "commit.txt").read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        return "unknown"
    return text if re.fullmatch("[0-9a-f]{40}", text) else "unknown"


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
