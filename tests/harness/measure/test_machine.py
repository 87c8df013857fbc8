"""Machine facts against what the system says elsewhere."""

from __future__ import annotations

import getpass
import json
import os
import platform
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from harness.measure import machine
from harness.measure.machine import UNKNOWN, machine_facts, source_state


def test_facts_need_no_torch() -> None:
    code = (
        "import sys; from harness.measure.machine import machine_facts; f = machine_facts();"
        "print(f.versions['torch'], not {'torch', 'numpy', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [torch.__version__, "True"]


def test_facts_agree_with_the_system() -> None:
    facts = machine_facts()
    assert facts.python == platform.python_version()
    assert facts.num_cores == len(os.sched_getaffinity(0))
    total_kib = int(Path("/proc/meminfo").read_text(encoding="utf-8").split()[1])
    assert 0 < facts.memory_bytes <= total_kib * 1024
    assert facts.cpu in " ".join(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())


@pytest.mark.timing
def test_facts_are_quick() -> None:
    times = []
    for _ in range(4):
        start = time.perf_counter()
        machine_facts()
        times.append(time.perf_counter() - start)
    # The aim is 100 ms without a GPU; the rest is room for a loaded machine.
    assert min(times) < 0.5


def test_facts_name_no_host_no_user_and_no_path() -> None:
    facts = machine_facts().to_json()
    assert facts.pop("cpu")  # a maker's name, which may hold a slash
    text = json.dumps(facts)
    assert "/" not in text and "\\\\" not in text
    for word in (socket.gethostname(), getpass.getuser()):
        assert f'"{word}"' not in text and f" {word}" not in text


def test_a_missing_program_and_a_failing_one_give_nothing() -> None:
    assert machine._output(["no-such-program-anywhere"]) == ""
    assert machine._output(["false"]) == ""


def test_nvidia_smi_lines_become_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text("#!/bin/sh\necho 'NVIDIA H200, 550.54.15, 143771'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    (gpu,) = machine.gpus()
    assert (gpu.name, gpu.driver) == ("NVIDIA H200", "550.54.15")
    assert gpu.memory_bytes == 143771 * 1024 * 1024


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


def test_a_clean_checkout_gives_its_commit(checkout: Path) -> None:
    head = (checkout / ".git" / "HEAD").read_text(encoding="utf-8").split()[-1]
    state = source_state(checkout)
    assert state.commit == (checkout / ".git" / head).read_text(encoding="utf-8").strip()
    assert not state.dirty


@pytest.mark.parametrize("name", ["code.py", "new.py"])
def test_changed_or_new_code_is_dirty(checkout: Path, name: str) -> None:
    (checkout / name).write_text("x = 2\n", encoding="utf-8")
    assert source_state(checkout).dirty


def test_results_of_a_run_do_not_make_the_tree_dirty(checkout: Path) -> None:
    (checkout / "results" / "a.csv").write_text("a\n2\n", encoding="utf-8")
    (checkout / "RESULTS.md").write_text("# Results\n", encoding="utf-8")
    assert not source_state(checkout).dirty


def test_a_folder_inside_another_checkout_is_unknown(checkout: Path) -> None:
    inner = checkout / "site-packages"
    inner.mkdir()
    assert source_state(inner).commit == UNKNOWN


def test_a_folder_outside_any_checkout_is_unknown(tmp_path: Path) -> None:
    state = source_state(tmp_path)
    assert (state.commit, state.dirty) == (UNKNOWN, False)
