"""What `--set` and `--seeds` make can be looked at with the verbs that show what is committed."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.harness.commands.varied import INLINE, LABEL, VARIANT, folder, told, tree
from tests.harness.conftest import Cli, Done
from tests.harness.hostile import ODD_FILES, put
from tests.harness.toy_paper import ToyPaper

# Run


def test_a_run_says_where_it_wrote_and_what_to_type_next(toy: ToyPaper, cli: Cli) -> None:
    done = cli("run", "toylab/tab01", *INLINE, *VARIANT)
    where = re.search(r"^tables: (\S+), figures: (\S+)$", done.err, re.MULTILINE)
    assert where is not None
    assert (Path(where[1]) / "toylab" / "tab01.smoke.csv").is_file()
    check, variants = next_commands(done)
    (row,) = told(cli(*check, "--json"))
    assert (row["verdict"], row["num_seeds"]) == ("UNDECIDED", 4)
    (listed,) = told(cli(*variants, "--json"))
    assert listed["overrides"] == {"seeds": 4, "x": 9}


def next_commands(done: Done) -> list[list[str]]:
    """Return what the last line of a run says to type, as a shell would read it."""
    assert done.code == 0, done.err
    (line,) = [line for line in done.err.splitlines() if line.startswith("next: ")]
    commands = [shlex.split(part) for part in line.removeprefix("next: ").split("; ")]
    assert [words[0] for words in commands] == ["repro"] * len(commands)
    return [words[1:] for words in commands]


def test_a_variant_of_a_real_task_is_shown_by_the_line_that_its_run_prints(cli: Cli) -> None:
    done = cli("run", "supar/with_kernels", *INLINE, "--set", "width=64", "--seeds", "3")
    check, _ = next_commands(done)
    shown = cli(*check, "--all").out
    assert shown.startswith("Variant seeds=3, width=64") and "UNTESTED" not in shown
    assert [row["verdict"] for row in told(cli(*check, "--json"))] == ["HOLDS"]
    assert [row["state"] for row in told(cli("status", *check[1:], "--json"))] == ["done"] * 3


def test_what_failed_in_a_variant_is_listed_by_the_command_that_is_named(cli: Cli) -> None:
    done = cli("run", "toylab", *INLINE, "--set", "mode=raise")
    assert done.code == 3
    (line,) = [line for line in done.err.splitlines() if "repro status --failed" in line]
    shown = cli(*shlex.split(line[line.index("repro") :])[1:])
    assert shown.code == 0
    assert "this trial is broken" in " ".join(shown.out.split())


def test_the_order_of_sets_and_seeds_does_not_matter(toy: ToyPaper, cli: Cli) -> None:
    orders = (
        ("--set", "x=9", "--set", "ms=0", "--seeds", "4"),
        ("--seeds", "4", "--set", "ms=0", "--set", "x=9"),
        ("--set", "seeds=4", "--set", "x=9.0", "--set", "ms=0"),
    )
    for order in orders:
        assert cli("run", "toylab", *INLINE, *order).code == 0
    assert len(toy.starts()) == 4
    (listed,) = told(cli("variants", "--json"))
    assert listed["overrides"] == {"ms": 0, "seeds": 4, "x": 9}


@pytest.mark.parametrize(
    "words", [("--set", "x=1", "--set", "x=2"), ("--seeds", "3", "--set", "seeds=4")]
)
def test_one_parameter_has_one_value(cli: Cli, words: tuple[str, ...]) -> None:
    done = cli("plan", "toylab", *words)
    assert done.code == 2
    assert "is set twice" in done.err


# Verbs that read


def test_every_reading_verb_shows_the_variant(lab: Cli, toy: ToyPaper) -> None:
    before = tree(toy.root / "results", toy.root / "figures")
    rows = told(lab("plan", "toylab", *VARIANT, "--json"))
    assert [row["action"] for row in rows] == ["reuse"] * 4
    rows = told(lab("status", "toylab", *VARIANT, "--json"))
    assert [(row["state"], "x=9" in row["trial"]) for row in rows] == [("done", True)] * 4
    (row,) = told(lab("check", "toylab", *VARIANT, "--json"))
    assert (row["verdict"], row["overrides"]) == ("UNDECIDED", {"seeds": 4, "x": 9})
    rows = told(lab("show", "toylab/tab01", *VARIANT, "--json"))
    assert [(row["profile"], row["num_seeds"]) for row in rows] == [("smoke", 4)]
    assert tree(toy.root / "results", toy.root / "figures") == before


@pytest.mark.parametrize(("verb", "of"), [("check", "toylab"), ("show", "toylab/tab01")])
def test_verdicts_of_a_variant_are_headed_by_what_it_is(lab: Cli, verb: str, of: str) -> None:
    assert lab(verb, of, *VARIANT).out.startswith("Variant seeds=4, x=9")
    assert "ariant" not in lab(verb, of).out


@pytest.mark.parametrize("form", ["text", "markdown", "latex", "csv"])
def test_a_table_of_a_variant_says_so(lab: Cli, form: str) -> None:
    words = ("table", "toylab/tab01", "--format", form)
    shown = lab(*words, *VARIANT)
    assert shown.code == 0, shown.err
    assert LABEL in shown.out.replace("\\", "")
    assert "variant" not in lab(*words).out


def test_a_figure_of_a_variant_says_so_and_replaces_no_other(
    lab: Cli, toy: ToyPaper, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from harness.publish import style

    monkeypatch.setitem(style.RC, "svg.fonttype", "none")
    monkeypatch.chdir(tmp_path)
    committed = tree(toy.root / "figures")
    for options in ((), VARIANT):
        assert lab("plot", "toylab/tab01", *options).code == 0
    (plain,) = tmp_path.glob("toylab-tab01.cpu.svg")
    (variant,) = tmp_path.glob("toylab-tab01.smoke.set-*.svg")
    assert LABEL in variant.read_text() and "variant" not in plain.read_text()
    assert tree(toy.root / "figures") == committed


def test_what_a_variant_lacks_is_told_with_its_own_command(lab: Cli) -> None:
    missing = "repro run toylab/tab01 --profile cpu --set x=8"
    (row,) = told(lab("check", "toylab", "--set", "x=8", "--json"))
    assert row["verdict"] == "UNTESTED" and row["reason"].startswith("not run: ")
    assert missing in row["reason"]
    done = lab("table", "toylab/tab01", "--profile", "cpu", "--set", "x=8")
    assert done.code == 2 and missing in done.err


# What is there


def test_variants_lists_what_was_overridden_where_and_how_it_went(lab: Cli, toy: ToyPaper) -> None:
    settings = {"TOY_MODES": "raise nan", "TOY_COUNT": "1"}
    before = tree(toy.root / "results", toy.root / "figures")
    assert lab("run", "toylab", *INLINE, "--set", "ms=1", "--seeds", "1", **settings).code == 3
    assert tree(toy.root / "results", toy.root / "figures") == before
    rows = told(lab("variants", "--json"))
    assert sorted((row["options"], row["done"], row["failed"], row["missing"]) for row in rows) == [
        ("--set ms=1 --seeds 1", 2, 1, 0),
        ("--set x=9 --seeds 4", 4, 0, 0),
    ]
    assert {(row["profile"], row["task"]) for row in rows} == {("smoke", "toylab/tab01")}
    assert all(Path(row["table"]).is_file() and row["started_at"] for row in rows)
    assert all(row["options"] in lab("variants").out for row in rows)


def test_variants_shows_those_with_what_is_asked_for(lab: Cli) -> None:
    def names(*words: str) -> list[dict[str, Any]]:
        return [row["overrides"] for row in told(lab("variants", "--json", *words))]

    assert names("--set", "x=9") == names("--seeds", "4") == [{"seeds": 4, "x": 9}]
    assert names("--set", "x=8") == names("--seeds", "3", "--set", "x=9") == []


def test_a_damaged_table_of_a_variant_hides_no_other(lab: Cli, toy: ToyPaper) -> None:
    stray = toy.root / "runs" / "output" / "set-000000000000" / "results" / "toylab"
    for kind in (*ODD_FILES, "{"):
        stray.mkdir(parents=True)
        (stray / "tab01.smoke.csv").touch()
        if kind in ODD_FILES:
            put(stray / "tab01.smoke.json", kind)
        else:
            (stray / "tab01.smoke.json").write_text(kind)
        done = lab("variants", "--json")
        assert [row["overrides"] for row in json.loads(done.out)] == [{"seeds": 4, "x": 9}]
        (line,) = done.err.splitlines()
        assert done.code == 2 and f"{stray}/tab01.smoke.json" in line
        shutil.rmtree(stray)


def test_no_variant_is_said_in_a_sentence(lab: Cli) -> None:
    done = lab("variants", "toylab/tab01", "--set", "x=8")
    assert (done.code, done.out) == (0, "") and "repro run TASK --set name=value" in done.err
    assert lab("variants", "toylab/tab01").out
    assert told(lab("variants", "--set", "x=8", "--json")) == []


def test_a_result_of_a_variant_never_stands_as_the_committed_one(lab: Cli, toy: ToyPaper) -> None:
    toy.csv().parent.mkdir(parents=True)
    for source in (folder(toy) / "results" / "toylab").iterdir():
        shutil.copy(source, toy.csv().parent)
    (row,) = json.loads(lab("check", "toylab", "--profile", "smoke", "--json").out)
    assert row["verdict"] == "ERROR" and "seeds=4, x=9" in row["reason"]


def test_params_says_what_may_be_set(cli: Cli) -> None:
    rows = told(cli("params", "toylab/tab01", "--json"))
    assert [row["name"] for row in rows] == ["x", "ms", "mode", "seed"]
    assert (rows[0]["type"], rows[0]["doc"], rows[0]["values"]) == (
        "int",
        "The number.",
        [0, 1, 2, 3],
    )
    assert "--seeds" in cli("params", "toylab/tab01").err


def test_params_shows_the_values_that_options_would_give(lab: Cli) -> None:
    def values(*words: str) -> dict[str, list[Any]]:
        rows = told(lab("params", "toylab/tab01", "--profile", "cpu", "--json", *words))
        return {row["name"]: row["values"] for row in rows}

    assert (values()["x"], values()["seed"]) == ([0, 1, 2, 3], [0, 1, 2])
    changed = values("--set", "x=9", "--seeds", "5")
    assert (changed["x"], changed["seed"]) == ([9], [0, 1, 2, 3, 4])


def test_params_reads_well_in_eighty_columns(toy: ToyPaper, cli: Cli) -> None:
    text = toy.experiment.read_text()
    long = "The number that is squared, in a sentence that is far longer than the line of any page."
    toy.experiment.write_text(text.replace("The number.", long))
    lines = cli("params", "toylab/tab01").out.splitlines()
    assert lines[0] == "toylab/squares"
    assert lines[1].startswith("  x (int): The number that is squared, in a sentence")
    assert lines[3] == "      in the grid: 0, 1, 2, 3"
    assert max(map(len, lines)) <= 80
