"""A user's script on a testbed, by the paper's own command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

BED = ["--groups", "2", "--ranks-per-group", "2", "--inter-mbit", "100"]
SCRIPT = """
import os, sys
words = [os.environ[name] for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR")] + sys.argv[1:]
# At once: ranks share the stream.
os.write(1, (" ".join(words) + "\\n").encode())
sys.exit(7 if "fail" in sys.argv and os.environ["RANK"] == "3" else 0)
"""


def command(*words: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "reproductions.paro", "testbed", *words]
    return subprocess.run(whole, cwd=ROOT, capture_output=True, text=True)


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    return str(file)


def test_a_script_runs_on_every_rank_with_its_arguments(script: str) -> None:
    done = command(*BED, "--nic", "rail", "--", script, "--lr", "3")
    assert done.returncode == 0, done.stderr
    lines = sorted(line.split() for line in done.stdout.splitlines())
    assert [line[:2] for line in lines] == [[str(rank), "4"] for rank in range(4)]
    assert {tuple(line[3:]) for line in lines} == {("--lr", "3")}


def test_a_script_that_fails_is_told_by_its_rank(script: str) -> None:
    done = command(*BED, "--", script, "fail")
    assert done.returncode == 3
    assert f"{script}: rank 3 of 4 ended with exit code 7, the others were ended" in done.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--inter-mbit", "0"], "bandwidth B=0 Gbit/s: need a finite one above 0"),
        (["--ranks-per-group", "0"], "n=0 GPUs in groups of m=0: need at least one of each"),
        (["--groups", "40"], "80 ranks on a testbed: need at most 64"),
        (["--nic", "wifi"], "Invalid value for '--nic'"),
    ],
)
def test_bad_input_gets_one_sentence(words: list[str], said: str, script: str) -> None:
    done = command(*BED, *words, "--", script)
    assert done.returncode == 2 and said in done.stderr and not done.stdout
    assert "Traceback" not in done.stderr


def test_a_script_that_is_not_there_gets_one_sentence() -> None:
    done = command(*BED, "--", "nowhere.py")
    assert done.returncode == 2
    assert done.stderr == "error: script nowhere.py: no such file: name one, after `--`\n"
