import re
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from harness.declare.profiles import PAPER, PROFILES
from harness.errors import SpecError
from harness.measure.goals import Baseline
from harness.publish.report import build_results
from harness.publish.report.goals_md import goals_markdown
from harness.publish.report.load import Run, Sources, load_papers
from harness.publish.report.paper_md import linked_origin, paper_markdown, verdict_block
from harness.publish.report.readme import update_block, update_tables
from harness.publish.report.results_md import found_block, results_markdown
from harness.publish.report.text import paper_cell
from harness.registry import BrokenTask, Library
from harness.store.store import RecordStore
from harness.store.trial import grid_of
from harness.store.workspace import COMMITTED_PROFILES, Workspace
from tests.checkout import ROOT
from tests.harness.hand_made import make_claim
from tests.harness.measure.hand_made_goals import document_of, goal_of
from tests.harness.publish.report.demo_paper import (
    HOSTILE,
    HOSTILE_TASK,
    SWEEP,
    TASK,
    make_demo,
)
from tests.harness.publish.report.test_check_text import CLAIM

Demo = tuple[Workspace, Library]


def text_of(demo: Demo) -> str:
    return (demo[0].root / "RESULTS.md").read_text()


def page_of(demo: Demo) -> str:
    """Return the paper's page, which has every claim; RESULTS.md has a line per item."""
    return (demo[0].root / "results" / "demo" / "README.md").read_text()


def results_of(workspace: Workspace, library: Library) -> Path:
    """Write RESULTS.md of what is stored now."""
    return build_results(workspace, library, load_papers(workspace, library, PROFILES))


def line_with(text: str, *parts: str) -> str:
    lines = [line for line in text.splitlines() if all(part in line for part in parts)]
    assert lines, parts
    return lines[-1]


def test_every_item_of_the_paper_is_there_with_its_state(demo: Demo) -> None:
    text, page = text_of(demo), page_of(demo)
    for word in ("fig02", "fig10", "fig11", "fig12", "tab01"):
        assert f"## demo/{word}:" in page
        assert f'<a id="demo-{word}"></a>' in page
        assert f"[{word}](results/demo/README.md#demo-{word})" in text
    assert "planned: It needs eight GPUs." in line_with(text, "[tab01]")
    assert "nothing to run: It shows no measurement." in line_with(text, "[fig12]")
    assert "no module called 'absent'" in line_with(text, "[fig11]")


def test_checks_are_counted_apart_from_claims(demo: Demo) -> None:
    line = line_with(text_of(demo), "[fig02]")
    counts = "1 of 1 check holds; claims: 1 reproduced, 1 not"
    assert f"{counts}; and 1 question of our own: 0 yes, 1 no |" in line


def test_verdict_stands_with_profile_value_interval_and_paper(demo: Demo) -> None:
    _, verdict, ours, asked, _ = line_with(page_of(demo), "Loss grows").split(" | ")
    assert verdict == "REPRODUCED"
    # Differences per density pair: mean 1.0, as made.
    assert ours == "1.00 ± 0.25 nats, 3 seeds"
    assert asked == "at least 0.5 nats (theory); paper: 1"
    assert line_with(page_of(demo), "| Loss shrinks").split(" | ")[3].endswith("not known here")


def test_seals_and_chance_are_counted_over_a_whole_paper(demo: Demo) -> None:
    line = line_with(text_of(demo), "- demo at `cpu`: ")
    assert "1 reproduced (1 that no relabelling can test)" in line
    assert re.search(r"seals of 2 decided: \d+ sealed", line)


def test_claims_of_a_task_that_was_not_run_are_counted(tmp_path: Path) -> None:
    workspace, library = make_demo(tmp_path)
    before = line_with(results_of(workspace, library).read_text(), "- demo at `cpu`: ")
    for path in (workspace.root / "results" / "demo").glob("fig02.cpu.*"):
        path.unlink()
    text = results_of(workspace, library).read_text()
    told = "; at `cpu`: 1 check not run; claims: 2 not run; and 1 question of our own: 1 not run |"
    assert told.replace("1 check not run", "0 of 1 check holds, 1 not run") in line_with(
        text, "[fig02]", "not run"
    )
    after = line_with(text, "- demo at `cpu`: ")
    assert "0 of 1 check holds, 1 not run" in after and "1 of 1 check holds" in before


