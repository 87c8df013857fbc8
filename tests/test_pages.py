"""Generated pages as they are committed: complete, each deviation once, no dead link."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from harness.declare.papers import load_deviations
from harness.publish.report.text import number
from harness.registry import load_registry
from harness.store.trial import MAX_TRIALS
from tests.benchmarks.goals import load_baselines
from tests.checkout import ROOT
from tests.test_readme import anchors

LIBRARY = load_registry()
PAPERS = LIBRARY.papers
GOALS = ROOT / "results" / "benchmarks" / "README.md"
OF_PAPERS = [page for page in sorted((ROOT / "results").glob("*/README.md")) if page != GOALS]
PAGES = [ROOT / "RESULTS.md", GOALS, *OF_PAPERS]
TEXTS = [*PAGES, ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
TEXTS += (ROOT / "reproductions").glob("*/README.md")
for_each_page = pytest.mark.parametrize("page", PAGES, ids=lambda p: f"{p.parent.name}/{p.name}")
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def test_every_paper_has_a_page_that_names_each_of_its_tasks() -> None:
    assert {page.parent.name for page in OF_PAPERS} == set(PAPERS)
    texts = {
        page.parent.name: "".join(each.read_text("utf-8") for each in page.parent.glob("*.md"))
        for page in OF_PAPERS
    }
    assert [name for name, task in LIBRARY.tasks.items() if name not in texts[task.paper]] == []


def test_the_overview_is_read_in_a_few_screens() -> None:
    assert len((ROOT / "RESULTS.md").read_bytes()) <= 20_000


@for_each_page
def test_no_value_is_written_as_python_does(page: Path) -> None:
    """Code apart, which deviations name: a list in quotes."""
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8")).replace("\\", "")
    assert not re.findall(r"[\[{(]'.{0,30}", text)


@for_each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    marks: dict[Path, set[str]] = {}
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            found = marks.setdefault(target, anchors(target))
            assert anchor in found, f"{path}#{anchor}"


def test_the_guide_to_clusters_says_how_many_trials_an_experiment_may_have() -> None:
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    assert f"at most {MAX_TRIALS:,} trials at a profile" in text
    assert "100,000 records" in text and MAX_TRIALS == 100_000


def test_the_guide_to_clusters_says_the_memory_that_was_measured() -> None:
    text = (ROOT / "docs" / "cluster.md").read_text(encoding="utf-8")
    (measured,) = (each for each in load_baselines(ROOT) if f"On {each.title}\n" in text)
    rows = [item for item in measured.measured() if re.fullmatch("many_.*_memory", item.name)]
    assert len(rows) == 5
    for row in rows:
        verb = row.name.removeprefix("many_").removesuffix("_memory").replace("_deep", " --deep")
        slope = row.note.split("; ")[-1].removesuffix(" a record")
        assert f"| `repro {verb}` | {number(row.measured)} MB | {slope} |" in text


@pytest.mark.parametrize("paper", sorted(PAPERS))
def test_each_deviation_stands_once(paper: str) -> None:
    """Whole, on the page of its paper, and in no other text of ours."""
    pages = {page: flat(page.read_text(encoding="utf-8")) for page in TEXTS}
    for deviation in load_deviations(PAPERS[paper].folder):
        whole = f"The paper: {deviation.paper} Ours: {deviation.ours} Expected effect:"
        for text in (f"{whole} {deviation.effect}", deviation.ours):
            at = [page for page, said in pages.items() for _ in range(said.count(flat(text)))]
            assert at == [ROOT / "results" / paper / "README.md"], deviation.id


def flat(text: str) -> str:
    """Return words alone, whatever a page escapes."""
    return re.sub(r"\W+", " ", text.replace("&lt;", "<")).strip()
