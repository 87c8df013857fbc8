"""What the committed runs found is one set of numbers, wherever a reader meets it."""

from __future__ import annotations

import html
import re
from functools import cache

import pytest
from typer.testing import CliRunner

from harness.commands.app import app
from harness.publish.report.load import Paper, load_papers
from harness.publish.report.overview import overview_context
from harness.publish.report.results_md import results_markdown, verdict_block
from harness.publish.report.site import render
from harness.registry import load_registry
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from tests.checkout import ROOT

LIBRARY = load_registry()
PAPERS = sorted(LIBRARY.papers)
CLAIMS = {
    paper: [
        claim for task in LIBRARY.tasks.values() if task.paper == paper for claim in task.claims
    ]
    for paper in PAPERS
}


@cache
def papers() -> list[Paper]:
    return load_papers(Workspace(ROOT), LIBRARY, COMMITTED_PROFILES)


@cache
def told() -> dict[str, str]:
    """Return all that says what the committed runs found, pages laid out anew."""
    run = CliRunner()
    brief = run.invoke(app, ["check", "--profile", "cpu", "--brief"], catch_exceptions=False)
    return {
        "repro check": brief.output,
        "repro summary": run.invoke(app, ["summary"], catch_exceptions=False).output,
        "RESULTS.md": results_markdown(papers(), []),
        "README.md": "\n".join(map(verdict_block, papers())),
        "index.html": html.unescape(render("index.html.j2", overview_context(papers(), []))),
    }


def counts_in(text: str, paper: str) -> str:
    """Return what a text counts of a paper, up to the seals or the next paper."""
    if f"<code>{paper}</code>" in text:
        text = f"{paper} at cpu{text.split(f'<code>{paper}</code>')[1].split('at cpu')[1]}"
    flat = " ".join(text.replace("`", "").split())
    found = re.findall(rf"\b{paper} at cpu: (.*?)(?:;? seals of | \w+ at cpu: )", flat)
    assert len(found) == 1, (paper, found)
    return str(found[0])


@pytest.mark.parametrize("paper", PAPERS)
def test_commands_and_pages_count_alike(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    counts = {where: counts_in(text, paper) for where, text in told().items()}
    assert len(set(counts.values())) == 1, counts


@pytest.mark.parametrize("paper", PAPERS)
def test_every_declared_claim_is_counted_once(paper: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    counts = re.sub(r" \([^)]*\)", "", counts_in(told()["repro check"], paper))
    checks, claims, own = re.fullmatch(
        r".* of (\d+) checks hold; claims: (.*); and (\d+) questions of our own: .*", counts
    ).groups()  # type: ignore[union-attr]
    exact = sum(claim.scope.grade == "exact" for claim in CLAIMS[paper])
    ours = sum(claim.scope.own_question for claim in CLAIMS[paper])
    assert (int(checks), int(own)) == (exact, ours)
    assert sum(map(int, re.findall(r"\d+", claims))) == len(CLAIMS[paper]) - exact - ours


@pytest.mark.parametrize("paper", PAPERS)
def test_what_calls_itself_ours_is_counted_as_ours(paper: str) -> None:
    for claim in CLAIMS[paper]:
        says = claim.where.startswith("ours") or claim.statement.startswith("Ours")
        assert claim.scope.own_question == says, claim.id


def test_a_number_that_decides_has_a_name() -> None:
    """A reader of "number 5 of 7" would have to count in the code."""
    rows = [row for paper in papers() for entry in paper.entries for row in entry.rows("cpu")]
    assert any(row.deciding for row in rows)
    unnamed = [r for r in rows if re.fullmatch(r"(number|step) \d+ of \d+", r.deciding)]
    assert [f"{row.task}:{row.claim}" for row in unnamed] == []
