"""`repro diff`: what changed between two commits, or since one, claim by claim."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.publish.diff import compare
from tests.harness.conftest import Cli, Done
from tests.harness.toy_paper import TASK, ToyPaper

CPU = ("--profile", "cpu", "--executor", "inline")
BESIDE = """            "Squares grow.",
        ),
        (
            "stays",
            by_theory(profiles=SMOKE_AND_CPU),
            within(lambda table: float(table["x"].max()), 3.0, 3.0, "1"),
            "There are four numbers.",
        ),
"""
TWO = TASK.replace('            "Squares grow.",\n        ),\n', BESIDE)


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    command = ["git", "-C", str(root), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A", ":!runs", ":!site", ":!toy.log")
    git(root, "commit", "-q", "-m", message)


def report(cli: Cli, root: Path) -> None:
    """Write what `repro report` would, of the toy paper alone."""
    rows = json.loads(cli("check", "toylab", "--profile", "cpu", "--json").out)
    from harness.publish.report.verdicts_json import as_text

    (root / "results" / "verdicts.json").write_text(as_text(rows))


@pytest.fixture
def history(toy: ToyPaper, cli: Cli) -> Cli:
    """Return `repro` in a repository of three commits: without verdicts, with, and once more."""
    assert TWO != TASK
    toy.task.write_text(TWO)
    git(toy.root, "init", "-q")
    (toy.root / "note").write_text("1")
    commit(toy.root, "nothing yet")
    assert cli("run", "toylab", *CPU).code == 0
    report(cli, toy.root)
    commit(toy.root, "verdicts")
    (toy.root / "note").write_text("2")
    commit(toy.root, "a note")
    return cli


def squares_shrink(toy: ToyPaper) -> None:
    """Change what the trials found at the third seed: the mean of their spread stays 9 no more."""
    text = toy.trial.read_text()
    changed = text.replace(
        "float(point.x ** 2 + ctx.seed", "float(point.x ** 2 * (point.seed < 2) + ctx.seed"
    )
    assert changed != text
    toy.trial.write_text(changed)


def tree(root: Path) -> dict[Path, bytes]:
    skip = {root / "runs", root / ".git"}
    return {p: p.read_bytes() for p in root.rglob("*") if p.is_file() and not skip & {*p.parents}}


def test_nothing_differs_from_an_equal_commit(history: Cli, toy: ToyPaper) -> None:
    before = tree(toy.root)
    for words in ((), ("HEAD~1", "HEAD"), ("HEAD",)):
        done = history("diff", *words, "--exit-code")
        assert (done.code, done.out.splitlines()[-1]) == (0, "No verdict differs."), done.err
    assert tree(toy.root) == before


@pytest.mark.parametrize("is_reported", [False, True], ids=["as run", "reported and committed"])
def test_a_changed_record_shows_exactly_its_claim(
    history: Cli, toy: ToyPaper, is_reported: bool
) -> None:
    squares_shrink(toy)
    assert history("run", "toylab", *CPU, "--stale").code == 0
    if is_reported:
        report(history, toy.root)
        commit(toy.root, "squares shrink")
    done = history("diff", "--exit-code")
    assert done.code == 1, done.err
    before, after = (row for row in sides(toy, history))
    assert (before["verdict"], after["verdict"]) == ("REPRODUCED", "INCONCLUSIVE")
    (head,) = [line for line in done.out.splitlines() if line.startswith("Verdicts")]
    assert head == "Verdicts that changed (1):"
    lines = [line for line in done.out.splitlines() if line.startswith("  ")]
    numbers = f"{before['measured']:.4g} -> {after['measured']:.4g}"
    assert lines == [f"  toylab/tab01:grows at cpu: REPRODUCED -> INCONCLUSIVE, {numbers}"]
    assert history("diff").code == 0


def sides(toy: ToyPaper, cli: Cli) -> list[dict[str, object]]:
    """Return the rows of the claim that changes, as committed at first and as decided now."""
    sealed = json.loads(git(toy.root, "show", "HEAD~1:results/verdicts.json"))
    now = json.loads(cli("check", "toylab", "--profile", "cpu", "--json").out)
    return [row for rows in (sealed, now) for row in rows if row["claim"] == "grows"]


def test_json_has_both_sides(history: Cli, toy: ToyPaper) -> None:
    squares_shrink(toy)
    assert history("run", "toylab", *CPU, "--stale").code == 0
    found = json.loads(history("diff", "HEAD", "--json").out)
    changed = next(row for row in found if row["claim"] == "grows")
    assert changed["kind"] == "verdict" and {"verdict", "measured"} <= set(changed["fields"])
    assert changed["before"]["verdict"] == "REPRODUCED"
    assert changed["after"]["verdict"] == "INCONCLUSIVE"


def test_another_threshold_is_another_question_and_no_moved_number(
    history: Cli, toy: ToyPaper
) -> None:
    toy.task.write_text(TWO.replace("growth, 1.0", "growth, 1e9"))
    report(history, toy.root)
    out = history("diff", "HEAD").out
    assert "Asks something else now (1):\n  toylab/tab01:grows at cpu:" in out
    assert "threshold 1 -> 1e+09" in out
    assert "Verdicts that changed" not in out and "Numbers that moved" not in out


def test_claims_that_came_and_went_are_counted(history: Cli, toy: ToyPaper) -> None:
    toy.task.write_text(TWO.replace('"stays"', '"remains"'))
    report(history, toy.root)
    out = history("diff", "HEAD").out
    assert "Claims added, which --json lists: 1." in out
    # What was sealed once is told as withdrawn without a reason, and so is an error.
    assert "stays at cpu: REPRODUCED -> ERROR" in out


def test_a_commit_without_verdicts_names_the_first_that_has_them(
    history: Cli, toy: ToyPaper
) -> None:
    first = git(toy.root, "rev-parse", "--short", "HEAD~1").strip()
    done = history("diff", "HEAD~2")
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert f"the first commit that has it is {first}" in done.err


def test_a_wrong_name_is_answered_with_the_nearest(history: Cli, toy: ToyPaper) -> None:
    git(toy.root, "branch", "squares")
    done = history("diff", "sqares")
    assert (done.code, "did you mean 'squares'" in done.err) == (2, True), done.err
    assert history("diff", "--", "--output=x").code == 2
    assert not (toy.root / "x").exists()


def test_a_folder_and_a_variant_are_sides_too(history: Cli, toy: ToyPaper, tmp_path: Path) -> None:
    other = tmp_path / "other"
    git(tmp_path, "clone", "-q", str(toy.root), str(other))
    assert "No verdict differs." in history("diff", "HEAD", str(other)).out
    assert history("run", "toylab", *CPU, "--set", "x=3", "--seeds", "4").code == 0
    (folder,) = (toy.root / "runs" / "output").glob("set-*")
    done: Done = history("diff", "HEAD", folder.name)
    assert "variant seeds=4, x=3" in done.out
    assert "toylab/tab01:grows at cpu: REPRODUCED -> NOT_REPRODUCED" in done.out


def row(**fields: object) -> dict[str, object]:
    plain = {"task": "a/tab01", "claim": "b", "profile": "cpu", "cohort": "first",
             "verdict": "REPRODUCED", "schema_version": 6, "measured": 1.0}  # fmt: skip
    return {**plain, **fields}


def test_unlike_schemas_are_refused() -> None:
    with pytest.raises(UsageError, match="5 and 6"):
        compare([row(schema_version=5)], [row()])


def test_the_weightiest_difference_comes_first() -> None:
    before = [row(claim="a"), row(claim="b"), row(claim="c"), row(claim="d")]
    after = [
        row(claim="a", seal="changed"),
        row(claim="b", measured=2.0),
        row(claim="c", verdict="INCONCLUSIVE"),
        row(claim="e"),
    ]
    found = [(each.kind, each.row["claim"]) for each in compare(before, after)]
    assert found == [("verdict", "c"), ("number", "b"), ("remark", "a"), ("added", "e"),
                     ("gone", "d")]  # fmt: skip
