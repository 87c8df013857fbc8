"""RESULTS.md, papers' pages and the blocks of READMEs: what they say, and that bytes repeat."""

from __future__ import annotations

import re
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import SpecError
from harness.publish.report.load import load_pages
from harness.publish.report.write import update_block, write_results, write_site
from harness.registry import PaperFolder
from tests.harness.inline_lab import tree
from tests.harness.publish.report.demo_paper import HOSTILE, make_demo
from tests.harness.publish.report.pages import Demo, page_of

PAGE = "results/demo/README.md"


def written(demo: Demo) -> tuple[str, str]:
    """Return RESULTS.md and the made-up paper's page, as they are."""
    root = demo[0].root
    return (root / "RESULTS.md").read_text(), (root / PAGE).read_text()


def rebuilt(demo: Demo) -> tuple[str, str]:
    write_results(*demo, load_pages(*demo, store=True))
    return written(demo)


def readme_of(demo: Demo) -> Path:
    return demo[1].papers["demo"].folder / "README.md"


def line_with(text: str, *words: str) -> str:
    (line,) = [each for each in text.splitlines() if all(word in each for word in words)]
    return line


def section(page: str, item: str) -> str:
    return page.split(f'<a id="demo-{item}"></a>')[1].split("<a id=")[0]


def test_every_claim_has_a_line_the_worst_first_and_checks_are_folded(demo: Demo) -> None:
    part = section(written(demo)[1], "fig02")
    lines = [line for line in part.splitlines() if line.startswith("- ")]
    ours = "Ours 1.00 ± 0.24 nats"
    assert lines == [
        f"- ✘ Loss shrinks as density falls. {ours}; asked at most -0.5 nats; 5 seeds,"
        " exploratory.",
        f"- ? Loss grows by 1.2 nats. {ours}; asked at least 1.2 nats; 5 seeds.",
        f"- ? Ours: loss stays. {ours}; asked by us: at most 0.5 nats; 5 seeds. Missed, but"
        " without a positive control our setting may be at fault.",
        f"- ✔ Loss grows as density falls. {ours}; asked at least 0.5 nats; paper 1; 5 seeds.",
        "- – So do 7B nets. Not tested: this scale cannot show it.",  # noqa: RUF001
        "- ✔ The table has ten rows. Ours 10; asked equal to 10.",
    ]
    folded = part.split("<details><summary>1 of 1 check holds</summary>")[1].split("</details>")[0]
    assert "ten rows" in folded and "Loss" not in folded


def test_results_counts_claims_and_marks_each_at_every_scale(demo: Demo) -> None:
    text, page = written(demo)
    row = "| [A demonstration, made up for tests](results/demo/README.md), "
    assert line_with(text, row).endswith(" | `cpu` | 1 | 1 | 1 | 1 |")
    for each in (text, page):
        assert "| fig02 grows | ✔ |  |  |" in each
        assert "| fig02 shrinks | ✘ |  |  |" in each
        assert "smoke" not in each and "<script>" not in each
    told = line_with(page, "At `cpu`: ")
    assert "4 claims: ✔ 1 supported, ✘ 1 contradicted, ? 1 undecided, – 1 untested;" in told  # noqa: RUF001
    assert "1 question of our own: ? 1 undecided; 1 of 1 check holds" in told
    assert "2 of 3 verdicts were registered" in told
    assert "10 of 10 trials were made by earlier code" in told
    assert "Nothing was run at `gpu`" in text
    assert HOSTILE.startswith("<script>")


FOUND = "It grows: by 1.00 ± 0.24 nats, not (not measured); it falls by -1.00 ± 0.24 nats."


def test_pages_open_with_what_was_found_and_the_headline_claims(demo: Demo) -> None:
    """Numbers come from the results; a claim that was never run is there all the same."""
    text, page = written(demo)
    readme = readme_of(demo).read_text()
    assert all(FOUND in each for each in (text, page, readme))
    assert ["So it does twice." in each for each in (text, page, readme)] == [False, True, True]
    assert "**The paper.** Loss grows." in page
    assert "\n## Figure 2: " in page
    heads = [line for line in page.split("\n## ")[0].splitlines() if line.startswith("- ")]
    assert heads[0].startswith("- ✔ Loss grows as density falls.")
    assert heads[0].endswith("[fig02](#demo-fig02)") and heads[1].startswith("- – So do 7B nets.")  # noqa: RUF001
    assert "**What this cannot support.** Anything." in page
    assert "claims.cpu.svg" in page and (demo[0].root / "figures/demo/claims.cpu.svg").is_file()
    assert readme.endswith("<!-- verdicts:end -->\n\nAfter.\n") and "\nold\n" not in readme
    assert line_with(readme, "Loss grows").endswith("(../../results/demo/README.md#demo-fig02)")


