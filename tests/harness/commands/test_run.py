"""`repro run` that has nothing to do, or cannot do what was asked for."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.harness.commands.test_diff import git
from tests.harness.commands.varied import INLINE, told
from tests.harness.conftest import Cli
from tests.harness.staged_folder import make_folder
from tests.harness.toy_paper import ToyPaper

CPU = ("--profile", "cpu")


def test_a_run_with_nothing_to_do_changes_no_tracked_file(lab: Cli, toy: ToyPaper) -> None:
    (toy.root / ".gitignore").write_text("runs\ntoy.log\n")
    git(toy.root, "init", "--quiet")
    git(toy.root, "add", "--all")
    git(toy.root, "commit", "--quiet", "--message", "Results")
    tracked = git(toy.root, "ls-files").split()
    assert {"results/toylab/tab01.cpu.csv", "figures/toylab/tab01.cpu.svg"} <= {*tracked}
    assert "results/toylab/verdicts.cpu.json" in tracked
    for words in ((), ("--stale",)):
        done = lab("run", "toylab", *CPU, *INLINE, *words)
        assert (done.code, "0 run" in done.err) == (0, True), done.err
        assert git(toy.root, "status", "--porcelain") == ""
    # The same in a checkout that has never unpacked what is committed.
    subprocess.run(["rm", "-r", str(toy.root / "runs")], check=True)
    assert lab("run", "toylab", *CPU, *INLINE).code == 0
    assert git(toy.root, "status", "--porcelain") == ""


def test_where_nothing_can_run_the_reasons_are_told_with_exit_code_4(
    cli: Cli, toy: ToyPaper
) -> None:
    done = cli("run", "toylab", *INLINE, TOY_NEEDS="no_such_package")
    why = "needs the package no_such_package: pip install no_such_package"
    assert done.code == 4
    assert f"left out: 12 trials of toylab/squares: {why}" in done.err.splitlines()
    assert done.err.count("left out") == 1 and not toy.starts()
    # What is stored can still be shown.
    assert cli("run", "toylab", *INLINE).code == 0
    assert cli("run", "toylab", *INLINE, TOY_NEEDS="no_such_package").code == 0


def test_missing_data_are_told_with_the_command_that_gets_them(
    cli: Cli, toy: ToyPaper, tmp_path: Path
) -> None:
    make_folder(tmp_path / "staged", tmp_path / "catalogue.toml")
    text = toy.experiment.read_text()
    assert "Needs(packages" in text
    toy.experiment.write_text(text.replace("Needs(packages", 'Needs(data=("verse",), packages'))
    env = {"REPRO_CATALOGUE": str(tmp_path / "catalogue.toml")}
    (tmp_path / "empty").mkdir()
    done = cli("run", "toylab", *INLINE, **env, REPRO_DATA=str(tmp_path / "empty"))
    assert done.code == 4
    (line,) = [line for line in done.err.splitlines() if line.startswith("left out")]
    head = "left out: 12 trials of toylab/squares: data set verse is missing: "
    assert line.startswith(head) and len(line) > len(head)
    assert cli("run", "toylab", *INLINE, **env, REPRO_DATA=str(tmp_path / "staged")).code == 0


def test_what_can_run_is_run_beside_what_is_left_out(cli: Cli, toy: ToyPaper) -> None:
    text = toy.experiment.read_text()
    packages = 'tuple(os.environ.get("TOY_NEEDS", "").split())'
    assert packages in text
    toy.experiment.write_text(text.replace(packages, f"{packages} if point.x else ()"))
    done = cli("run", "toylab", *INLINE, TOY_NEEDS="no_such_package")
    assert done.code == 0
    assert "left out: 9 trials of toylab/squares: needs the package" in done.err
    assert "3 run, 0 reused, 9 not run here" in done.err
    (row,) = told(cli("check", "toylab", "--profile", "smoke", "--json"))
    assert row["verdict"] == "UNTESTED" and "needs the package" in row["reason"]
