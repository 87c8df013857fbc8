"""`repro list` with options, and which tasks can be run with an override."""

from __future__ import annotations

import pytest

from harness.declare.overrides import Overrides
from harness.declare.params import Params, doc, seed
from harness.declare.table import Table
from harness.declare.task import Task
from harness.errors import UsageError
from harness.registry import find_tasks, load_asked, load_registry
from harness.store.trial import tasks_with
from tests.harness.commands.varied import told
from tests.harness.conftest import Cli
from tests.harness.hand_made import unrun


def ids(cli: Cli, *words: str) -> list[str]:
    return [row["id"] for row in told(cli("list", *words, "--json"))]


def test_text_and_json_list_the_same_tasks(cli: Cli) -> None:
    for words in ((), ("supar", "*fig06"), ("toylab",)):
        lines = cli("list", *words).out.splitlines()
        assert [line.split()[0] for line in lines] == ids(cli, *words)


def test_a_profile_lists_what_has_trials_there(cli: Cli) -> None:
    assert ids(cli, "toylab", "--profile", "cpu") == ["toylab/tab01"]
    assert "toylab/tab01" not in ids(cli, "--profile", "gpu")
    done = cli("list", "toylab", "--profile", "gpu")
    assert (done.code, done.err) == (2, "repro: no task here has a trial at gpu\n")


def test_a_kind_lists_its_own(cli: Cli) -> None:
    assert {row["kind"] for row in told(cli("list", "--kind", "kernel", "--json"))} == {"kernel"}


@pytest.mark.parametrize("selectors", [["supar/fig06"], ["fg2u", "lisa/tab0*"], ["*tab01"], []])
def test_of_what_is_asked_for_the_papers_alone_are_imported(selectors: list[str]) -> None:
    library, whole = load_asked(selectors), load_registry()
    found = [task.id for task in library.select(selectors)]
    assert found == [task.id for task in whole.select(selectors)] == list(find_tasks(selectors))
    assert {*library.papers} == {name.split("/")[0] for name in found}
    assert find_tasks(selectors) == {name: whole.titles[name] for name in found}


class Walk(Params):
    length: int = doc("How far.")
    seed: int = seed("Steps drawn.")


def test_no_grid_is_walked_to_tell_who_takes_an_override() -> None:
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
