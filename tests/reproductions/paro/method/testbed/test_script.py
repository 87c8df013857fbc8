"""A user's script on a testbed, by the paper's own command."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from harness.measure.fresh_process import call_fresh
from reproductions.paro.__main__ import app

BED = ["--groups", "2", "--ranks-per-group", "2", "--inter-mbit", "100"]
SCRIPT = """
import os, sys
words = [os.environ[name] for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR")] + sys.argv[1:]
# At once: ranks share the stream.
os.write(1, (" ".join(words) + "\\n").encode())
sys.exit(7 if "fail" in sys.argv and os.environ["RANK"] == "3" else 0)
"""


def command(folder: Path, *words: str) -> tuple[Any, str, str]:
    """Run the command in a process of its own, from which ranks are forked; return its end."""
    code = call_fresh(_command, {"folder": str(folder), "words": ["testbed", *words]})
    return code, (folder / "1").read_text(), (folder / "2").read_text()


def _command(folder: str, words: list[str]) -> Any:
    streams = {number: os.dup(number) for number in (1, 2)}
    for number in streams:
        os.dup2(os.open(f"{folder}/{number}", os.O_WRONLY | os.O_CREAT), number)
    try:
        app(words)
    except SystemExit as end:
        return end.code
    finally:
        for number, stream in streams.items():
            os.dup2(stream, number)


@pytest.fixture
def script(tmp_path: Path) -> str:
    file = tmp_path / "train.py"
    file.write_text(SCRIPT)
    return str(file)


def test_a_script_runs_on_every_rank_with_its_arguments(script: str, tmp_path: Path) -> None:
    code, out, err = command(tmp_path, *BED, "--nic", "rail", "--", script, "--lr", "3")
    assert code == 0, err
    lines = sorted(line.split() for line in out.splitlines())
    assert [line[:2] for line in lines] == [[str(rank), "4"] for rank in range(4)]
    assert {tuple(line[3:]) for line in lines} == {("--lr", "3")}


def test_a_script_that_fails_is_told_by_its_rank(script: str, tmp_path: Path) -> None:
    code, _, err = command(tmp_path, *BED, "--", script, "fail")
    assert code == 3
    assert f"{script}: rank 3 of 4 ended with exit code 7, the others were ended" in err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--groups", "40", "--", "train.py"], "80 ranks on a testbed: need at most 64"),
        (["--nic", "wifi", "--", "train.py"], "Invalid value for '--nic'"),
        (["--", "nowhere.py"], "script nowhere.py: no such file: name one, after `--`"),
    ],
)
def test_bad_input_gets_one_sentence(
    words: list[str], said: str, script: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(script).parent)
    done = CliRunner().invoke(app, ["testbed", *BED, *words])
    assert done.exit_code == 2 and said in done.stderr and not done.stdout
