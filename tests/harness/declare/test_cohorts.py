"""Cohorts: seeds that nobody picks, judged alone, beside the first ones."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pytest

from harness.declare.cohorts import FIRST, Cohort, cohort_seed
from harness.declare.experiment import Experiment
from harness.declare.params import Params, doc, seed
from harness.declare.profiles import Profile
from harness.errors import SpecError, UsageError
from harness.store.trial import all_trials, grid_of
from tests.harness.conftest import Cli
from tests.harness.toy_paper import ToyPaper

Grid = Callable[[Profile], Iterable[Any]]
COHORT = Cohort(number=1, num_seeds=3, since="0" * 40)
DECLARED = "    cohorts={'cpu': (Cohort(number=1, num_seeds=3, since='0' * 40),)},\n"
RUN = ("run", "toylab", "--profile", "cpu", "--executor", "inline")


class Point(Params):
    x: int = doc("The number.")
    seed: int = seed("The noise.")


def grid(profile: Profile) -> Iterator[Point]:
    if profile == "cpu":
        for x in (1, 2):
            for number in (0, 1):
                yield Point(x=x, seed=number)


def experiment(*cohorts: Cohort, grid: Grid = grid) -> Experiment:
    return Experiment(
        "lab/sweep", version=1, params=Point, grid=grid, run="trial:run", cohorts={"cpu": cohorts}
    )


def test_seeds_are_the_first_31_bits_of_a_sha256() -> None:
    text = hashlib.sha256(b"lab cohort-1 2").digest()
    assert cohort_seed("lab", "cohort-1", 2) == int.from_bytes(text[:4], "big") >> 1
    assert COHORT.seeds("lab") == [cohort_seed("lab", "cohort-1", i) for i in range(3)]
    assert len({*COHORT.seeds("lab"), *COHORT.seeds("other")}) == 6


def test_cohort_repeats_every_point_and_enters_no_key() -> None:
    plain, declared = experiment(), experiment(COHORT)
    first = grid_of(declared, "cpu")
    assert [t.key for t in first] == [t.key for t in grid_of(plain, "cpu")]
    fresh = grid_of(declared, "cpu", cohort="cohort-1")
    assert {(t.params["x"], t.params["seed"]) for t in fresh} == {
        (x, seed) for x in (1, 2) for seed in COHORT.seeds("lab")
    }
    # Whoever lists such a seed gets the same trial.
    same = Point(x=1, seed=COHORT.seeds("lab")[0])
    listed = experiment(grid=lambda profile: [same])
    assert grid_of(listed, "cpu")[0].key in {t.key for t in fresh}
    assert len(all_trials(declared, "cpu")) == 4 + 6


@pytest.mark.parametrize("numbers", [(2,), (1, 3), (1, 1), (2, 1)])
def test_cohorts_have_no_gaps(numbers: tuple[int, ...]) -> None:
    with pytest.raises(SpecError, match="need 1, 2"):
        experiment(*(Cohort(number=n, num_seeds=1, since="") for n in numbers))


def test_cohort_that_is_not_declared_is_refused() -> None:
    with pytest.raises(UsageError, match="cohort-2"):
        grid_of(experiment(COHORT), "cpu", cohort="cohort-2")
    with pytest.raises(UsageError, match="seeds of its own"):
        grid_of(experiment(COHORT), "cpu", {"seeds": 4}, cohort="cohort-1")


@pytest.fixture
def declared(toy: ToyPaper, cli: Cli) -> ToyPaper:
    """Return a toy paper whose first seeds were run before a cohort was declared."""
    assert cli(*RUN).code == 0
    text = toy.experiment.read_text().replace("    timeout_s=", f"{DECLARED}    timeout_s=")
    toy.experiment.write_text(f"from harness.declare.cohorts import Cohort\n{text}")
    return toy


def judge_by(toy: ToyPaper, cohort: str, *, threshold: float = 1.0) -> None:
    """Declare that a cohort decides the toy's claim."""
    text = toy.task.read_text().replace("by_theory(", f'by_theory(cohort="{cohort}", ')
    toy.task.write_text(text.replace("growth, 1.0", f"growth, {threshold}"))


