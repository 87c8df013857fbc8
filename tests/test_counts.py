"""What the committed runs found is one set of numbers, wherever a reader meets it."""

from __future__ import annotations

import re
from functools import cache

import pytest
from typer.testing import CliRunner

from harness.commands.app import app
from harness.publish.stored import stored_rows
from harness.registry import load_registry
from harness.store.workspace import Workspace
from tests.checkout import ROOT
from tests.harness.commands.test_check import ROOM_FOR_COUNTS

LIBRARY = load_registry()
PAPERS = sorted(LIBRARY.papers)
CLAIMS = {
    paper: [
        claim for task in LIBRARY.tasks.values() if task.paper == paper for claim in task.claims
    ]
    for paper in PAPERS
}


def printed(*words: str) -> str:
    """Return what a command prints."""
    return CliRunner().invoke(app, list(words), catch_exceptions=False).output


@cache
def told() -> dict[str, str]:
    """Return all that says what the committed runs found: what commands print, and the pages."""
    folders = [LIBRARY.papers[paper].folder for paper in PAPERS]
    return {
        "repro check": printed("check", "--profile", "cpu", "--brief"),
        "repro summary": printed("summary"),
        "RESULTS.md": (ROOT / "RESULTS.md").read_text(encoding="utf-8"),
        "README.md": "\n".join((f / "README.md").read_text(encoding="utf-8") for f in folders),
    }


def counts_in(text: str, paper: str) -> str:
    """Return what a text counts of a paper, up to the seals or the next paper."""
    flat = " ".join(text.replace("`", "").split())
    end = r"(?:;? seals of |(?: -)? \w+ at cpu: | the \d+ rep| No decided claim|$)"
    found = re.findall(rf"\b{paper} at cpu: (.*?){end}", flat)
    assert len(found) == 1, (paper, found)
    return str(found[0])


@pytest.mark.parametrize("paper", PAPERS)
def test_commands_and_pages_count_alike(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    counts = {where: counts_in(text, paper) for where, text in told().items()}
    counts["repro summary PAPER"] = counts_in(printed("summary", paper), paper)
    apart = {where: re.sub(r" \([^)]*\)", "", text) for where, text in counts.items()}
    assert len(set(apart.values())) == 1, counts
    # What stands in brackets, of chance, is told apart where there are several papers.
    for where in ("repro check", "repro summary"):
        assert counts.pop(where) == apart[where]
    assert len(set(counts.values())) == 1, counts


def test_what_is_known_of_chance_is_told_of_all_papers_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(ROOT)
    each = [counts_in(told()["RESULTS.md"], paper) for paper in PAPERS]
    reproduced = [re.search(r"(\d+) reproduced(?: \(([^)]*)\))?", text) for text in each]
    whole = " ".join(told()["repro summary"].split())
    total, words = re.search(r"the (\d+) reproduced: (.*?) seals of", whole).groups()  # type: ignore[union-attr]
    assert int(total) == sum(int(found[1]) for found in reproduced if found)
    for kind in (
        "where chance alone",
        "with too few seeds",
        "that no relabelling",
        "weak",
        "by constr",
    ):
        counted = rf"(\d+)(?: of the \d+)? {kind}"
        parts = [re.search(counted, found[2] or "") for found in reproduced if found]
        assert int(re.search(counted, words)[1]) == sum(int(part[1]) for part in parts if part)  # type: ignore[index]


def test_counts_leave_make_reproduce_its_40_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    words = ["check", "--profile", "smoke", "--brief"]
    smoke = CliRunner().invoke(app, words, catch_exceptions=False).output
    assert len([*smoke.splitlines(), *told()["repro summary"].splitlines()]) <= ROOM_FOR_COUNTS


@pytest.mark.parametrize("paper", PAPERS)
def test_every_declared_claim_is_counted_once(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    counts = re.sub(r" \([^)]*\)", "", counts_in(told()["repro check"], paper))
    hold, checks, others, out, claims, halves, own = re.fullmatch(
        r"(\d+) of (\d+) checks hold([^;]*?)(?:, (\d+) more out of scale)?; claims: ([^;]*)"
        r"(?:; (\d+) halves of [^;]*)?; and (\d+) questions of our own: .*",
        counts,
    ).groups()  # type: ignore[union-attr]
    exact = sum(claim.scope.grade == "exact" for claim in CLAIMS[paper])
    ours = sum(claim.scope.own_question for claim in CLAIMS[paper])
    parts = sum(bool(claim.scope.whole) for claim in CLAIMS[paper])
    assert (int(checks) + int(out or 0), int(halves or 0), int(own)) == (exact, parts, ours)
    assert int(hold) + sum(map(int, re.findall(r"\d+", others))) == int(checks)
    assert sum(map(int, re.findall(r"\d+", claims))) == len(CLAIMS[paper]) - exact - parts - ours


@pytest.mark.parametrize("paper", PAPERS)
def test_what_calls_itself_ours_is_counted_as_ours(paper: str) -> None:
    for claim in CLAIMS[paper]:
        says = claim.where.startswith("ours") or claim.statement.startswith("Ours")
        assert claim.scope.own_question == says, claim.id


@pytest.mark.parametrize("paper", PAPERS)
def test_what_calls_itself_half_or_built_in_is_declared_so(paper: str) -> None:
    for claim in CLAIMS[paper]:
        words, scope = claim.statement, claim.scope
        if "half of an either-or" in words:
            assert scope.whole, claim.id
        if "so by construction" in words or "where the rule" in words:
            assert scope.by_construction, claim.id


def test_a_number_that_decides_has_a_name() -> None:
    """A reader of "number 5 of 7" would have to count in the code."""
    tasks = LIBRARY.tasks.values()
    rows = [row for task in tasks for row in stored_rows(Workspace(ROOT), task, "cpu")]
    assert any(row.deciding for row in rows)
    unnamed = [r for r in rows if re.fullmatch(r"(number|step) \d+ of \d+", r.deciding)]
    assert [f"{row.task}:{row.claim}" for row in unnamed] == []
