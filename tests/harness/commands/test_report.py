"""`repro report` of a variant or a cohort: a site of its own, and nothing committed is touched."""

from __future__ import annotations

import csv
import html
import json
import re
from pathlib import Path

import pytest

from tests.harness.commands.varied import INLINE, VARIANT, folder, tree
from tests.harness.conftest import Cli
from tests.harness.publish.report.test_site import links_of
from tests.harness.toy_paper import ToyPaper

HEAD = "Variant seeds=4, x=9: not what is committed."
PAGE = "tasks/toylab/tab01.html"


def text_of(page: Path) -> str:
    """Return a page's words without its marks."""
    told = re.sub(r"<[^>]+>", " ", page.read_text().partition("<body>")[2])
    return " ".join(html.unescape(told).split())


def committed(toy: ToyPaper) -> dict[Path, bytes]:
    apart = toy.root / "runs"
    return {path: data for path, data in tree(toy.root).items() if apart not in path.parents}


def report(lab: Cli, *words: str) -> Path:
    """Return where a report was written."""
    done = lab("report", *words)
    assert (done.code, done.out) == (0, ""), done.err
    (where,) = re.findall(r"^wrote (\S+/index\.html): ", done.err, re.MULTILINE)
    return Path(where).parent


def test_a_variant_has_a_site_of_its_own(lab: Cli, toy: ToyPaper) -> None:
    before = committed(toy)
    site = report(lab, *VARIANT)
    assert site == folder(toy) / "site"
    assert committed(toy) == before
    for page in (site / "index.html", site / PAGE):
        assert text_of(page).startswith(f"Skip to content {HEAD}"), page
        assert "<title>variant seeds=4, x=9: " in page.read_text()
    assert (site / "data/toylab/tab01.smoke.csv").read_bytes() == (
        folder(toy) / "results/toylab/tab01.smoke.csv"
    ).read_bytes()
    assert "variant seeds=4, x=9" in figure_text(site / "figures/toylab/tab01.smoke.svg")


def figure_text(path: Path) -> str:
    """Return what a figure's file says of itself to a machine; its words are drawn as curves."""
    return " ".join(re.findall(r"<!-- (.+?) -->", path.read_text()))


def test_what_was_run_of_the_variant_is_there_and_nothing_else(lab: Cli) -> None:
    site = report(lab, *VARIANT)
    assert [page.name for page in (site / "tasks").rglob("*.html")] == ["tab01.html"]
    told = text_of(site / "index.html")
    assert "What was run of it: 1 result." in told
    assert "1 NOT_REPRODUCED" in told and "Performance goals" not in told
    # Who asks for a variant of smoke sees it without a click.
    assert 'id="smoke"' not in (site / "index.html").read_text()
    assert "<details open>" in (site / PAGE).read_text()


def test_the_commands_on_its_pages_are_those_of_the_variant(lab: Cli) -> None:
    site = report(lab, *VARIANT)
    (block,) = re.findall(r"<pre[^>]*><code>(.+?)</code>", (site / PAGE).read_text(), re.DOTALL)
    commands = [line.split()[1:] for line in html.unescape(block).strip().splitlines()]
    assert [words[0] for words in commands] == ["run", "plot", "table"]
    rows = json.loads(lab("check", "toylab", *VARIANT, "--json").out)
    for words in commands:
        assert words[-4:] == ["--set", "x=9", "--seeds", "4"]
    assert "4 reused" in lab(*commands[0], *INLINE).err
    assert "variant seeds=4, x=9" in lab(*commands[2]).out
    assert rows[0]["verdict"] in text_of(site / PAGE)


@pytest.mark.parametrize("words", [VARIANT, ("--cohort", "cohort-1")])
@pytest.mark.parametrize("is_first", [True, False])
def test_every_link_of_it_leads_somewhere(lab: Cli, words: tuple[str, ...], is_first: bool) -> None:
    """Also where nothing else was reported as yet, so that papers have no pages."""
    if not is_first:
        report(lab)
    site = report(lab, *words)
    for page in site.rglob("*.html"):
        for link in links_of(page).found:
            path, _, place = link.partition("#")
            target = page.parent / path if path else page
            assert target.is_file(), f"{page}: {link}"
            assert not place or place.startswith("q=") or place in links_of(target).ids


