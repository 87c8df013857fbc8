"""`--set` and `--seeds`: on the verbs that run or read trials of a variant, and on no other."""

from __future__ import annotations

import pytest

from harness.commands.app import command
from tests.harness.conftest import Cli
from tools.commands_page import verbs

TAKES = ["run", "plan", "status", "check", "table", "plot", "show", "params", "variants"]


def test_the_verbs_of_trials_take_both_and_no_other_takes_one() -> None:
    found = {name: {each.name for each in verb.params} for name, verb in verbs(command)}
    assert {name for name, took in found.items() if "settings" in took} == set(TAKES)
    assert {name for name, took in found.items() if "seeds" in took} == set(TAKES)


@pytest.mark.parametrize("verb", TAKES)
def test_an_override_that_nothing_takes_is_refused(lab: Cli, verb: str) -> None:
    for setting, why in (
        ("mod=ok", "--set mod: no trial has that parameter; did you mean 'mode'"),
        ("x=nine", "--set x='nine' is no int"),
    ):
        done = lab(verb, "toylab/tab01", "--set", setting)
        assert (done.code, done.out, why in done.err) == (2, "", True), done.err
