"""A broken paper is named by every verb, fails it, and takes no other paper with it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.publish.report.load import load_pages
from harness.publish.report.write import write_results, write_site
from harness.registry import load_registry
from harness.store.workspace import Workspace
from tests.harness.conftest import Cli, forget_toylab
from tests.harness.hostile import put
from tests.harness.test_registry import add_paper
from tests.harness.toy_paper import ToyPaper

VERBS = [
    ("list", "twolab", "--json"),
    ("plan", "twolab"),
    ("status", "twolab"),
    ("run", "twolab", "--executor", "inline"),
    ("figures", "twolab"),
    ("records", "export", "out.tar.gz", "twolab"),
    ("data", "pack", "twolab", "--out", "carry", "--profile", "smoke"),
    ("verify", "twolab", "--profile", "cpu", "--executor", "inline"),
    ("check", "twolab"),
    ("doctor",),
]


@pytest.fixture
def two(toy: ToyPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ToyPaper:
    """Return the toy paper with a second one beside it, found by an entry point of its own."""
    add_paper(toy, "twolab", "twolab")
    folder = toy.packages / "twolab-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: twolab\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text("[paper_reproductions.papers]\ntwolab = twolab\n")
    monkeypatch.chdir(tmp_path)
    return toy


def break_init(folder: Path) -> str:
    (folder / "__init__.py").write_text("raise RuntimeError('no licence')\n")
    return "broken: twolab (__init__.py): RuntimeError: no licence"


def break_tasks(folder: Path) -> str:
    (folder / "squares" / "tab01.py").write_text("def (\n")
    return "broken: twolab/tab01 (squares/tab01.py): SyntaxError"


def break_paper_file(folder: Path) -> str:
    put(folder / "paper.toml", "dangling link")
    return "broken: twolab (paper.toml): SpecError: "


BREAKS: list[Callable[[Path], str]] = [break_init, break_tasks, break_paper_file]


@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
def test_every_verb_names_it_and_fails(cli: Cli, two: ToyPaper, words: tuple[str, ...]) -> None:
    told = break_tasks(two.packages / "twolab")
    done = cli(*words)
    assert told in done.err and "Traceback" not in done.err
    assert done.code == (1 if words[0] == "check" else 2)


@pytest.mark.parametrize("damage", BREAKS)
def test_however_it_is_broken_the_other_paper_goes_on(
    cli: Cli, two: ToyPaper, damage: Callable[[Path], str]
) -> None:
    told = damage(two.packages / "twolab")
    for selectors in (["toylab", "twolab"], ["*lab/tab01"], []):
        done = cli("list", "--json", *selectors)
        assert "toylab/tab01" in [row["id"] for row in json.loads(done.out)]
        assert (done.code, told in done.err) == (2, True)
    assert cli("list", "toylab").code == 0
    assert cli("run", "toylab", "twolab", "--executor", "inline").code == 2
    assert len(two.records()) == 12
    assert [row["verdict"] for row in json.loads(cli("check", "toylab", "--json").out)]
    assert cli("check", "twolab").code == 1


@pytest.mark.parametrize(
    "damage",
    [*BREAKS, "twolab/deviations.toml", "twolab/reference/x.csv"],
)
def test_report_shows_the_other_paper_and_tells_the_reason(
    two: ToyPaper,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], str] | str,
) -> None:
    folder = two.packages / "twolab"
    if callable(damage):
        told = damage(folder).partition("): ")[2]
    else:
        told = put(two.packages / damage, "dangling link")
    pages = pages_of(two, monkeypatch)
    assert "toylab/README.md" in pages["RESULTS.md"] and "Squares grow" in pages["index.html"]
    broken = [each.reason for each in load_registry().broken.values()]
    assert any(told in reason for reason in (*broken, caplog.text))


def pages_of(toy: ToyPaper, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Return what a report of the toy papers alone writes: ours take too long."""
    monkeypatch.setattr("harness.registry.BUILT_IN", "toylab")
    monkeypatch.syspath_prepend(str(toy.packages))
    forget_toylab()
    workspace, library = Workspace(toy.root), load_registry()
    pages = load_pages(workspace, library)
    paths = [write_results(workspace, library, pages), write_site(workspace, pages)]
    return {path.name: path.read_text() for path in paths}


def test_damaged_pack_keeps_no_other_verdict_back(cli: Cli, two: ToyPaper) -> None:
    two.env["TOY_SEEDS"] = "5"
    run = ("run", "toylab", "twolab", "--executor", "inline", "--profile", "cpu")
    assert cli(*run).code == 0
    pack = two.root / "results" / "twolab" / "records" / "squares.cpu.jsonl.gz"
    word = put(pack, "folder")
    done = cli("check", "--deep", "--json", "toylab", "twolab")
    verdicts = {row["task"]: (row["verdict"], row["reason"]) for row in json.loads(done.out)}
    assert (done.code, verdicts["toylab/tab01"][0]) == (1, "SUPPORTED")
    assert verdicts["twolab/tab01"][0] == "ERROR" and word in verdicts["twolab/tab01"][1]


@pytest.mark.parametrize("text", [None, "x = 1\n"], ids=["no file", "no function"])
def test_trial_that_is_not_there_is_one_sentence(cli: Cli, two: ToyPaper, text: str | None) -> None:
    path = two.packages / "twolab" / "squares" / "trial.py"
    path.unlink() if text is None else path.write_text(text)
    done = cli("run", "twolab", "--executor", "inline")
    assert (done.code, "Traceback" in done.err) == (3, False), done
    assert "twolab.squares.trial" in done.err
    assert cli("run", "toylab", "--executor", "inline").code == 0
