"""Examples of the README and of docs/ are run as a newcomer would run them."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from harness.commands.app import app
from harness.declare.papers import load_paper
from harness.declare.profiles import PROFILES
from harness.registry import load_registry
from tests.checkout import ROOT

README = ROOT / "README.md"
TASK_PAGE = ROOT / "docs" / "add-a-task.md"
PAGES = [README, *sorted((ROOT / "docs").glob("*.md"))]
WITH_COMMANDS = [*PAGES, ROOT / "RESULTS.md", *sorted((ROOT / "results").glob("*/README.md"))]
WITH_COMMANDS += sorted((ROOT / "reproductions").glob("*/README.md"))
WITH_COMMANDS += [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md"]
WITH_COMMANDS += sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
REPRO = get_command(app)
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
TARGETS = set(re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE))
FENCE = re.compile(r"^```\w*\n(.*?)^```$", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`]+)`")
for_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
BLOCK = re.compile(
    r"(?:<!-- (?P<verb>file|append): (?P<path>\S+) -->\n)?```(?P<language>\w*)\n(?P<body>.*?)```\n",
    re.DOTALL,
)


def blocks(page: Path = TASK_PAGE) -> list[re.Match[str]]:
    return list(BLOCK.finditer(page.read_text(encoding="utf-8")))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Return a copy of our papers with the page's example written into it."""
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "reproductions", tmp_path / "reproductions", ignore=skip)
    for block in blocks():
        if block["verb"] is None:
            continue
        path = tmp_path / block["path"]
        path.parent.mkdir(exist_ok=True)
        if block["verb"] == "append" and block["body"] in path.read_text(encoding="utf-8"):
            # Whoever followed the page has it already.
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


def test_the_page_has_the_example() -> None:
    written = [block["path"] for block in blocks() if block["verb"]]
    assert written == [
        "reproductions/supar/mask_count/abl_mask_nnz.py",
        "reproductions/supar/mask_count/trial.py",
        "reproductions/supar/paper.toml",
    ]
    lines = [line for b in blocks() if b["verb"] == "file" for line in b["body"].splitlines()]
    assert len([line for line in lines if line.strip()]) <= 30


def test_added_task_runs_and_its_claim_holds(tree: Path) -> None:
    run = repro(tree, "run", "supar/abl_mask_nnz", "--profile", "smoke")
    assert run.returncode == 0 and "broken" not in run.stderr, run.stderr
    check = repro(tree, "check", "supar/abl_mask_nnz", "--profile", "smoke", "--json")
    assert check.returncode == 0, check.stderr
    (row,) = json.loads(check.stdout)
    assert (row["claim"], row["verdict"], row["registered"]) == ("count", "HOLDS", True)
    assert row["measured"] == 0.0


def test_added_task_is_in_the_paper_s_list(tree: Path) -> None:
    items = load_paper(tree / "reproductions" / "supar").items
    (item,) = [each for each in items if each.id == "abl_mask_nnz"]
    assert (tree / "reproductions" / "supar" / item.file).is_file()


def test_python_works_as_shown() -> None:
    """As in a notebook: no shell, and nothing of it is named but `harness`."""
    shown = [b["body"] for b in blocks(ROOT / "docs" / "commands.md") if b["language"] == "python"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(shown)],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert shown and done.returncode == 0, done.stderr
    assert "fedsign_gains_cifar10" in done.stdout and "LLaMA-2-7B" in done.stdout


def code_of(page: Path) -> list[str]:
    """Return a page's lines of shell and its words of code, each with what stands behind it."""
    text = page.read_text(encoding="utf-8").replace("\\\n", " ")
    fenced = [line for block in FENCE.findall(text) for line in block.splitlines()]
    return [*fenced, *(" ".join(span.split()) for span in SPAN.findall(FENCE.sub("", text)))]


