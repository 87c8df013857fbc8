"""What became slower between two commits: by samples made by hand, and in a small repository."""

from __future__ import annotations

import subprocess
from pathlib import Path
from random import Random

import pytest

from harness.errors import UsageError
from tools import bench_compare
from tools.bench_compare import change, compare, main

TIMED = """
import time

def test_slept(benchmark):
    benchmark.pedantic(time.sleep, (SECONDS,), rounds=10)

def test_NAME(benchmark):
    benchmark.pedantic(time.sleep, (0.001,), rounds=1)

def test_counted(benchmark):
    benchmark.extra_info["exact"] = True
    benchmark.pedantic(time.sleep, (SECONDS,), rounds=1)
"""


def samples(seed: int, factor: float = 1.0) -> list[float]:
    """Return times that vary by 2 %."""
    draw = Random(seed)
    return [factor * draw.gauss(1.0, 0.02) for _ in range(30)]


@pytest.mark.parametrize(
    ("factor", "word"),
    [
        (1.1, "slower"), (1.01, "no change"), (1.0, "no change"), (0.99, "no change"),
        (0.9, "faster"),
    ],
)  # fmt: skip
def test_a_tenth_is_seen_and_a_hundredth_is_not(factor: float, word: str) -> None:
    for seed in range(20):
        assert change(samples(seed), samples(seed + 100, factor)) == word, seed


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository of two commits, of which the second sleeps longer."""
    root = tmp_path / "repository"
    folder = root / "tests" / "benchmarks"
    folder.mkdir(parents=True)
    git(root, "init", "-q")
    for name, seconds in (("gone", "0.002"), ("come", "0.02")):
        text = TIMED.replace("NAME", name).replace("SECONDS", seconds)
        (folder / "bench_slept.py").write_text(text, encoding="utf-8")
        git(root, "add", ".")
        git(root, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", name)
    (folder / "bench_new.py").write_text(TIMED.replace("SECONDS", "0.0"), encoding="utf-8")
    monkeypatch.delenv("PYTEST_XDIST_WORKER", raising=False)
    monkeypatch.setattr(bench_compare, "ROOT", root)
    return root


def git(root: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def test_two_commits_are_compared_and_the_other_one_s_folder_goes(
    repository: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert compare(repository, "HEAD~1", ["slept", "new"], rounds=1) == ["bench_slept: test_slept"]
    _, *rows = (line.split() for line in capfd.readouterr().out.splitlines())
    words = {f"{file} {name}": " ".join(cells[-2:]) for file, name, *cells in rows}
    assert words.pop("bench_slept: test_slept").endswith("slower")
    assert words == {
        "bench_new: test_NAME": "only now",
        "bench_new: test_slept": "only now",
        "bench_slept: test_come": "only now",
        "bench_slept: test_gone": "only before",
    }
    assert len(git(repository, "worktree", "list").splitlines()) == 1


def test_a_slowdown_fails_if_asked_to_and_bad_names_are_told(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no benchmark matches 'slebt'"):
        compare(repository, "HEAD~1", ["slept", "slebt"])
    with pytest.raises(SystemExit) as caught:
        main(["slept", "--ref", "nowhere"])
    assert caught.value.code == 2
    asked = []
    monkeypatch.setattr(bench_compare, "compare", lambda *told: asked.append(told[2]) or ["slept"])
    assert (main(["slept"]), main(["--fail"])) == (0, 1)
    # Without names, all.
    assert asked == [["slept"], ["*"]]
