"""The README's examples are run as a newcomer would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT

README = ROOT / "README.md"
BLOCK = re.compile(
    r"(?:<!-- (?P<verb>file|append): (?P<path>\S+) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```\n",
    re.DOTALL,
)


def blocks() -> list[re.Match[str]]:
    return list(BLOCK.finditer(README.read_text(encoding="utf-8")))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of our papers with the README's example written into it."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "reproductions", tmp_path / "reproductions", ignore=skip)
    for block in blocks():
        if block["verb"] is None:
            continue
        path = tmp_path / block["path"]
        path.parent.mkdir(exist_ok=True)
        if block["verb"] == "append" and block["body"] in path.read_text(encoding="utf-8"):
            # Whoever followed the README has it already.
            continue
        before = path.read_text(encoding="utf-8") + "\n" if block["verb"] == "append" else ""
        path.write_text(before + block["body"], encoding="utf-8")
    return tmp_path


def repro(tree: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": f"{tree}{os.pathsep}{ROOT}", "REPRO_ROOT": str(tree)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_readme_has_the_example() -> None:
    written = [block["path"] for block in blocks() if block["verb"]]
    assert written == [
        "reproductions/supar/mask_count/abl_mask_nnz.py",
        "reproductions/supar/mask_count/trial.py",
        "reproductions/supar/paper.toml",
    ]
    lines = [line for b in blocks() if b["verb"] == "file" for line in b["body"].splitlines()]
    assert len([line for line in lines if line.strip()]) <= 30


def test_added_task_runs_and_its_claim_holds(tree: Path) -> None:
    assert "broken" not in repro(tree, "list").stderr
    run = repro(tree, "run", "supar/abl_mask_nnz", "--profile", "smoke")
    assert run.returncode == 0, run.stderr
    check = repro(tree, "check", "supar/abl_mask_nnz", "--profile", "smoke", "--json")
    assert check.returncode == 0, check.stderr
    (row,) = json.loads(check.stdout)
    assert (row["claim"], row["verdict"], row["seal"]) == ("count", "HOLDS", "sealed")
    assert row["measured"] == 0.0


def test_added_task_is_in_the_paper_s_list(tree: Path) -> None:
    from harness.declare.papers import load_paper

    item = load_paper(tree / "reproductions" / "supar").item("abl_mask_nnz")
    assert (tree / "reproductions" / "supar" / item.file).is_file()


def test_method_alone_works_as_shown(tmp_path: Path) -> None:
    shown = [b["body"] for b in blocks() if b["verb"] is None and b["language"] == "python"]
    assert shown
    code = "\n".join(shown) + "\nprint(len(groups), type(optimizer).__name__)\n"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("AdamW\n")


def test_commands_in_the_readme_exist() -> None:
    from typer.main import get_command

    from harness.commands.app import app

    verbs = set(get_command(app).commands)  # type: ignore[attr-defined]
    text = README.read_text(encoding="utf-8")
    used = set(re.findall(r"^repro (\w+)|[`&|] ?repro (\w+)", text, re.MULTILINE))
    named = {word for pair in used for word in pair if word}
    assert named
    assert named <= verbs


def test_make_targets_in_the_readme_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    named = set(re.findall(r"^make ([a-z-]+)|`make ([a-z-]+)", README.read_text(), re.MULTILINE))
    assert {word for pair in named for word in pair if word} <= targets


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README.read_text(encoding="utf-8"))
    # The report and the picture are made by a run at `cpu`, which is committed.
    assert [link for link in links if not (ROOT / link).exists()] == []
