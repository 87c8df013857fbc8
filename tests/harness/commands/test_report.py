"""`repro report`: the site and RESULTS.md from what is stored; equal results give equal bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.commands.varied import tree
from tests.harness.conftest import Cli
from tests.harness.toy_paper import ToyPaper

CPU = ("--profile", "cpu", "--executor", "inline")


@pytest.fixture(autouse=True)
def only_the_toy(monkeypatch: pytest.MonkeyPatch) -> None:
    """To load all papers takes ten seconds."""
    monkeypatch.setattr("harness.registry.BUILT_IN", "toylab")


def outside_runs(root: Path) -> dict[Path, bytes]:
    return {path: data for path, data in tree(root).items() if root / "runs" not in path.parents}


def test_report_writes_pages_of_what_is_stored_and_again_the_same_bytes(
    cli: Cli, toy: ToyPaper
) -> None:
    assert cli("run", "toylab", *CPU).code == 0
    before = outside_runs(toy.root)
    done = cli("report", "--site-only")
    index = toy.root / "site" / "index.html"
    assert (done.code, done.out) == (0, ""), done.err
    assert f"wrote {index}: open it in a browser" in done.err
    site = tree(toy.root / "site")
    assert outside_runs(toy.root) == before | site
    done = cli("report")
    assert f"wrote {toy.root / 'RESULTS.md'}\n" in done.err
    assert "Figures, tables and each claim" in (toy.root / "RESULTS.md").read_text()
    after = outside_runs(toy.root)
    assert toy.root / "results" / "toylab" / "README.md" in after
    verdicts = toy.root / "results" / "toylab" / "verdicts.cpu.json"
    verdicts.write_text("torn")
    assert cli("report").code == 0
    assert outside_runs(toy.root) == after


def test_a_paper_that_cannot_be_read_is_told(cli: Cli, toy: ToyPaper) -> None:
    toy.add_file("deviations.toml", "[[")
    done = cli("report")
    assert (done.code, "broken: toylab: " in done.err) == (2, True), done.err
    assert "deviations.toml is not valid TOML" in done.err
