"""Machine facts against what the system says elsewhere."""

from __future__ import annotations

import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from harness.measure import machine
from harness.measure.machine import (
    cpu_id,
    instruction_set,
    machine_facts,
    read_cpuinfo,
    source_state,
)

XEON = """\
processor\t: 0
vendor_id\t: GenuineIntel
cpu family\t: 6
model\t\t: 143
model name\t: Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz
stepping\t: 8
flags\t\t: fpu sse sse2 ssse3 fma sse4_1 sse4_2 avx avx2 avx512f avx512dq avx512bw avx512vl
bugs\t\t: spectre_v1

processor\t: 1
vendor_id\t: GenuineIntel
model\t\t: 999
flags\t\t: sse2
"""
EPYC = """\
vendor_id\t: AuthenticAMD
cpu family\t: 23
model\t\t: 49
model name\t: AMD EPYC   7B12
stepping\t: 0
flags\t\t: sse sse2 sse4_1 sse4_2 fma avx avx2
"""


def test_facts_need_no_torch() -> None:
    code = (
        "import sys; from harness.measure.machine import machine_facts; f = machine_facts();"
        "print(f['versions']['torch'], not {'torch', 'numpy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [torch.__version__, "True"]


@pytest.mark.parametrize(
    ("text", "model", "design", "isa"),
    [
        (XEON, "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz",
         "GenuineIntel family 6 model 143 stepping 8", "avx512"),
        (EPYC, "AMD EPYC 7B12", "AuthenticAMD family 23 model 49 stepping 0", "avx2"),
    ],
)  # fmt: skip
def test_cpuinfo_gives_model_design_and_instruction_set(
    tmp_path: Path, text: str, model: str, design: str, isa: str
) -> None:
    (tmp_path / "cpuinfo").write_text(text, encoding="utf-8")
    found = read_cpuinfo(tmp_path / "cpuinfo")
    assert found["model name"] == model
    assert cpu_id(found) == design
    assert instruction_set(found.get("flags", "").split()) == isa


WIDE = {"avx512f", "avx512dq", "avx512bw", "avx512vl", "fma", "avx2"}


@pytest.mark.parametrize(
    ("flags", "capability", "isa"),
    [
        (WIDE, "avx512", "avx512"),
        (WIDE, "avx2", "avx2 (ATEN_CPU_CAPABILITY)"),
        (WIDE, "default", "default (ATEN_CPU_CAPABILITY)"),
        (WIDE, "AVX2", "avx512"),  # torch ignores what it does not know
        ({"avx2", "fma"}, "avx512", "avx2"),
        ({"avx2", "fma"}, "default", "default (ATEN_CPU_CAPABILITY)"),
        (set(), "default", ""),
    ],
)
def test_capability_only_lowers(flags: set[str], capability: str, isa: str) -> None:
    assert instruction_set(flags, capability) == isa


def test_facts_name_no_host_no_user_and_no_path() -> None:
    facts = machine_facts()
    assert facts.pop("cpu")  # a maker's name, which may hold a slash
    text = json.dumps(facts)
    assert "/" not in text and "\\\\" not in text
    for word in (socket.gethostname(), getpass.getuser()):
        assert f'"{word}"' not in text and f" {word}" not in text


def test_nvidia_smi_lines_become_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 550.54.15, 143771'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (gpu,) = machine.gpus()
    size = 143771 * 1024 * 1024
    assert gpu == {"name": "NVIDIA H200", "driver": "550.54.15", "memory_bytes": size}


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A git checkout with one commit."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (tmp_path / "code.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "a.csv").write_text("a\n1\n", encoding="utf-8")
    for command in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b", "commit", "-q", "-m", "first"],
    ):
        subprocess.run(["git", "-C", str(tmp_path), *command], check=True)
    return tmp_path


@pytest.mark.parametrize("name", ["code.py", "new.py"])
def test_changed_or_new_code_is_dirty(checkout: Path, name: str) -> None:
    (checkout / name).write_text("x = 2\n", encoding="utf-8")
    assert source_state(checkout)[1]


def test_results_of_a_run_do_not_make_the_tree_dirty(checkout: Path) -> None:
    (checkout / "results" / "a.csv").write_text("a\n2\n", encoding="utf-8")
    (checkout / "RESULTS.md").write_text("# Results\n", encoding="utf-8")
    assert not source_state(checkout)[1]


def test_asking_git_writes_nothing(checkout: Path) -> None:
    """Who kills a run amid the question must not find the index locked."""
    os.utime(checkout / "code.py", (0, 0))
    before = (checkout / ".git" / "index").read_bytes()
    assert not source_state(checkout)[1]
    assert (checkout / ".git" / "index").read_bytes() == before
