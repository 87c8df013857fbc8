"""`repro list` with options, and which tasks can be run with an override."""

from __future__ import annotations

import pytest

from harness.registry import find_tasks, load_asked, load_registry
from tests.harness.commands.varied import told
from tests.harness.conftest import Cli


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