def check(cli: Cli, *options: str) -> list[dict[str, Any]]:
    found = cli("check", "toylab", "--profile", "cpu", "--deep", "--json", *options)
    return list(json.loads(found.out))


def test_declared_cohort_leaves_what_stands_as_it_is(declared: ToyPaper, cli: Cli) -> None:
    before = declared.csv("cpu").read_bytes()
    (row,) = check(cli)
    assert (row["cohort"], row["verdict"], row["seal"]) == (FIRST, "REPRODUCED", "sealed")
    assert cli(*RUN, "--cohort", "first").code == 0
    assert declared.csv("cpu").read_bytes() == before
    assert before.startswith(b"x,mode,seed,square\n")


def test_each_cohort_is_judged_alone(declared: ToyPaper, cli: Cli) -> None:
    assert cli(*RUN).code == 0
    assert len(declared.starts()) == 12 + 12
    rows = {row["cohort"]: row for row in check(cli)}
    assert set(rows) == {FIRST, "cohort-1"}
    assert all((row["num_seeds"], row["seal"]) == (3, "sealed") for row in rows.values())
    assert [row["decides"] for row in rows.values()] == [True, False]
    lines = declared.csv("cpu").read_text().splitlines()
    assert lines[0] == "cohort,x,mode,seed,square"
    assert [line.split(",")[0] for line in lines[1:]] == [FIRST] * 12 + ["cohort-1"] * 12
    assert [row["cohort"] for row in check(cli, "--cohort", "cohort-1")] == ["cohort-1"]


def test_claim_changed_after_its_run_is_cleared_by_a_fresh_cohort(
    declared: ToyPaper, cli: Cli
) -> None:
    judge_by(declared, "cohort-1", threshold=0.5)
    assert cli(*RUN, "--cohort", "cohort-1").code == 0
    rows = {row["cohort"]: row for row in check(cli)}
    assert (rows[FIRST]["seal"], rows[FIRST]["decides"]) == ("changed", False)
    assert (rows["cohort-1"]["seal"], rows["cohort-1"]["decides"]) == ("sealed", True)


def test_cohort_that_decides_cannot_be_picked_when_both_are_known(
    declared: ToyPaper, cli: Cli
) -> None:
    assert cli(*RUN).code == 0
    judge_by(declared, "cohort-1")
    rows = {row["cohort"]: row for row in check(cli)}
    assert (rows["cohort-1"]["decides"], rows["cohort-1"]["seal"]) == (True, "changed")
    assert "judged by: first then, cohort-1 now" in rows["cohort-1"]["differences"]


def test_cohort_that_was_run_cannot_be_dropped(declared: ToyPaper, cli: Cli) -> None:
    assert cli(*RUN).code == 0
    declared.experiment.write_text(declared.experiment.read_text().replace(DECLARED, ""))
    done = cli("check", "toylab", "--profile", "cpu", "--json")
    rows = [row for row in json.loads(done.out) if row["cohort"] == "cohort-1"]
    assert (done.code, [row["verdict"] for row in rows]) == (1, ["ERROR"])


def test_claim_judged_by_no_cohort_breaks_its_task(toy: ToyPaper, cli: Cli) -> None:
    judge_by(toy, "cohort-7")
    assert "cohort-7, which no experiment" in cli("list").err


def test_unknown_cohort_is_refused_before_anything_runs(declared: ToyPaper, cli: Cli) -> None:
    done = cli(*RUN, "--cohort", "cohort-7")
    assert (done.code, "cohort-1" in done.err) == (2, True)
    assert cli(*RUN, "--cohort", "cohort-1", "--set", "ms=1").code == 2
    assert len(declared.starts()) == 12
