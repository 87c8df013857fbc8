"""Users' pages of methods: their examples run, the first ones where torch and numpy alone are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, distribution, requires
from pathlib import Path

import pytest
from matplotlib import pyplot

from tests.checkout import ROOT
from tests.composes.pages import NAMES, page_of
from tests.method_pages import examples, run_examples


def with_what_they_require(*names: str) -> Iterator[str]:
    """Yield distributions and, over and over, those that pip would install with them."""
    pending, seen = list(names), set[str]()
    while pending:
        name = pending.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        yield name
        try:
            needed = requires(name) or []
        except PackageNotFoundError:
            continue
        pending += [re.split(r"[^\w.-]", each)[0] for each in needed if "extra ==" not in each]


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder as pip leaves it after `torch numpy` and `--no-deps .`: links, no copies."""
    site = tmp_path_factory.mktemp("site")
    for name in with_what_they_require("torch", "numpy"):
        try:
            files = distribution(name).files or []
        except PackageNotFoundError:
            continue  # of another platform
        for top in {file.parts[0] for file in files} - {"..", "__pycache__"}:
            (site / top).symlink_to(Path(str(distribution(name).locate_file(top))))
    for ours in ("harness", "reproductions"):
        (site / ours).symlink_to(ROOT / ours)
    return site


def run_there(code: str, site: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a process that finds nothing but the standard library and a folder."""
    script = folder / "example.py"
    script.write_text(code, encoding="utf-8")
    return subprocess.run(
        [sys.executable, "-S", str(script)], cwd=folder, capture_output=True, text=True,
        check=False, env={**os.environ, "PYTHONPATH": str(site)},
    )  # fmt: skip


@pytest.mark.parametrize("absent", ["pandas", "transformers", "pydantic", "safetensors"])
def test_others_are_absent_there(absent: str, installed: Path, tmp_path: Path) -> None:
    done = run_there(f"import {absent}", installed, tmp_path)
    assert f"No module named '{absent}'" in done.stderr


ALL = """
import runpy
for name in {names}:
    runpy.run_path(f"{{name}}.py")
    print("\\0")
"""
"""Runs the examples of each page, which share nothing but the import of torch."""


def test_first_examples_of_pages_need_torch_and_numpy_alone(
    installed: Path, tmp_path: Path
) -> None:
    for name in NAMES:
        assert examples(name)
        (tmp_path / f"{name}.py").write_text("\n".join(examples(name)), encoding="utf-8")
    done = run_there(ALL.format(names=list(NAMES)), installed, tmp_path)
    assert done.returncode == 0, done.stderr
    printed = dict(zip(NAMES, done.stdout.split("\0\n")[:-1], strict=True))
    assert all(printed.values())
    outer = [float(line.split()[1]) for line in printed["fg2u"].splitlines()[:50]]
    assert outer[-1] < 0.1 * outer[0], "the outer loss falls"


def test_examples_of_supar_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = run_examples("supar", {"pandas", "matplotlib"})
    weight = names["model"][2].weight
    assert (weight == 0).sum() == weight.numel() * 7 // 8
    assert float(names["loss"].detach()) < float(names["first"])
    assert names["report"].verdict == "pass"
    assert (tmp_path / "check.svg").stat().st_size > 0


def test_examples_of_asymvalley_run(capsys: pytest.CaptureFixture[str]) -> None:
    run_examples("asymvalley", {"pandas", "matplotlib"})
    pyplot.close("all")
    asymmetry, accuracy, same_signs = (float(word) for word in capsys.readouterr().out.split())
    assert -1.0 <= asymmetry <= 1.0
    assert 0.0 <= accuracy <= 1.0
    assert 0.5 < same_signs <= 1.0


def test_examples_of_lisa_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_examples("lisa", {"transformers", "accelerate"})
    # The trainer prints its log in between.
    printed = capsys.readouterr().out.splitlines()
    lines = [line.split() for line in printed if line[0] in "0123456789"]
    assert [int(count) for count, _ in lines] == [4, 2, 2]
    assert all(0.25 <= float(coverage) <= 1.0 for _, coverage in lines)


@pytest.mark.parametrize("name", NAMES)
def test_a_page_is_found(name: str) -> None:
    link = f"docs/{name}.md"
    assert f"]({link})" in (ROOT / "README.md").read_text(encoding="utf-8")
    paper = ROOT / "reproductions" / name / "README.md"
    assert f"](../../{link})" in paper.read_text(encoding="utf-8")
    assert f"](../reproductions/{name}/README.md)" in page_of(name).read_text(encoding="utf-8")