def test_the_committed_report_is_as_it_was_beside_a_variant_s(lab: Cli, toy: ToyPaper) -> None:
    site = report(lab)
    before = committed(toy)
    assert site == toy.root / "site" and (toy.root / "RESULTS.md").is_file()
    report(lab, *VARIANT)
    report(lab, "--cohort", "cohort-1")
    assert committed(toy) == before
    report(lab)
    assert committed(toy) == before
    assert not any("ariant" in text_of(page) for page in site.rglob("tab01.html"))


def test_a_cohort_has_a_site_of_its_own(lab: Cli, toy: ToyPaper) -> None:
    before = committed(toy)
    site = report(lab, "--cohort", "cohort-1")
    assert site == toy.root / "runs" / "output" / "cohort-1" / "site"
    assert committed(toy) == before
    told = text_of(site / PAGE)
    assert told.startswith("Skip to content Cohort-1: no other seeds are shown here.")
    assert "Trials: 12 done" in told and "of other cohorts" not in told
    rows = list(csv.DictReader((site / "data/toylab/tab01.cpu.csv").open()))
    assert len(rows) == 12 and "cohort" not in rows[0]
    seeds = {row["seed"] for row in rows}
    assert len(seeds) == 3 and not seeds & {"0", "1", "2"}
    assert f" seeds {', '.join(sorted(seeds))} " in told
    assert (site / "figures/toylab/tab01.cpu.svg").is_file()
    assert "--cohort cohort-1" in told
    # What it says is counted, whether it decides or not, and the page says that it does not.
    index = text_of(site / "index.html")
    assert re.search(r"cpu 1 (NOT_)?REPRODUCED", index)
    assert "0 of 12 trials come from older code" in index
    assert "cohort 1, which does not decide" in told


def test_the_first_cohort_is_shown_alone_too(lab: Cli) -> None:
    site = report(lab, "--cohort", "first")
    rows = list(csv.DictReader((site / "data/toylab/tab01.cpu.csv").open()))
    assert {row["seed"] for row in rows} == {"0", "1", "2"}
    assert "cohort 1" not in text_of(site / PAGE)


def test_what_was_never_run_has_no_site(lab: Cli, toy: ToyPaper) -> None:
    before = tree(toy.root)
    done = lab("report", "--set", "ms=1")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    command = "repro run toylab/tab01 --profile cpu --set ms=1 makes one"
    assert f"no result of the variant ms=1 is here: {command}" in done.err
    assert tree(toy.root) == before


def test_a_variant_of_which_everything_failed_has_no_site(lab: Cli, toy: ToyPaper) -> None:
    assert lab("run", "toylab", *INLINE, "--set", "mode=raise").code == 3
    done = lab("report", "--set", "mode=raise")
    assert (done.code, "no result of the variant mode=raise is here" in done.err) == (2, True)
    assert not list(toy.root.rglob("site"))


def test_a_damaged_result_of_a_variant_is_told_on_its_page(lab: Cli, toy: ToyPaper) -> None:
    path = folder(toy) / "results" / "toylab" / "tab01.smoke.csv"
    path.write_text(path.read_text().replace("9", "8"))
    site = report(lab, *VARIANT)
    assert "was changed after it was written" in text_of(site / PAGE)


def test_what_was_run_again_of_another_cohort_is_not_told(lab: Cli) -> None:
    words = ("toylab", "--profile", "cpu", "--sample", "1", "--cohort", "first", *INLINE)
    assert lab("verify", *words).code == 0
    for cohort, told in (("first", True), ("cohort-1", False)):
        site = report(lab, "--cohort", cohort)
        assert ("1 of 1 trial run again" in text_of(site / "index.html")) == told, cohort
