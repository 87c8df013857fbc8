"""`--set`, `--seeds` and `--cohort`: every verb that a trial concerns takes all of them."""

from __future__ import annotations

from pathlib import Path

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
WHOLE = ["diff", "report"]
"""Those take all tasks together."""
FILES = {"data pack": ["--out", "packed"], "records export": ["exported.tar.gz"]}
"""What those are asked to write."""
TAKES = sorted(name for name, _ in verbs(command) if name not in NO_TRIAL)


def test_every_verb_takes_all_three_or_says_why_none() -> None:
    found = {name: {each.name for each in verb.params} & OVERRIDES for name, verb in verbs(command)}
    assert {name: took for name, took in found.items() if took != OVERRIDES} == {
        name: set() for name in NO_TRIAL
    }


def words_of(verb: str) -> list[str]:
    return [*verb.split(), *FILES.get(verb, []), *([] if verb in WHOLE else ["toylab/tab01"])]


@pytest.mark.parametrize("verb", TAKES)
def test_an_override_that_nothing_takes_is_refused_by_every_verb(
    lab: Cli, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = lab(*words_of(verb), "--set", "mod=ok")
    assert (done.code, done.out) == (2, "")
    assert "--set mod: no trial has that parameter; did you mean 'mode'" in done.err
    done = lab(*words_of(verb), "--set", "x=nine")
    assert (done.code, done.out) == (2, "")
    assert "--set x='nine' is no int" in done.err


# A variant has no other cohort than the first, as `repro variants` says of any name.
@pytest.mark.parametrize("verb", [verb for verb in TAKES if verb != "variants"])
def test_a_cohort_that_nothing_has_is_refused_by_every_verb(
    lab: Cli, verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    where = [] if verb in ("summary", "figures", *WHOLE) else ["--profile", "cpu"]
    done = lab(*words_of(verb), *where, "--cohort", "cohort-2")
    assert (done.code, done.out) == (2, "")
    assert "did you mean 'cohort-1'" in done.err
    done = lab(*words_of(verb), "--cohort", "cohort-1", *VARIANT)
    assert (done.code, done.out) == (2, "")
