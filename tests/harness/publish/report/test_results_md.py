"""RESULTS.md, papers' pages and the blocks of READMEs: what they say, and that bytes repeat."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.declare.profiles import PROFILES
from harness.errors import SpecError
from harness.measure.goals import Baseline
from harness.publish.report import build_results
from harness.publish.report.goals_md import goals_line, goals_markdown
from harness.publish.report.load import load_papers
from harness.publish.report.pages_md import MOST_TOLD, page_of, results_markdown
from harness.publish.report.readme import update_block, update_tables
from harness.registry import BrokenTask
from harness.store.workspace import COMMITTED_PROFILES
from tests.harness.measure.hand_made_goals import document_of, goal_of
from tests.harness.publish.report.demo_paper import HOSTILE, make_demo
from tests.harness.publish.report.pages import Demo, paper_of


def written(demo: Demo) -> tuple[str, str]:
    """Return RESULTS.md and the made-up paper's page, as they are."""
    root = demo[0].root
    return (root / "RESULTS.md").read_text(), (root / page_of("demo")).read_text()


def rebuilt(demo: Demo) -> tuple[str, str]:
    build_results(*demo, load_papers(*demo, COMMITTED_PROFILES, store=True))
    return written(demo)


def readme_of(demo: Demo) -> Path:
    return demo[1].papers["demo"].folder / "README.md"


def line_with(text: str, *words: str) -> str:
    (line,) = [each for each in text.splitlines() if all(word in each for word in words)]
    return line


def section(page: str, item: str) -> str:
    return page.split(f"\n## demo/{item}")[1].split("\n## ")[0]


def test_every_claim_has_a_line_the_worst_first_and_checks_are_folded(demo: Demo) -> None:
    part = section(written(demo)[1], "fig02")
    lines = [line for line in part.splitlines() if line.startswith("- ")]
    ours = "Ours: 1.00 ± 0.25 nats"
    needed = "About 5 seeds would decide it."
    assert lines == [
        f"- ✘ Loss shrinks as density falls. {ours}; asked: at most \u22120.5 nats; 3 seeds."
        " Exploratory.",
        f"- ? Loss grows by 1.2 nats. {ours}; asked: at least 1.2 nats; 3 seeds. {needed}",
        f"- ? Ours: loss stays. {ours}; asked: at most 0.5 nats; 3 seeds. Outside what is asked,"
        " but no positive control says that this setting could show it.",
        f"- ✔ Loss grows as density falls. {ours}; asked: at least 0.5 nats; paper: 1; 3 seeds.",
        "- – So do 7B nets. Scale: this scale cannot show it.",  # noqa: RUF001
        "- ✔ The table has six rows. Ours: 6; asked: equal to 6.",
    ]
    folded = part.split("<details><summary>1 of 1 check holds</summary>")[1].split("</details>")[0]
    assert "six rows" in folded and "Loss" not in folded


def test_results_counts_claims_and_lists_what_is_not_supported(demo: Demo) -> None:
    text = written(demo)[0]
    row = "| [A demonstration, made up for tests](results/demo/README.md), "
    assert line_with(text, row).endswith(" | `cpu` | 1 | 1 | 1 | 1 |")
    contradicted, undecided = text.split("\nContradicted:\n")[1].split("\nUndecided:\n")
    link = "[fig02](results/demo/README.md#demo-fig02)"
    assert line_with(contradicted, "- ").endswith(f"Exploratory. {link}")
    assert line_with(undecided.split("\n## ")[0], "- ").startswith("- ? Loss grows by 1.2 nats.")
    told = line_with(text, "At `cpu`: ")
    assert "4 claims: ✔ 1 ✘ 1 ? 1 – 1; 1 question of our own: ✔ 0 ✘ 0 ? 1 – 0; 1 of 1" in told  # noqa: RUF001
    assert "Registered before the run: 2 of 3" in told and "earlier code: 6 of 6 trials" in told
    assert "- Nothing is committed at `gpu`." in text.split("## Not run")[1]
    assert "smoke" not in "".join(written(demo))
    assert HOSTILE.startswith("<script>") and "<script>" not in "".join(written(demo))


def test_of_many_undecided_claims_those_stand_there_that_fewest_seeds_decide(demo: Demo) -> None:
    paper = paper_of(demo)
    (entry, *others) = paper.entries
    (row,) = [row for row in entry.rows if row.claim == "doubles"]
    many = tuple(
        replace(row, statement=f"Claim {n}.", seeds_to_decide=(n or None)) for n in range(20)
    )
    (run,) = entry.runs
    entries = (replace(entry, runs=(replace(run, rows=many),)), *others)
    listed = results_markdown([replace(paper, entries=entries)], []).split("Undecided:\n\n")[1]
    lines = listed.splitlines()[: MOST_TOLD + 1]
    assert [line.split(".")[0] for line in lines[:2]] == ["- ? Claim 1", "- ? Claim 2"]
    assert lines[-1] == f"- and {20 - MOST_TOLD} more on its page."


def test_a_readme_has_headline_counts_and_what_is_contradicted(demo: Demo) -> None:
    text = readme_of(demo).read_text()
    assert text.startswith(
        "# Demo\n\nBefore.\n\n<!-- verdicts:begin -->\n- ✔ Loss grows as density falls."
    )
    assert text.endswith("<!-- verdicts:end -->\n\nAfter.\n") and "\nold\n" not in text
    assert line_with(text, "Loss shrinks").endswith("(../../results/demo/README.md#demo-fig02)")
    assert "Loss grows" not in text


