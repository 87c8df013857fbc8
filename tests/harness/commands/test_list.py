"""`repro list` with options: which tasks can be run like that."""

from __future__ import annotations

import pytest

from harness.declare.overrides import Overrides
from harness.declare.params import Params, doc, seed
from harness.declare.table import Table
from harness.declare.task import Task
from harness.errors import UsageError
from harness.store.trial import tasks_with
from tests.harness.commands.varied import told
from tests.harness.conftest import Cli
from tests.harness.hand_made import unrun


def ids(cli: Cli, *words: str) -> list[str]:
    return [row["id"] for row in told(cli("list", *words, "--json"))]


def test_what_takes_an_override_is_listed_and_no_other(cli: Cli) -> None:
    """Held against what `repro params` says of the same tasks."""
    every = told(cli("list", "supar", "--json"))
    named = {
        r["experiment"] for r in told(cli("params", "supar", "--json")) if r["name"] == "width"
    }
    able = [row["id"] for row in every if named & {*row["experiments"]}]
    assert 0 < len(able) < len(every)
    assert ids(cli, "supar", "--set", "width=64") == able
    assert ids(cli, "--set", "ms=0", "--seeds", "4") == ["toylab/tab01"]


def test_what_is_listed_can_be_planned_and_what_is_not_is_refused(cli: Cli) -> None:
    words = ("--set", "density=0.5", "--profile", "smoke")
    able = ids(cli, "supar", *words)
    for task in ids(cli, "supar"):
        done = cli("plan", task, *words, "--json")
        assert (done.code == 0) == (task in able), (task, done.err)


def test_a_profile_lists_what_has_trials_there(cli: Cli) -> None:
    assert ids(cli, "toylab", "--profile", "cpu") == ["toylab/tab01"]
    assert "toylab/tab01" not in ids(cli, "--profile", "gpu")
    done = cli("list", "toylab", "--profile", "gpu")
    assert (done.code, done.err) == (2, "repro: no task here has a trial at gpu\n")


def test_a_cohort_lists_what_has_it(lab: Cli) -> None:
    assert ids(lab, "toylab", "lisa", "--cohort", "cohort-1") == ["toylab/tab01"]
    assert ids(lab, "toylab", "--cohort", "cohort-1", "--profile", "cpu") == ["toylab/tab01"]
    assert lab("list", "toylab", "--cohort", "cohort-1", "--profile", "smoke").code == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("toylab", "--set", "x=abc"), "--set x='abc' is no int"),
        (("toylab", "supar", "--set", "ms=1", "--set", "density=0.5"),
         "no task here has a trial with density, ms"),
        (("toylab", "--set", "mod=ok"), "did you mean 'mode'"),
        (("--profile", "cup"), "did you mean 'cpu'"),
        (("--seeds", "0"), "at least 1"),
    ],
)  # fmt: skip
def test_where_nothing_can_be_run_like_that_a_sentence_says_why(
    cli: Cli, words: tuple[str, ...], said: str
) -> None:
    done = cli("list", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


class Walk(Params):
    length: int = doc("How far.")
    seed: int = seed("Steps drawn.")


def test_no_grid_is_walked_to_tell() -> None:
    """The first point says that there is one; a grid may have many thousands."""
    asked = []

    def grid(profile: str):  # type: ignore[no-untyped-def]
        for length in range(1000):
            asked.append(length)
            yield Walk(length=length, seed=0)

    task = Task(
        "mine/tab01", reads=(unrun("mine/walk", params=Walk, grid=grid),), table=Table.of(Walk)
    )
    assert tasks_with([task], ["cpu"], Overrides({"length": 3})) == [task]
    assert len(asked) == 1
    with pytest.raises(UsageError, match="length='far' is no int"):
        tasks_with([task], ["cpu"], Overrides({"length": "far"}))
