"""`repro diff`: what changed between two commits, folders or the working tree, claim by claim."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.errors import DataError, UsageError
from harness.publish.diff import compare, diff_text, verdicts_at
from tests.harness.commands.varied import INLINE, VARIANT, folder, told, tree
from tests.harness.conftest import Cli
from tests.harness.toy_paper import ToyPaper

CPU = ("--profile", "cpu", *INLINE)
GROWS = "toylab/tab01:grows at cpu"


def git(root: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
    command = ["git", "-C", str(root), *who, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def commit(root: Path, message: str) -> None:
    git(root, "add", "-A", ":!runs", ":!site", ":!toy.log")
    git(root, "commit", "-q", "--allow-empty", "-m", message)


@pytest.fixture
def history(toy: ToyPaper, cli: Cli) -> Cli:
    """Return `repro` in a repository of two commits: without verdicts, and with."""
    toy.env["TOY_SEEDS"] = "5"
    git(toy.root, "init", "-q")
    commit(toy.root, "nothing yet")
    assert cli("run", "toylab", *CPU).code == 0
    commit(toy.root, "verdicts")
    return cli


def squares_shrink(cli: Cli, toy: ToyPaper) -> None:
    """Change what the trials find from the third seed on, and run them again."""
    text = toy.trial.read_text()
    changed = text.replace("point.x ** 2 +", "point.x ** 2 * (point.seed < 2) +")
    assert changed != text
    toy.trial.write_text(changed)
    assert cli("run", "toylab", *CPU, "--stale").code == 0


def test_nothing_differs_from_an_equal_commit_and_nothing_is_written(
    history: Cli, toy: ToyPaper
) -> None:
    before = tree(toy.root)
    for words in (("HEAD",), ("HEAD", "HEAD"), (str(toy.root), "HEAD")):
        done = history("diff", *words, "--exit-code")
        assert (done.code, done.out) == (0, "No verdict differs.\n"), done.err
    assert tree(toy.root) == before


def test_a_changed_verdict_is_told_with_both_sides(history: Cli, toy: ToyPaper) -> None:
    squares_shrink(history, toy)
    done = history("diff", "HEAD", "--exit-code")
    assert done.code == 1, done.err
    head, line = done.out.splitlines()
    assert head == "Verdicts that changed (1):"
    assert line.startswith(f"  {GROWS}: verdict SUPPORTED -> UNDECIDED, measured 9")
    (row,) = told(history("diff", "HEAD", "--json"))
    assert (row["kind"], row["claim"]) == ("verdict", "grows")
    sides = [row[side]["verdict"] for side in ("before", "after")]
    assert sides == ["SUPPORTED", "UNDECIDED"]
    commit(toy.root, "squares shrink")
    assert history("diff").out == done.out
    assert history("diff", "HEAD").out == "No verdict differs.\n"


def test_a_variant_s_folder_is_a_side(history: Cli, toy: ToyPaper) -> None:
    assert history("run", "toylab", *CPU, *VARIANT).code == 0
    assert f"  {GROWS}: verdict SUPPORTED -> " in history("diff", "HEAD", str(folder(toy))).out


@pytest.mark.parametrize(
    ("side", "why"),
    [
        ("HEAD~1", "HEAD~1 holds no verdicts"),
        ("nosuch", "'nosuch' is no commit here, and no folder with results"),
        ("--output=x", ""),
    ],
)
def test_what_is_no_side_is_one_line(history: Cli, toy: ToyPaper, side: str, why: str) -> None:
    done = history("diff", "--", side)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done
    assert why in done.err and not (toy.root / "x").exists()


def write(root: Path, *rows: dict[str, object]) -> Path:
    plain = {"task": "a/tab01", "profile": "cpu", "verdict": "SUPPORTED", "measured": 1.0,
             "statement": "It is.", "threshold": 1.0}  # fmt: skip
    path = root / "results" / "a" / "verdicts.cpu.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps({"rows": [plain | row for row in rows]}))
    return path


def test_each_kind_of_difference_the_weightiest_first(tmp_path: Path) -> None:
    same = [{"claim": name} for name in "abcde"]
    write(tmp_path / "before", *same)
    write(
        tmp_path / "after",
        {"claim": "a", "reason": "in other words"},
        {"claim": "b", "measured": 2.0},
        {"claim": "c", "verdict": "UNDECIDED"},
        {"claim": "d", "statement": "It is not.", "verdict": "UNDECIDED"},
        {"claim": "f"},
    )
    sides = [verdicts_at(tmp_path, str(tmp_path / name)) for name in ("before", "after")]
    found = compare(*sides)
    assert [(each["kind"], each["claim"]) for each in found] == [
        ("verdict", "c"), ("number", "b"), ("question", "d"), ("added", "f"), ("gone", "e"),
    ]  # fmt: skip
    assert diff_text(found).splitlines()[1::2] == [
        "  a/tab01:c at cpu: verdict SUPPORTED -> UNDECIDED",
        "  a/tab01:b at cpu: measured 1.0 -> 2.0",
        "  a/tab01:d at cpu: other words",
        "  a/tab01:f at cpu",
        "  a/tab01:e at cpu",
    ]
    assert compare(sides[0], sides[0]) == []


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    path = write(tmp_path, {"claim": "a"})
    for text in ("[]", '{"rows": [{}]}', "{"):
        path.write_text(text)
        with pytest.raises(DataError, match=r"verdicts\.cpu\.json is damaged"):
            verdicts_at(tmp_path, None)
    path.unlink()
    with pytest.raises(UsageError, match="holds no verdicts"):
        verdicts_at(tmp_path, None)


def test_what_one_side_did_not_run_is_a_line_per_task(history: Cli, toy: ToyPaper) -> None:
    task, _, claim = GROWS.partition(" ")[0].partition(":")
    before = verdicts_at(toy.root, None)
    unrun = {"verdict": "UNTESTED", "reason": "not run: it has no table", "measured": None}
    after = {key: {**row, **unrun} if key[0] == task else row for key, row in before.items()}
    assert (task, claim, "cpu") in before
    found = diff_text(compare(before, after)).splitlines()
    assert found == ["Run on one side alone (1):", f"  {task} at cpu"]
    assert (
        compare(before, {key: row for key, row in after.items() if key[0] == "other/tab01"}) == []
    )