def test_what_is_not_at_hand_is_never_called_unpublished() -> None:
    """Unless the claim says so: a paper may print, in a picture or table, what we have not."""
    claim, check = make_claim(), replace(CLAIM, grade="exact")
    cell = partial(paper_cell, has_paper=True)
    assert cell(claim, CLAIM) == "not known here"
    assert cell(replace(claim, scope=claim.scope.unpublished()), CLAIM) == "not published"
    quoting = replace(claim, scope=claim.scope.quoting_paper())
    assert cell(quoting, CLAIM) == cell(quoting, check) == "in the statement"
    assert cell(claim, check) == "none, as this checks our code"
    assert cell(claim, replace(CLAIM, own_question=True)) == "none, as the question is ours"
    assert paper_cell(claim, check, has_paper=False) == "there is none"


def test_a_threshold_that_the_paper_prints_is_its_number() -> None:
    printed = make_claim(threshold_from="paper", profiles=PAPER)
    assert paper_cell(printed, CLAIM, has_paper=True) == "as asked"
    assert paper_cell(printed, replace(CLAIM, paper_value=2.5), has_paper=True) == "2.5"


def test_a_number_that_is_computed_from_a_printed_one_says_so() -> None:
    derived = replace(CLAIM, paper_value=0.4, paper_standing="derived")
    assert paper_cell(make_claim(), derived, has_paper=True) == "0.4 (derived)"


def test_where_trials_come_from_links_to_what_that_means(demo: Demo) -> None:
    text = linked_origin(Sources(num_trials=2, num_stale=1, verified="1 of 1 run again"), "../")
    assert text == (
        "1 of 2 trials come from [older code](../docs/verdicts.md#older-code);"
        " 1 of 1 [run again](../docs/verdicts.md#run-again)"
    )
    told = (ROOT / "docs" / "verdicts.md").read_text()
    places = {
        f"#{line[3:].lower().replace(' ', '-')}" for line in told.splitlines() if line[:3] == "## "
    }
    assert set(re.findall(r"#[\w-]+", text)) <= places
    line = "6 trials come from [older code](docs/verdicts.md#older-code)"
    assert line in text_of(demo) and line.replace("(docs", "(../../docs") in page_of(demo)


def test_changed_and_late_seals_show_both_thresholds(demo: Demo) -> None:
    text = page_of(demo)
    assert "threshold: 0.9 then, 0.5 now" in line_with(text, "Loss grows")
    assert "late" in line_with(text, "| Loss shrinks")
    assert "sealed before the run" in line_with(text, "six rows")


def test_early_version_never_passes_as_the_paper(demo: Demo) -> None:
    assert "3.1 (early version)" in line_with(page_of(demo), "| sp | 0.5 |")


def test_a_task_with_a_layout_has_its_printed_table(demo: Demo) -> None:
    text = page_of(demo).split("## demo/fig10")[1].split("##")[0]
    assert "| 1 | 2.10 \u00b1 0.06 / 2.50t |\n| 0.5 | 3.10 \u00b1 0.06 / n |" in text
    assert "1 published value in no cell." in text
    assert "Where our table meets" not in text
    assert "| sp | 1 | 3 |" not in text


def test_what_did_not_hold_stands_before_what_did_and_checks_are_folded(demo: Demo) -> None:
    section = page_of(demo).split("## demo/fig02")[1].split("## demo/")[0]
    places = [section.index(text) for text in ("| Loss shrinks", "| Loss grows")]
    assert places == sorted(places)
    folded = section.split("<details><summary>1 check holds</summary>")[1].split("</details>")[0]
    assert "six rows" in folded and "| Loss grows" not in folded
    listed = text_of(demo).split("Claims that did not hold:")[1]
    assert "Loss shrinks as density falls" in listed
    # Its first sentence stands there; the whole is a link away.
    assert "- [demo/fig02](results/demo/README.md#demo-fig02) at `cpu`: " in listed


def test_links_of_a_page_lead_somewhere(demo: Demo) -> None:
    page, folder = page_of(demo), demo[0].root / "results" / "demo"
    links = re.findall(r"\]\(([^)#]+)\)", page)
    assert any(link.endswith(".svg") for link in links) and any(".csv" in link for link in links)
    for link in links:
        assert (folder / link).exists(), link


