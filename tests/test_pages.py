"""Generated pages as they are committed: short, each deviation once, no dead link."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from harness.declare.papers import load_deviations
from harness.registry import load_registry
from harness.run.awaited import RUN_AT, awaited_by, awaited_text
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
ROWS = json.loads((ROOT / "results" / "verdicts.json").read_text(encoding="utf-8"))
LINK = re.compile(r"\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)")


def test_every_paper_has_a_page() -> None:
    assert {page.parent.name for page in OF_PAPERS} == set(PAPERS)


def test_the_overview_is_read_in_a_few_screens() -> None:
    assert len((ROOT / "RESULTS.md").read_bytes()) < 60_000


def test_the_overview_names_all_that_is_undecided_and_what_would_decide_it() -> None:
    """Each claim of a paper once, with its seeds, or where no number of them does."""
    text = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    lists = re.findall(
        r"^Claims of the paper that are undecided, and .*:\n\n((?:- .*\n)+)", text, re.MULTILINE
    )
    told = Counter(re.findall(r"`(\w+)`( \d+)?", " ".join(lists)))
    open_ = (r for r in ROWS if r["verdict"] == "INCONCLUSIVE" and r["decides"])
    of_papers = [r for r in open_ if not r["own_question"] and not r["half_of"]]
    wanted = Counter(
        (r["claim"], f" {r['seeds_to_decide']}" if r["seeds_to_decide"] else "") for r in of_papers
    )
    assert told == wanted


@pytest.mark.parametrize("page", OF_PAPERS, ids=lambda page: page.parent.name)
def test_every_undecided_claim_says_what_would_decide_it(page: Path) -> None:
    rows = [r for r in ROWS if r["task"].split("/")[0] == page.parent.name]
    count = sum(r["verdict"] == "INCONCLUSIVE" for r in rows)
    cells = re.findall(r" \| INCONCLUSIVE(.*?) \| ", page.read_text(encoding="utf-8"))
    enough = r"seeds would decide it|would be needed to decide it|one seed has no spread"
    for cell in cells:
        assert re.search(rf"{enough}|no number of seeds settles|nothing was measured", cell), cell
    assert len(cells) == count


@pytest.mark.parametrize("page", OF_PAPERS, ids=lambda page: page.parent.name)
def test_every_item_opens_with_what_came_out(page: Path) -> None:
    """In a sentence, or else with the reason why nothing did."""
    sections = re.split(r"^## (?=\w+/\w+: )", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert len(sections) > 10
    for section in sections[1:]:
        head, _, opening, *_ = section.splitlines()
        assert re.match(r"> \S.{20,}\.$|(Nothing to run|Planned|Not run in any)\b", opening), head


def test_what_waits_for_a_card_or_a_judge_names_the_command_on_every_page() -> None:
    waiting = {task.id: awaited_by(task) for task in LIBRARY.tasks.values()}
    assert waiting["lisa/with_kernels"] == waiting["kernels/on_device"] == "card"
    assert waiting["lisa/tab03"] == waiting["lisa/tab08"] == "judge"
    for task, awaited in waiting.items():
        if not awaited or any((ROOT / "results").glob(f"{task}.{RUN_AT[awaited]}.json")):
            continue
        for page in (ROOT / "RESULTS.md", ROOT / "results" / task.split("/")[0] / "README.md"):
            assert awaited_text(task, awaited) in page.read_text(encoding="utf-8"), page


def test_every_task_has_a_line_in_the_overview() -> None:
    text = (ROOT / "RESULTS.md").read_text(encoding="utf-8")
    for task in LIBRARY.tasks.values():
        link = f"[{task.word}](results/{task.paper}/README.md#{task.id.replace('/', '-')})"
        assert f"\n| {link} | " in text, task.id


@for_each_page
def test_a_negative_number_has_a_true_minus(page: Path) -> None:
    text = re.sub(r"`[^`]*`|\]\([^)]*\)", "", page.read_text(encoding="utf-8"))
    assert not re.findall(r".*(?<![\w.^=+-])-\d.*", text)


@for_each_page
def test_no_value_is_written_as_python_does(page: Path) -> None:
    """Code apart, which deviations name: a list in quotes, a `None` or a truth that was sealed."""
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8")).replace("\\", "")
    assert not re.findall(r".{0,30}(?:[\[{(]'|\b(?:None|True|False) (?:then|now)|_\w+' then)", text)


@for_each_page
def test_every_link_leads_somewhere(page: Path) -> None:
    marks: dict[Path, set[str]] = {}
    for path, anchor in LINK.findall(page.read_text(encoding="utf-8")):
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), path
        if anchor:
            found = marks.setdefault(target, anchors(target))
            assert anchor in found, f"{path}#{anchor}"


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


@for_each_page
def test_names_are_never_without_what_stood_in(page: Path) -> None:
    """CINIC-10 was never here: MNIST stands in for it in every claim, title and head."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if "CINIC-10" in line and not line.startswith('- <a id="'):
            assert "MNIST" in line, line[:200]


@pytest.mark.parametrize("page", OF_PAPERS, ids=lambda page: page.parent.name)
def test_derived_numbers_of_a_paper_say_so_beside_their_claims(page: Path) -> None:
    """In as many lines of an item's section as it has claims that stand beside such a number."""
    told = Counter(row["task"] for row in ROWS if row["paper_standing"] == "derived")
    sections = re.split(r"^## (\w+/\w+): ", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    for task, section in zip(sections[1::2], sections[2::2], strict=True):
        found = re.findall(r"; paper: [^|]*\d[^|]* \(derived\) \|", section)
        assert len(found) == told[task], task
