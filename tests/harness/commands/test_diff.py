"""`repro diff`: what changed between two commits, or since one, claim by claim."""

from __future__ import annotations

import gzip
import io
import json
import re
import subprocess
import tarfile
from pathlib import Path

import pytest
from harness.publish.compared.differences import compare
from harness.publish.report.verdicts_json import as_text

from harness.errors import UsageError
from harness.store.archive import RECORDS
from harness.store.record import pack_bytes, parse_record
from tests.harness.conftest import Cli, Done
from tests.harness.hostile import ODD_FILES, put
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


def test_what_was_not_run_is_not_gone_where_code_differs(cli: Cli, toy: ToyPaper) -> None:
    git(toy.root, "init", "-q")
    report(cli, toy.root)
    commit(toy.root, "nothing was run")
    (toy.root / "code.py").write_text("")
    assert "No verdict differs." in cli("diff", "HEAD").out


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
    for odd in ("", "x" * 5000, "no/such"):
        done = history("diff", odd)
        assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
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


VARIED = ("--set", "x=3", "--seeds", "4")


def test_options_name_the_variant_that_is_the_second_side(history: Cli, toy: ToyPaper) -> None:
    assert history("run", "toylab", *CPU, *VARIED).code == 0
    (folder,) = (toy.root / "runs" / "output").glob("set-*")
    for before in ("HEAD", "HEAD~1"):
        done = history("diff", before, *VARIED, "--exit-code")
        assert done == history("diff", before, folder.name, "--exit-code")
        assert (done.code, "toylab/tab01:grows" in done.out) == (1, True), done
    alone = history("diff", *VARIED).out.splitlines()
    assert alone[0] == "the working tree -> variant seeds=4, x=3"
    assert alone[1:] == done.out.splitlines()[1:]


def test_a_variant_is_the_second_side_alone(history: Cli) -> None:
    assert history("run", "toylab", *CPU, *VARIED).code == 0
    done = history("diff", "HEAD~1", "HEAD", *VARIED)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert "--set and --seeds name the second side: leave HEAD out" in done.err