def test_smoke_is_left_out(demo: Demo) -> None:
    assert "smoke" not in text_of(demo) + page_of(demo)


def test_what_was_not_run_is_said(demo: Demo) -> None:
    after = text_of(demo).split("## Not run")[1]
    assert "Profile `gpu`: nothing is committed." in after
    assert "Profile `cpu`: nothing" not in after
    assert "demo/tab01: planned" in page_of(demo).split("## Not run")[1]


def test_older_code_is_told_where_there_is_any(demo: Demo) -> None:
    (paper,) = [p for p in load_papers(*demo, COMMITTED_PROFILES) if p.meta.id == "demo"]
    for stale, told in ((0, False), (3, True)):
        two = [
            replace(paper, sources={"cpu": Sources(num_trials=4, num_stale=n)}) for n in (stale, 0)
        ]
        shown = found_block(two)
        assert (f"{stale} of 8 trials come from [older code]" in shown) == told
        assert ("--stale` renews them" in shown) == told


def test_what_waits_for_a_card_is_counted_once_and_less_when_it_is_committed(
    tmp_path: Path,
) -> None:
    workspace, library = make_demo(tmp_path)
    assert "`make gpu`" not in results_of(workspace, library).read_text()

    everywhere = replace(SWEEP, grid=lambda profile: SWEEP.grid("cpu"))
    for task in (TASK, replace(HOSTILE_TASK, layout=())):
        library.tasks.pop(task.id)
        library.tasks[task.id] = replace(task, reads=(everywhere,))
    said = "Without a result at `gpu`: {} of 1 experiment; on a machine with a card `make gpu` runs"
    assert said.format("6 trials") in results_of(workspace, library).read_text()

    trials, store = grid_of(everywhere, "gpu"), RecordStore(workspace)
    for number in (2, 5):
        store.pack(SWEEP.id, "gpu", trials[:number])
        left = "1 trial" if number == 5 else "4 trials"
        assert said.format(left) in results_of(workspace, library).read_text()


def test_a_claim_that_was_not_run_names_what_would_stand_in(tmp_path: Path, demo: Demo) -> None:
    told = replace(SWEEP, stands_in=lambda params: {"Loss": "accuracy"})
    tasks = {**demo[1].tasks, TASK.id: replace(TASK, reads=(told,))}
    papers = load_papers(Workspace(tmp_path), replace(demo[1], tasks=tasks), COMMITTED_PROFILES)
    (paper,) = [each for each in papers if each.meta.id == "demo"]
    text = paper_markdown(paper)
    assert "NOT_RUN" in line_with(text, "Loss (here accuracy) shrinks")


def test_hostile_title_stays_text(demo: Demo) -> None:
    text = text_of(demo) + page_of(demo)
    assert HOSTILE.startswith("<script>")
    assert "<script>" not in text


def test_same_results_give_same_bytes_elsewhere(tmp_path: Path, demo: Demo) -> None:
    workspace, library = make_demo(tmp_path / "other")
    assert results_of(workspace, library).read_text() == text_of(demo)
    assert page_of((workspace, library)) == page_of(demo)


def test_damaged_result_is_an_error_that_names_file_and_line(tmp_path: Path) -> None:
    workspace, library = make_demo(tmp_path)
    path = workspace.root / "results" / "demo" / "fig02.cpu.csv"
    path.write_text(path.read_text().replace("2.1", "1.1"))
    text = results_of(workspace, library).read_text()
    assert "0 of 1 check holds, 1 ERROR; claims: 2 ERROR" in line_with(text, "[fig02]")
    page = page_of((workspace, library))
    assert "results/demo/fig02.cpu.csv" in line_with(page, "cannot be used")
    assert str(tmp_path) not in text + page


@pytest.mark.parametrize(("measured", "words"), [(0.4, "0.4 s | yes"), (0.7, "0.7 s | no")])
def test_goal_is_shown_met_or_not_below_its_machine(measured: float, words: str) -> None:
    text = goals_markdown([Baseline(document=document_of(goal_of("list", measured)))])
    machine, _, table = text.partition("Measured on Some CPU, avx2, 2 cores:")
    assert machine and f"| list | at most 0.5 s | {words} |" in table