def wrong_words(line: str) -> list[str]:
    """Return what is unknown to `repro` and to the Makefile of the commands in a line of code.

    Options that its comment names are meant of its last command.
    """
    wrong = []
    for command in re.findall(r"(?:^|&& |\| |bin/)(repro [a-z].*?)(?= && | \| |$)", line):
        verb, words = REPRO, command.split()[1:]
        while words and words[0] in getattr(verb, "commands", {}):
            verb = verb.get_command(None, words.pop(0))  # type: ignore[attr-defined]
        if hasattr(verb, "commands"):
            wrong.append(f"{verb.name} {' '.join(words[:1])}")
        known = {name for each in verb.params for name in each.opts} | {"--help"}
        wrong += [
            word for word in re.findall(r"(?<!\S)\(?(--?[a-z][\w-]*)", command) if word not in known
        ]
        wrong += [
            word for word in re.findall(r"--profile[ =](\w+)", command) if word not in PROFILES
        ]
    for target, settings in re.findall(r"(?:^|&& )make ([a-z-]+)((?: [A-Z_]+=\S*)*)", line):
        wrong += [target] if target not in TARGETS else []
        for name, value in re.findall(r"([A-Z_]+)=(\S*)", settings):
            wrong += [name] if f"$({name})" not in MAKEFILE else []
            wrong += [value] if name == "PROFILE" and value not in PROFILES else []
    return wrong


@pytest.mark.parametrize("page", WITH_COMMANDS, ids=lambda p: str(p.relative_to(ROOT)))
def test_commands_on_a_page_exist(page: Path) -> None:
    """With their options, profiles, and variables of make."""
    text = page.read_text(encoding="utf-8")
    lines = [line for line in code_of(page) if re.search(r"\b(repro|make) [a-z]", line)]
    named = re.findall(r"(?:^|`|&& )(?:repro|make) [a-z]", text, re.MULTILINE)
    assert len(re.findall(r"\b(?:repro|make) [a-z]", " ".join(lines))) >= len(named)
    assert not {line: wrong for line in lines if (wrong := wrong_words(line))}


@pytest.mark.parametrize("number", ["8", "08", "10"])
@pytest.mark.parametrize("kind", ["table", "figure"])
def test_make_asks_for_the_task_by_its_number(kind: str, number: str) -> None:
    words = ["make", f"reproduce-{kind}", "PAPER=supar", f"{kind.upper()}={number}"]
    done = subprocess.run(
        [*words, "READY=", "REPRO=@echo"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    told = [line.split() for line in done.stdout.splitlines() if " supar/" in line]
    assert {word for line in told for word in line if word.startswith("supar/")} == {
        f"supar/{kind[:3]}{int(number):02}"
    }


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("repro run supar --profile cpu && repro chek supar", ["repro chek"]),
        ("repro run supar --profil cpu", ["--profil"]),
        ("repro data make mnist --form F", ["--form"]),
        ("repro check supar --all  # (--jsn: rows)", ["--jsn"]),
        ("repro plan supar -p cpu --profile cup", ["cup"]),
        ("make bench SAFE=1 && make bensh SAVE=1", ["SAFE", "bensh"]),
        ("make reproduce-figure FIGURE=6 PROFILE=gpus", ["gpus"]),
        ("repro run 'supar/fig*' --set lr=-1 --seeds 3 -h", ["-h"]),
    ],
)
def test_a_wrong_word_of_a_command_is_seen(line: str, wrong: list[str]) -> None:
    assert wrong_words(line) == wrong


@for_each_page
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#:]*)(#[^)]+)?\)", page.read_text(encoding="utf-8"))
    for path, anchor in links:
        target = page.parent / path if path else page
        # The report and the picture are made by a run at `cpu`, which is committed.
        assert target.exists(), path
        if anchor and target.suffix == ".md":
            assert anchor[1:] in anchors(target), path + anchor


def anchors(page: Path) -> set[str]:
    """Return what a link into a page may end in: its marks, and headings as GitHub names them."""
    text = page.read_text(encoding="utf-8")
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    named = {re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads}
    return named | set(re.findall(r'<a id="([^"]+)"', text))


def test_headlines_are_claims_of_the_paper() -> None:
    """And what was found is said without a number: results fill those in."""
    library = load_registry()
    for paper in library.papers.values():
        meta = load_paper(paper.folder)
        for headline in meta.headline:
            word, claim_id = headline.split(":")
            task = library.tasks[f"{paper.folder.name}/{word}"]
            (claim,) = [claim for claim in task.claims if claim.id == claim_id]
            assert claim.scope.grade == "empirical" and not claim.scope.own_question
        assert not re.search(r"\d", re.sub(r"\{[^}]*\}", "", meta.found))