def test_links_of_a_page_lead_somewhere(demo: Demo) -> None:
    page, folder = written(demo)[1], (demo[0].root / page_of("demo")).parent
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert {Path(link).suffix for link in links} == {".svg", ".csv", ".json", ".md"}
    for link in links:
        assert (folder / link).exists(), link
    for place in re.findall(r"\]\(#([^)]+)\)", page):
        assert f'<a id="{place}"></a>' in page


def test_equal_results_give_equal_bytes_elsewhere(tmp_path: Path, demo: Demo) -> None:
    """Made from nothing, in another folder; and what is there is not written again."""
    other = make_demo(tmp_path / "other")
    assert rebuilt(other) == written(demo)
    assert readme_of(other).read_bytes() == readme_of(demo).read_bytes()
    names = [f"results/demo/{name}" for name in ("verdicts.cpu.json", "fig02.cpu.csv")]
    for name in (*names, "results/demo/fig02.cpu.json", "figures/demo/fig02.cpu.svg"):
        assert (other[0].root / name).read_bytes() == (demo[0].root / name).read_bytes(), name
    assert rebuilt(other) == written(demo)


def test_a_damaged_result_is_named_on_its_page(own_demo: Demo) -> None:
    path = own_demo[0].root / "results" / "demo" / "fig02.cpu.csv"
    path.write_text(path.read_text().replace("2.1", "1.1"))
    text, page = rebuilt(own_demo)
    assert "! 4" in line_with(text, "At `cpu`: ")
    assert "results/demo/fig02.cpu.csv" in line_with(page, "cannot be used")
    assert str(own_demo[0].root) not in text + page


def test_what_was_not_run_and_what_is_broken_says_why(own_demo: Demo) -> None:
    workspace, library = own_demo
    library.broken["demo/fig77"] = BrokenTask("demo/fig77", "loss/fig77.py", "nobody lists it")
    for path in (workspace.root / "results" / "demo").glob("fig02.*"):
        path.unlink()
    text, page = rebuilt(own_demo)
    assert "\n- demo/fig02: not run\n" in text
    assert "Not run: repro run demo/fig02 --profile cpu" in section(page, "fig02")
    assert "Broken: nobody lists it." in section(page, "fig77")
    assert "Planned: It needs eight GPUs." in section(page, "tab01")


def test_a_paper_that_cannot_be_read_stops_no_other(own_demo: Demo) -> None:
    (own_demo[1].papers["demo"].folder / "deviations.toml").write_text("[[")
    (paper,) = load_papers(*own_demo, PROFILES)
    assert paper.problem.startswith("reproductions/demo/deviations.toml")
    assert f"Broken: {paper.problem}" in rebuilt(own_demo)[0].replace("\\", "")


def test_readmes_without_markers_and_of_other_checkouts_are_left_alone(own_demo: Demo) -> None:
    """A folder that holds a checkout is not that checkout."""
    readme_of(own_demo).write_text("# No markers\n")
    rebuilt(own_demo)
    assert readme_of(own_demo).read_text() == "# No markers\n"
    text = "<!-- verdicts:begin -->\nold\n<!-- verdicts:end -->\n"
    readme_of(own_demo).write_text(text)
    (own_demo[0].root / "reproductions" / "pyproject.toml").touch()
    rebuilt(own_demo)
    assert readme_of(own_demo).read_text() == text


@pytest.mark.parametrize(
    "text",
    ["<!-- verdicts:begin -->", "<!-- verdicts:end --> <!-- verdicts:begin -->", "nothing"],
)
def test_readme_with_torn_markers_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="each once"):
        update_block(text, "block")


ASKED = "a\n<!-- table {} 1:begin -->\nold\n<!-- table:end -->\nb"


def test_a_readme_has_the_table_that_it_asks_for(demo: Demo) -> None:
    paper = paper_of(demo)
    text = update_tables(ASKED.format("fig10 cpu"), paper)
    begin, *lines, end, _ = text.splitlines()[1:]
    assert (begin, end) == ("<!-- table fig10 cpu 1:begin -->", "<!-- table:end -->")
    assert "old" not in lines and set(filter(None, lines)) <= set(written(demo)[1].splitlines())
    assert update_tables(text, paper) == text
    for asked in ("fig10 paper", "fig77 cpu"):
        with pytest.raises(SpecError, match=f"table 1 of {asked.split()[0]} at {asked.split()[1]}"):
            update_tables(ASKED.format(asked), paper)
    with pytest.raises(SpecError, match="put that back"):
        update_tables("<!-- table fig10:begin --> <!-- table:end -->", paper)


def test_goals_are_shown_met_or_not_by_machine_and_sums_apart() -> None:
    goals = [goal_of("list", 0.4), goal_of("plan", 0.7), goal_of("sum", 0.3, from_records=True)]
    one = Baseline(document=document_of(*goals))
    measured, added = goals_markdown([one]).split("Added up from committed records")
    table = measured.partition("Measured on Some CPU, avx2, 2 cores:")[2]
    assert "| list | at most 0.5 s | 0.4 s | yes" in table and "| 0.7 s | no" in table
    assert "| sum |" in added and "| sum |" not in measured
    line = goals_line([one])
    assert line.startswith("On Some CPU, avx2, 2 cores 2 of 3 goals are met; missed: plan.")
    both = goals_line([one, Baseline(document=document_of(goal_of("plan", 0.8)))])
    assert both.count("plan") == 1 and "Missed on each of them: plan." in both