def test_sums_over_records_stand_apart() -> None:
    goals = [goal_of("list", 0.4), goal_of("minutes", 0.3, from_records=True)]
    text = goals_markdown([Baseline(document=document_of(*goals))])
    measured, _, added = text.partition("Added up from committed records")
    assert "| list |" in measured and "| minutes |" not in measured
    assert "| minutes |" in added and "| list |" not in added


def test_the_overview_counts_goals_and_names_the_missed(demo: Demo) -> None:
    goals = [goal_of("list", 0.4), goal_of("resume", 0.7)]
    papers = load_papers(*demo, COMMITTED_PROFILES)
    text = results_markdown(papers, [Baseline(document=document_of(*goals))])
    line = line_with(text, "goals are met")
    assert line.startswith("On Some CPU, avx2, 2 cores 1 of 2 goals are met; missed: resume.")
    assert "(results/benchmarks/README.md)" in line and "No benchmark" not in text
    assert (demo[0].root / "results" / "benchmarks" / "README.md").is_file()


def test_claims_stand_before_the_table_and_an_answer_before_all(demo: Demo) -> None:
    section = page_of(demo).split("## demo/fig02")[1].split("## demo/")[0]
    parts = ("\n> Not reproduced: Loss shrinks", "| Loss shrinks", "Where our table meets")
    places = [section.index(part) for part in parts]
    assert places == sorted(places)


def test_what_did_not_hold_stands_before_the_counts_of_items(demo: Demo) -> None:
    readme = (demo[1].papers["demo"].folder / "README.md").read_text()
    for text, head in ((text_of(demo), "Claims that did not"), (readme, "What did not hold")):
        assert text.index(head) < text.index("| item | title |")


def test_items_of_no_paper_have_a_line_that_says_what_a_card_lacks(demo: Demo) -> None:
    (paper,) = [p for p in load_papers(*demo, COMMITTED_PROFILES) if p.meta.id == "demo"]
    ours = replace(paper, meta=paper.meta.model_copy(update={"authors": []}))
    waits, lacks = replace(ours, waiting={"key": SWEEP.id}), "; not run on a GPU |"
    for one, told in (
        (paper, False),
        (ours, False),
        (waits, True),
        (replace(waits, meta=paper.meta), False),
    ):
        line = line_with(results_markdown([one], []), "[fig02](results/demo/README.md#demo-fig02)")
        assert line.endswith(lacks) == told and "1 of 1 check holds" in line
    assert "GPU" not in line_with(results_markdown([waits], []), "[fig12]")


def test_a_task_that_a_card_alone_can_run_says_so_and_which_command_runs_it(
    tmp_path: Path,
) -> None:
    workspace, library = make_demo(tmp_path)
    card = replace(SWEEP, grid=lambda profile: SWEEP.grid("cpu") if profile == "gpu" else ())
    library.tasks.pop(TASK.id)
    library.tasks[TASK.id] = replace(TASK, reads=(card,))
    for path in (workspace.root / "results" / "demo").glob("fig02.*"):
        path.unlink()
    text = results_of(workspace, library).read_text()
    why = "ot run in any profile: it needs a GPU; on a machine with one `make gpu ONLY=demo/fig02`"
    section = page_of((workspace, library)).split("## demo/fig02")[1].split("## demo/")[0]
    assert f"| n{why} runs it; at `cpu`: " in line_with(text, "[fig02]")
    assert f"\n\nN{why} runs it.\n" in section
    assert text.count("needs a GPU") == 1


def test_negative_numbers_have_a_true_minus(demo: Demo) -> None:
    for text in (text_of(demo), page_of(demo)):
        assert "at most \u22120.5 nats" in text and "at most -0.5" not in text
    assert "DEV-01" in page_of(demo)