def test_what_a_card_ran_stands_under_its_name_beside_what_a_cpu_did(own_demo: Demo) -> None:
    assert "\n### " not in written(own_demo)[1]
    page = page_of(own_demo)
    first, *others = page.sections
    (run,) = first.runs
    assert run.result is not None
    cards = {"machines": [{"gpus": [{"name": "NVIDIA H200"}]}]}
    provenance = run.result.meta.provenance.model_copy(update=cards)
    meta = run.result.meta.model_copy(update={"provenance": provenance})
    on_a_card = replace(run, profile="gpu", result=replace(run.result, meta=meta))
    first = replace(first, runs=(on_a_card, run))
    both = replace(page, sections=(first, *others))
    write_results(*own_demo, [both])
    write_site(own_demo[0], [both])
    part = section(written(own_demo)[1], first.item.id)
    heads = ["One GPU (gpu): NVIDIA H200", "Small (cpu)"]
    assert re.findall(r"^### (.*)$", part, re.MULTILINE) == heads
    assert re.findall("<h3>(.*)</h3>", (own_demo[0].site / "demo.html").read_text()) == heads


@pytest.mark.parametrize(
    ("verdict", "num_seeds", "shown"),
    [("UNTESTED", 0, "cpu"), ("UNDECIDED", 3, "cpu"), ("CONTRADICTED", 5, "gpu")],
)
def test_a_larger_scale_stands_first_where_it_tested_a_claim(
    demo: Demo, verdict: str, num_seeds: int, shown: str
) -> None:
    """What a card's minutes leave unfinished hides no verdict and no number."""
    page = page_of(demo)
    first, *others = page.sections
    (run,) = first.runs
    at_gpu = {"profile": "gpu", "verdict": verdict, "num_seeds": num_seeds, "measured": None}
    on_a_card = replace(run, profile="gpu", rows=tuple(replace(row, **at_gpu) for row in run.rows))
    both = replace(page, sections=(replace(first, runs=(on_a_card, run)), *others))
    assert both.headline[0][1].row.profile == shown
    assert ("1.00 ± 0.24" in both.found) == (shown == "cpu")


def test_links_of_a_page_lead_somewhere(demo: Demo) -> None:
    page, folder = written(demo)[1], (demo[0].root / PAGE).parent
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
    write_site(other[0], load_pages(*other))
    assert tree(other[0].site) == tree(demo[0].site)
    assert readme_of(other).read_bytes() == readme_of(demo).read_bytes()
    names = [f"results/demo/{name}" for name in ("verdicts.cpu.json", "fig02.cpu.csv")]
    for name in (*names, "results/demo/fig02.cpu.json", "figures/demo/fig02.cpu.svg"):
        assert (other[0].root / name).read_bytes() == (demo[0].root / name).read_bytes(), name
    assert rebuilt(other) == written(demo)


def test_a_damaged_result_is_named_on_its_page(own_demo: Demo) -> None:
    path = own_demo[0].root / "results" / "demo" / "fig02.cpu.csv"
    path.write_text(path.read_text().replace("2.1", "1.1"))
    text, page = rebuilt(own_demo)
    assert "! 4 error" in line_with(page, "At `cpu`: ")
    assert "results/demo/fig02.cpu.csv" in line_with(page, "cannot be used")
    assert str(own_demo[0].root) not in text + page


def test_what_was_not_run_and_what_is_broken_says_why(own_demo: Demo) -> None:
    workspace = own_demo[0]
    for path in (workspace.root / "results" / "demo").glob("fig02.*"):
        path.unlink()
    text, page = rebuilt(own_demo)
    assert "\n- demo/fig02: not run\n" in text
    assert "Not tested: repro run demo/fig02 --profile cpu" in section(page, "fig02")
    assert "Broken: loss/fig11.py, see repro doctor." in section(page, "fig11")


def test_pilots_have_a_page_of_their_own(own_demo: Demo) -> None:
    declared = own_demo[1].papers["demo"].folder / "paper.toml"
    pilot = '{ title = "Rates", file = "loss/pilot_rates.py" },\n]'
    declared.write_text(declared.read_text().replace("\n]", f"\n  {pilot}", 1))
    page = rebuilt(own_demo)[1]
    pilots = (own_demo[0].root / PAGE).with_name("pilots.md").read_text()
    assert "demo-pilot_rates" in pilots and "demo-fig02" not in pilots
    assert "demo-pilot_rates" not in page and "(pilots.md)" in page


def test_readmes_without_markers_and_of_other_checkouts_are_left_alone(own_demo: Demo) -> None:
    """A folder that holds a checkout is not that checkout."""
    readme_of(own_demo).write_text("# No markers\n")
    rebuilt(own_demo)
    assert readme_of(own_demo).read_text() == "# No markers\n"
    text = "<!-- verdicts:begin -->\nold\n<!-- verdicts:end -->\n"
    readme_of(own_demo).write_text(text)
    folder = own_demo[0].root / "checkout" / "reproductions" / "demo"
    shutil.move(own_demo[1].papers["demo"].folder, folder)
    own_demo[1].papers["demo"] = PaperFolder("demo", "demo", folder)
    rebuilt(own_demo)
    assert (folder / "README.md").read_text() == text


@pytest.mark.parametrize(
    "text",
    ["<!-- verdicts:begin -->", "<!-- verdicts:end --> <!-- verdicts:begin -->"],
)
def test_readme_with_torn_markers_is_refused(tmp_path: Path, text: str) -> None:
    readme = tmp_path / "README.md"
    readme.write_text(text)
    with pytest.raises(SpecError, match="each once"):
        update_block(readme, "verdicts", "block")
    assert readme.read_text() == text
