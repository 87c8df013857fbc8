"""`import harness` is all that Python needs: tables, verdicts, figures, runs."""

from __future__ import annotations

import subprocess
import sys

import pytest
from matplotlib.figure import Figure
from typer.testing import CliRunner

import harness
from harness.commands.app import app
from harness.errors import RunError, UsageError
from tests.checkout import ROOT
from tests.harness.conftest import forget_toylab
from tests.harness.toy_paper import TASK, ToyPaper


@pytest.fixture
def lab(toy: ToyPaper, monkeypatch: pytest.MonkeyPatch) -> ToyPaper:
    """Return the toy paper, found by this process as by one that a user starts."""
    toy.env["TOY_SEEDS"] = "5"
    for name, value in toy.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.syspath_prepend(str(toy.packages))
    forget_toylab()
    return toy


def test_a_bare_import_loads_nothing() -> None:
    code = (
        "import sys; before = set(sys.modules); import harness;"
        "new = {m for m in set(sys.modules) - before if m != 'typing'};"
        "assert {m for m in new if m.startswith('harness')} == {'harness'}, new;"
        "heavy = new & {'torch', 'pandas', 'matplotlib', 'typer', 'pydantic'}; assert not heavy;"
        "harness.load; assert not {'torch', 'pandas', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_name_that_is_not_there_is_refused() -> None:
    with pytest.raises(AttributeError, match="lod"):
        harness.lod  # noqa: B018 - the attribute is what is asked for


def test_run_makes_what_the_others_show(lab: ToyPaper, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no result at cpu: `repro run toylab/tab01"):
        harness.load("toylab/tab01", "cpu")
    made = harness.reproduce("toylab/tab01", "cpu", jobs=1)
    assert "20 run, 0 reused" in capfd.readouterr().err
    assert len(made) == 20 == len(lab.starts())
    assert made.equals(harness.load("toylab/tab01"))
    again = harness.reproduce("toylab/tab01", "cpu", jobs=1)
    assert again.equals(made) and len(lab.starts()) == 20
    found = harness.verdicts("toylab")
    assert found[["task", "claim", "verdict"]].values.tolist() == [
        ["toylab/tab01", "grows", "SUPPORTED"]
    ]
    assert "Squares grow" in harness.table("toylab/tab01", format="markdown")
    with pytest.raises(UsageError, match="did you mean 'latex'"):
        harness.table("toylab/tab01", format="latx")


def test_a_table_that_was_not_run_has_the_paper_s_values_alone() -> None:
    """As the command prints them, which says beside them that nothing was run."""
    printed = CliRunner().invoke(app, ["table", "lisa/tab03", "--profile", "cpu"]).stdout
    assert harness.table("lisa/tab03").strip() == printed.strip() != ""
    with pytest.raises(UsageError, match="did you mean 'latex'"):
        harness.table("lisa/tab03", format="latx")
    with pytest.raises(UsageError, match="needs a judge model"):
        harness.table("lisa/tab03", long=True)


def test_a_variant_has_its_own_table(lab: ToyPaper) -> None:
    made = harness.reproduce("toylab/tab01", "smoke", set={"x": 9}, seeds=4, jobs=1)
    assert (len(made), set(made["x"])) == (4, {9})
    assert harness.load("toylab/tab01", "smoke", set={"x": 9}, seeds=4).equals(made)
    (verdict,) = harness.verdicts("toylab", "smoke", set={"x": 9}, seeds=4)["verdict"]
    assert verdict == "UNDECIDED"
    with pytest.raises(UsageError, match="no result at smoke"):
        harness.load("toylab/tab01", "smoke")
    with pytest.raises(UsageError, match="did you mean 'mode'"):
        harness.load("toylab/tab01", "smoke", set={"mod": "ok"})


def test_trials_that_fail_are_an_error(lab: ToyPaper) -> None:
    with pytest.raises(RunError, match="failed: repro status"):
        harness.reproduce("toylab/tab01", "smoke", set={"mode": "raise"}, jobs=1)


def test_a_check_that_fails_leaves_its_table(lab: ToyPaper) -> None:
    finding = TASK.replace("growth, 1.0", "growth, 1e9")
    lab.task.write_text(finding.replace("by_theory(profiles=SMOKE_AND_CPU)", "CHECK"))
    assert len(harness.reproduce("toylab/tab01", "smoke", jobs=1)) == 20
    assert harness.verdicts("toylab", "smoke")["verdict"].tolist() == ["FAILS"]


def test_a_committed_figure_is_matplotlib_s_own() -> None:
    figure = harness.figure("supar/fig06", profile="cpu", width="single")
    assert isinstance(figure, Figure)
    assert figure.get_figwidth() == pytest.approx(3.3)
    texts = [text.get_text() for text in figure.texts]
    assert any("supar/fig06" in text for text in texts)
    with pytest.raises(UsageError, match="did you mean 'supar/fig06'"):
        harness.figure("supar/fig6")