def test_readme_block_names_what_did_not_hold(demo: Demo) -> None:
    text = (demo[1].papers["demo"].folder / "README.md").read_text()
    assert text.startswith("# Demo\n\nBefore.\n\n<!-- verdicts:begin -->\n")
    assert text.endswith("<!-- verdicts:end -->\n\nAfter.\n")
    assert "\nold\n" not in text
    assert "Loss shrinks as density falls. Measured 1" in line_with(text, "fig02) at `cpu`", "Loss")
    assert "Loss grows" not in text
    claims, _, own = text.partition("Questions of our own, answered no:")
    assert "Ours: loss stays. Measured 1" in own and "Ours" not in claims.split("did not hold")[1]


def test_where_nothing_is_decided_nothing_is_said_to_have_held(demo: Demo) -> None:
    (paper,) = [p for p in load_papers(*demo, COMMITTED_PROFILES) if p.meta.id == "demo"]

    def checks(run: Run) -> Run:
        return replace(run, rows=tuple(row for row in run.rows if row.kind == "check"))

    entries = tuple(replace(e, runs=tuple(map(checks, e.runs))) for e in paper.entries)
    alone = verdict_block(replace(paper, entries=entries))
    assert "\nNo decided claim failed: none is decided here.\n" in alone


def test_paper_without_markers_is_left_alone(tmp_path: Path) -> None:
    workspace, library = make_demo(tmp_path)
    readme = library.papers["demo"].folder / "README.md"
    readme.write_text("# No markers\n")
    results_of(workspace, library)
    assert readme.read_text() == "# No markers\n"


def test_readme_of_another_checkout_below_is_left_alone(tmp_path: Path) -> None:
    """A folder that holds a checkout is not that checkout: its findings are not ours to replace."""
    workspace, library = make_demo(tmp_path / "below")
    (workspace.root / "pyproject.toml").touch()
    readme = library.papers["demo"].folder / "README.md"
    before = readme.read_text()
    (tmp_path / "results").mkdir()
    results_of(Workspace(tmp_path), library)
    assert readme.read_text() == before
    results_of(workspace, library)
    assert readme.read_text() != before


@pytest.mark.parametrize(
    "text",
    ["<!-- verdicts:begin -->", "<!-- verdicts:end --> <!-- verdicts:begin -->", "nothing"],
)
def test_readme_with_torn_markers_is_refused(text: str) -> None:
    with pytest.raises(SpecError, match="each once"):
        update_block(text, "block")


def test_block_replaces_only_itself() -> None:
    text = "a\n<!-- verdicts:begin -->\nx\n<!-- verdicts:end -->\nb"
    once = update_block(text, "new\n")
    assert once == "a\n<!-- verdicts:begin -->\nnew\n<!-- verdicts:end -->\nb"
    assert update_block(once, "new") == once


ASKED = "a\n<!-- table {} 1:begin -->\nold\n<!-- table:end -->\nb"


def test_a_readme_has_the_table_that_it_asks_for(demo: Demo) -> None:
    papers = load_papers(*demo, PROFILES)
    (paper,) = [each for each in papers if each.meta.id == "demo"]
    text = update_tables(ASKED.format("fig10 cpu"), paper)
    begin, *lines, end, _ = text.splitlines()[1:]
    assert (begin, end) == ("<!-- table fig10 cpu 1:begin -->", "<!-- table:end -->")
    assert "old" not in lines and [line for line in lines if line.startswith("| --- |")]
    assert set(filter(None, lines)) <= set(page_of(demo).splitlines())
    assert update_tables(text, paper) == text


@pytest.mark.parametrize("asked", ["fig10 paper", "fig77 cpu"])
def test_a_table_that_is_not_there_is_named(demo: Demo, asked: str) -> None:
    (paper,) = [p for p in load_papers(*demo, PROFILES) if p.meta.id == "demo"]
    with pytest.raises(SpecError, match=f"table 1 of {asked.split()[0]} at {asked.split()[1]}"):
        update_tables(ASKED.format(asked), paper)
    with pytest.raises(SpecError, match="put that back"):
        update_tables("<!-- table fig10:begin --> <!-- table:end -->", paper)


def test_file_that_no_item_lists_is_shown_with_its_reason(tmp_path: Path) -> None:
    workspace, library = make_demo(tmp_path)
    library.broken["demo/fig77"] = BrokenTask("demo/fig77", "loss/fig77.py", "nobody lists it")
    text = results_of(workspace, library).read_text()
    assert "broken: nobody lists it" in line_with(text, "[fig77]")
