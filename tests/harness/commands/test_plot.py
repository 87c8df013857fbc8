"""`repro plot`: how a reader says what a figure is to look like."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.commands.varied import DRAWN, FIGURE
from tests.harness.conftest import Cli
from tests.harness.run.test_faults import CPU, INLINE, assert_one_sentence
from tests.harness.toy_paper import TASK, ToyPaper

PLOT = ("plot", "toylab/tab01", *CPU)


@pytest.fixture
def ran(cli: Cli, toy: ToyPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Return `repro` after a run of a task with a figure, called in a folder of its own."""
    toy.add_file("squares/figures.py", FIGURE)
    toy.task.write_text(TASK.replace("    claims=", f"    {DRAWN}\n    claims="))
    assert cli(*INLINE, *CPU).code == 0
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return cli


def test_all_options_together_write_a_figure(ran: Cli) -> None:
    Path("my.mplstyle").write_text("font.size: 9\n")
    look = ("--width", "3.3in", "--height", "2.2in", "--palette", "Dark2", "--font", "DejaVu Serif")
    done = ran(*PLOT, "--ours-only", "--no-stamp", "--style", "my.mplstyle", *look)
    assert (done.code, done.out) == (0, ""), done.err
    assert "stamp" not in done.err
    text = Path("toylab-tab01.cpu.svg").read_text()
    assert 'width="237.6pt" height="158.4pt"' in text


def test_a_figure_is_what_its_name_says(ran: Cli) -> None:
    starts = {"f.png": b"\x89PNG", "f.PDF": b"%PDF", "f.svg": b"<?xml", "f": b"<?xml"}
    for name, start in starts.items():
        assert ran(*PLOT, "--out", name).code == 0
        assert Path(name).read_bytes().startswith(start), name
    for options in (("--out", "g.png", "--format", "pdf"), ("--out", "g.jpg")):
        done = ran(*PLOT, *options)
        assert done.code == 2 and not Path(options[1]).exists()
        assert_one_sentence(done.err)


@pytest.mark.parametrize(
    "look",
    [("--width", "3.3"), ("--style", "nosuch.mplstyle"), ("--format", "gif")],
)
def test_a_look_that_cannot_be_is_one_sentence(ran: Cli, look: tuple[str, str]) -> None:
    done = ran(*PLOT, *look)
    assert done.code == 2
    assert_one_sentence(done.err)
    assert look[1] in done.err
    assert not list(Path.cwd().iterdir())
