"""`--set`, `--seeds` and `--cohort`: every verb that a trial concerns takes all of them."""

from __future__ import annotations

import pytest

from harness.commands.app import command
from tests.harness.commands.varied import VARIANT
from tests.harness.conftest import Cli
from tools.commands_page import verbs

OVERRIDES = {"settings", "seeds", "cohort"}
NO_TRIAL = {
    "bench": "it measures how fast the code is; no trial's result is asked for",
    "data list": "it tells of data sets, whoever reads them",
    "data verify": "it checks data sets, whoever reads them",
    "data make": "it makes the data set that is named",
    "data fetch": "it fetches the data set that is named",
    "records import": "the file says what it holds",
    "gpu run": "what is due on a card is what is committed: repro run takes a variant there",
    "gpu pack": "it brings what repro gpu run runs",
    "new paper": "it writes files before there is any trial",
    "new task": "it writes files before there is any trial",
}
"""Verbs that take none of the three, and why no trial, or no choice of trials, concerns them."""
ONE_TASK = ["plan", "status", "check", "summary", "show", "params", "table", "plot", "figures",
            "list", "doctor", "verify", "variants"]  # fmt: skip
WHOLE = ["diff", "report"]
"""Those take all tasks together."""


def test_every_verb_takes_all_three_or_says_why_none() -> None:
    found = {name: {each.name for each in verb.params} & OVERRIDES for name, verb in verbs(command)}
    assert {name: took for name, took in found.items() if took != OVERRIDES} == {
        name: set() for name in NO_TRIAL
    }
    takes = found.keys() - NO_TRIAL.keys()
    assert takes == {*ONE_TASK, *WHOLE, "run", "records export", "data pack"}


@pytest.mark.parametrize("verb", [*ONE_TASK, *WHOLE])
def test_an_override_that_nothing_has_is_refused_by_every_verb(lab: Cli, verb: str) -> None:
    words = () if verb in WHOLE else ("toylab/tab01",)
    done = lab(verb, *words, "--set", "mod=ok")
    assert (done.code, done.out) == (2, "")
    assert "--set mod: no trial has that parameter; did you mean 'mode'" in done.err


@pytest.mark.parametrize("verb", [*ONE_TASK[:-1], *WHOLE])
def test_a_cohort_that_nothing_has_is_refused_by_every_verb(lab: Cli, verb: str) -> None:
    words = () if verb in WHOLE else ("toylab/tab01",)
    where = () if verb in ("summary", "figures", *WHOLE) else ("--profile", "cpu")
    done = lab(verb, *words, *where, "--cohort", "cohort-2")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'cohort-1'" in done.err
    done = lab(verb, *words, "--cohort", "cohort-1", *VARIANT)
    assert (done.code, done.out) == (2, "")
