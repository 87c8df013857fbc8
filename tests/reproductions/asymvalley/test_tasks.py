"""The paper's tasks as a whole: what decides them, and what stands in."""

from __future__ import annotations

from harness.declare.overrides import Overrides
from harness.publish.stand_ins import stand_ins
from harness.store.trial import trials_behind
from tests.reproductions.asymvalley.claims import TASKS


def test_only_toys_and_identities_are_decided_at_smoke() -> None:
    """A net of a few steps has no valley: nothing empirical may be read off it."""
    for task in TASKS.values():
        for claim in task.claims:
            exact = claim.scope.grade == "exact"
            assert ("smoke" in claim.scope.profiles) == exact, f"{task.id} {claim.id}"


def test_a_task_says_what_it_ran_below_the_paper_s_setting() -> None:
    at_the_paper_s_own = ("fig02", "fig10", "fig27", "fig29")
    named_by_us = ("published_nets", "pilot_nets", "pilot_federated")
    for word, task in TASKS.items():
        # Some nets are trained on a GPU alone, some at the paper's own setting.
        at = [p for p in ("cpu", "gpu") if trials_behind([task], p, Overrides())]
        said = bool(at and stand_ins(task, at[0], ""))
        assert said == (bool(at) and word not in (*at_the_paper_s_own, *named_by_us)), word
        assert not stand_ins(task, "paper", ""), word