def test_a_variant_that_was_never_run_is_told_with_the_command_that_runs_it(history: Cli) -> None:
    words = ("--set", "ms=1", "--seeds", "3")
    done = history("diff", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    (command,) = re.findall(r"is here: repro (.+) makes one$", done.err.strip())
    assert command == "run toylab/tab01 --profile cpu --set ms=1 --seeds 3"
    assert history(*command.split(), "--executor", "inline").code == 0
    assert "No verdict differs" in history("diff", *words).out


def test_a_variant_s_folder_that_says_nothing_of_itself_is_told(
    history: Cli, toy: ToyPaper
) -> None:
    assert history("run", "toylab", *CPU, *VARIED).code == 0
    (file,) = (toy.root / "runs" / "output").glob("set-*/variant.json")
    file.unlink()
    done = history("diff", *VARIED)
    assert (done.code, done.out, f"{file} is missing" in done.err) == (2, "", True), done.err


def test_a_cohort_is_compared_alone(lab: Cli, toy: ToyPaper, tmp_path: Path) -> None:
    rows = json.loads(lab("check", "toylab", "--profile", "cpu", "--json").out)
    assert [row["cohort"] for row in rows] == ["first", "cohort-1"]
    other = tmp_path / "other"
    for root, words in ((toy.root, "REPRODUCED"), (other, "INCONCLUSIVE")):
        (root / "results").mkdir(parents=True, exist_ok=True)
        told = [row | {"verdict": words} for row in rows]
        (root / "results" / "verdicts.json").write_text(as_text(told))
    sides = (str(toy.root), str(other))
    assert lab("diff", *sides).out.count("REPRODUCED -> INCONCLUSIVE") == 2
    done = lab("diff", *sides, "--cohort", "cohort-1")
    assert done.out.startswith(f"cohort-1 of {toy.root} -> cohort-1 of {other}")
    (line,) = [line for line in done.out.splitlines() if line.startswith("  ")]
    assert line == "  toylab/tab01:grows@cohort-1 at cpu: REPRODUCED -> INCONCLUSIVE"
    first = [row for row in rows if row["cohort"] == "first"]
    (other / "results" / "verdicts.json").write_text(as_text(first))
    done = lab("diff", *sides, "--cohort", "cohort-1")
    assert (done.code, done.out, "has no verdict of cohort-1" in done.err) == (2, "", True)


def exported(cli: Cli, file: Path, *words: str) -> Path:
    done = cli("records", "export", str(file), "toylab", *(words or ("--profile", "cpu")))
    assert done.code == 0, done.err
    return file


def test_an_export_is_a_side_too(history: Cli, toy: ToyPaper, tmp_path: Path) -> None:
    """As it was made, wherever it lies, and nothing of it is kept."""
    then = exported(history, tmp_path / "then.tar.gz")
    squares_shrink(toy)
    assert history("run", "toylab", *CPU, "--stale").code == 0
    now, before = exported(history, tmp_path / "now.tar.gz"), tree(tmp_path)
    told = "toylab/tab01:grows at cpu: REPRODUCED -> INCONCLUSIVE"
    for sides in ((str(then),), (str(then), str(now)), ("HEAD", str(now))):
        done = history("diff", *sides, "--exit-code")
        assert (done.code, told in done.out) == (1, True), (sides, done)
    assert f"{then} (cpu) -> {now} (cpu)" in history("diff", str(then), str(now)).out
    for sides in ((str(then), "HEAD"), (str(now),), (str(now), str(now))):
        done = history("diff", *sides, "--exit-code")
        assert (done.code, "No verdict differs." in done.out) == (0, True), (sides, done)
    assert tree(tmp_path) == before


def test_an_export_of_a_variant_says_so(history: Cli, tmp_path: Path) -> None:
    words = (*CPU[:2], "--set", "x=3", "--seeds", "4")
    assert history("run", "toylab", *words, *CPU[2:]).code == 0
    file = exported(history, tmp_path / "varied.tar.gz", *words)
    done = history("diff", "HEAD", str(file))
    assert f"{file} (cpu, variant seeds=4, x=3)" in done.out
    assert "toylab/tab01:grows at cpu: REPRODUCED -> NOT_REPRODUCED" in done.out


def test_an_export_of_another_profile_has_nothing_in_common(
    history: Cli, toy: ToyPaper, tmp_path: Path
) -> None:
    count = 'int(os.environ.get("TOY_COUNT", "4"))'
    text = toy.experiment.read_text()
    assert count in text
    toy.experiment.write_text(text.replace(count, '4 if profile == "cpu" else 2'))
    assert history("run", "toylab", "--executor", "inline").code == 0
    file = exported(history, tmp_path / "small.tar.gz", "--profile", "smoke")
    done = history("diff", "HEAD", str(file))
    assert (done.code, done.out, "no task at one profile in common" in done.err) == (2, "", True)
    done = history("diff", str(file), str(file))
    assert f"{file} (smoke)" in done.out and "No verdict differs." in done.out


def test_an_export_of_unlike_trials_is_refused(history: Cli, toy: ToyPaper, tmp_path: Path) -> None:
    file = exported(history, tmp_path / "old.tar.gz")
    toy.experiment.write_text(toy.experiment.read_text().replace("version=1", "version=2"))
    done = history("diff", "HEAD", str(file))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert f"{file} holds trials of toylab/squares that no profile has today" in done.err


def altered(file: Path, **changes: object) -> None:
    """Write the records of an export anew, as anybody could."""
    with tarfile.open(file) as tar:
        stream = tar.extractfile(RECORDS)
        assert stream is not None
        lines = gzip.decompress(stream.read()).decode().splitlines()
    records = [parse_record(line, where="").model_copy(update=changes) for line in lines]
    packed, buffer = pack_bytes(records), io.BytesIO()
    info = tarfile.TarInfo(RECORDS)
    info.size = len(packed)
    with tarfile.open(fileobj=buffer, mode="w:gz") as tar:
        tar.addfile(info, io.BytesIO(packed))
    file.write_bytes(buffer.getvalue())


@pytest.mark.parametrize("rows", [[{"\x1b[31m": 1.0}], [{"square": "much"}], [], [{}]])
def test_an_export_whose_rows_give_no_table_errs_in_its_verdicts(
    history: Cli, tmp_path: Path, rows: list[dict[str, object]]
) -> None:
    file = exported(history, tmp_path / "odd.tar.gz")
    altered(file, rows=rows)
    done = history("diff", "HEAD", str(file))
    assert (done.code, "\x1b" in done.out + done.err) == (0, False), done
    assert "toylab/tab01:grows at cpu: REPRODUCED -> ERROR" in done.out


def test_an_export_without_seals_is_refused(history: Cli, tmp_path: Path) -> None:
    file = exported(history, tmp_path / "bare.tar.gz")
    altered(file, seals={})
    done = history("diff", "HEAD", str(file))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert "has no seals" in done.err


@pytest.mark.parametrize("kind", ODD_FILES)
def test_an_odd_file_in_the_place_of_an_export_is_one_line(
    history: Cli, tmp_path: Path, kind: str
) -> None:
    file = tmp_path / "odd.tar.gz"
    put(file, kind)
    done = history("diff", "HEAD", str(file))
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1), done.err
    assert str(file) in done.err


def test_what_was_run_at_smoke_compares_with_the_working_tree_s(
    history: Cli, tmp_path: Path
) -> None:
    """Its results are committed nowhere."""
    smoke = ("toylab", "--executor", "inline")
    assert history("run", *smoke, "--set", "x=3").code == 0
    (folder,) = (tmp_path / "root" / "runs" / "output").glob("set-*")
    assert "no task at one profile in common" in history("diff", folder.name).err
    assert history("run", *smoke).code == 0
    told = "toylab/tab01:grows at smoke: NOT_REPRODUCED -> REPRODUCED"
    assert told in history("diff", folder.name).out


def test_without_a_repository_no_commit_is_offered(cli: Cli, toy: ToyPaper) -> None:
    assert cli("run", "toylab", *CPU).code == 0
    done = cli("diff", "HEAD")
    assert (done.code, "did you mean" in done.err) == (2, False)
    assert f"{toy.root} is in no git repository" in done.err


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
