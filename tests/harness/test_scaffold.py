"""`repro new`: what it writes runs, passes its own tests and the linters, and replaces nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.registry import Library, load_registry
from harness.scaffold import new_paper, new_task
from tests.checkout import ROOT
from tests.harness.conftest import Cli
from tests.harness.inline_lab import tree as files_of
from tests.harness.toy_paper import ToyPaper

PACKAGES = ("tests/__init__.py", "tests/reproductions/__init__.py", "reproductions/__init__.py")


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a checkout of our own with one paper of ours and two that are new."""
    root = tmp_path_factory.mktemp("checkout")
    shutil.copytree(
        ROOT / "reproductions" / "supar",
        root / "reproductions" / "supar",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in (*PACKAGES, "pyproject.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    # Linters sort its imports as one's own.
    (root / "harness").symlink_to(ROOT / "harness")
    told = repro(root, "new", "paper", "mypaper")
    assert told.stderr.startswith("next: repro run mypaper/tab01; ")
    assert "reproductions/mypaper/means/tab01.py" in told.stdout.splitlines()
    repro(root, "new", "task", "supar/abl_mean", "--study", "means_of_ours")
    return root


def python(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in a checkout, which must succeed."""
    env = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{ROOT}", "REPRO_ROOT": str(root)}
    done = subprocess.run(
        [sys.executable, *words], cwd=root, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


def repro(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return python(root, "-m", "harness.cli", *words)


NEW = ("mypaper", "supar/abl_mean")


@pytest.mark.slow
def test_what_is_new_runs_its_check_holds_and_pages_show_it(checkout: Path) -> None:
    told = repro(checkout, "run", *NEW, "--profile", "smoke")
    assert "20 run, 0 reused" in told.stderr and "broken" not in told.stderr
    rows = json.loads(repro(checkout, "check", *NEW, "--profile", "smoke", "--json").stdout)
    found = [(row["task"], row["claim"], row["verdict"], row["registered"]) for row in rows]
    assert found == [
        (name, "mean_as_computed", "HOLDS", True) for name in ("mypaper/tab01", NEW[1])
    ]
    repro(checkout, "report")
    assert "mypaper" in (checkout / "RESULTS.md").read_text(encoding="utf-8")


@pytest.mark.slow
def test_it_passes_its_own_tests(checkout: Path) -> None:
    files = [
        str(checkout / "tests" / "reproductions" / name)
        for name in ("mypaper/means/test_tab01.py", "supar/means_of_ours/test_abl_mean.py")
    ]
    done = python(checkout, "-m", "pytest", "-q", "-p", "no:cacheprovider", *files)
    assert "6 passed" in done.stdout


def test_linters_find_nothing(checkout: Path) -> None:
    """As strict as with the harness."""
    new = [
        "reproductions/mypaper", "tests/reproductions/mypaper",
        "reproductions/supar/means_of_ours", "tests/reproductions/supar",
    ]  # fmt: skip
    python(checkout, "-m", "ruff", "check", "--no-cache", *new)
    python(checkout, "-m", "ruff", "format", "--no-cache", "--check", *new)


@pytest.fixture(scope="module")
def library() -> Library:
    return load_registry()


@pytest.mark.parametrize(
    ("task_id", "study", "said"),
    [
        ("supra/tab09", "", "no paper is called 'supra'; did you mean 'supar'?"),
        ("tab09", "", "'tab09' is no task's id: write PAPER/WORD"),
        ("supar/fig06", "", "paper.toml of supar lists fig06 already"),
        ("supar/tab09", "method", "supar has method already: name another folder by --study"),
        ("supar/tab09", "lr_sweep", "supar has lr_sweep already"),
        ("supar/trial", "", "'trial' cannot name a task"),
        ("supar/Tab09", "", "'Tab09' cannot name a task"),
        ("supar/abl_x", "class", "'class' cannot name a study"),
        ("supar/../../abl_x", "", "'../../abl_x' cannot name a task"),
    ],
)
def test_a_task_that_cannot_be_is_refused(
    library: Library, task_id: str, study: str, said: str
) -> None:
    with pytest.raises(UsageError) as refused:
        new_task(library, task_id, study)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("supar", "is there already: take another name, or repro new task"),
        ("nets", "is there already"),
        ("my-paper", "'my-paper' cannot name a paper"),
        ("import", "'import' cannot name a paper"),
        ("x" * 101, "cannot name a paper"),
        ("", "'' cannot name a paper"),
    ],
)
def test_a_paper_that_cannot_be_is_refused(library: Library, name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        new_paper(library, name)
    assert said in str(refused.value)


def test_nothing_is_replaced(toy: ToyPaper, cli: Cli) -> None:
    """Not even where only a test's file is in the way: then nothing at all is written."""
    taken = toy.packages / "tests" / "toylab" / "abl_means" / "test_abl_means.py"
    taken.parent.mkdir(parents=True)
    taken.write_text("mine")
    before = files_of(toy.packages)
    done = cli("new", "task", "toylab/abl_means")
    assert (done.code, len(done.err.splitlines())) == (2, 1), done
    assert "test_abl_means.py is there already, and nothing is replaced" in done.err
    assert files_of(toy.packages) == before


def test_a_paper_of_another_package_gets_a_task_too(toy: ToyPaper, cli: Cli) -> None:
    assert cli("new", "task", "toylab/abl_means").code == 0
    done = cli("run", "toylab/abl_means", "--executor", "inline")
    assert done.code == 0, done.err
    (row,) = json.loads(cli("check", "toylab/abl_means", "--json", "--profile", "smoke").out)
    assert row["verdict"] == "HOLDS"
    assert (toy.packages / "tests" / "toylab" / "abl_means" / "test_abl_means.py").is_file()
