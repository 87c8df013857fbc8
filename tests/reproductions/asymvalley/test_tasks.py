"""The paper's tasks as a whole, and the examples of its page."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from matplotlib import pyplot

from harness.declare.overrides import Overrides
from harness.publish.stand_ins import stand_ins
from harness.store.trial import trials_behind
from tests.method_pages import examples
from tests.reproductions.asymvalley.claims import TASKS


def test_only_toys_and_identities_are_decided_at_smoke() -> None:
    """A net of a few steps has no valley: nothing empirical may be read off it."""
    for task in TASKS.values():
        for claim in task.claims:
            exact = claim.scope.grade == "exact"
            assert ("smoke" in claim.scope.profiles) == exact, f"{task.id} {claim.id}"


def test_the_page_s_examples_run() -> None:
    printed = io.StringIO()
    names: dict[str, object] = {}
    with redirect_stdout(printed):
        # Each goes on from those before; the last one runs where Flower is.
        for code in examples("asymvalley", {"pandas", "matplotlib"}):
            exec(compile(code, "asymvalley.md", "exec"), names)
    pyplot.close("all")
    asymmetry, accuracy, same_signs = (float(word) for word in printed.getvalue().split())
    assert -1.0 <= asymmetry <= 1.0
    assert 0.0 <= accuracy <= 1.0
    assert 0.5 < same_signs <= 1.0


def test_a_task_says_what_it_ran_below_the_paper_s_setting() -> None:
    at_the_paper_s_own = ("fig02", "fig10", "fig27", "fig29")
    named_by_us = ("published_nets", "pilot_nets", "pilot_federated")
    for word, task in TASKS.items():
        # Some nets are trained on a GPU alone, some at the paper's own setting.
        at = [p for p in ("cpu", "gpu") if trials_behind([task], p, Overrides())]
        said = bool(at and stand_ins(task, at[0], ""))
        assert said == (bool(at) and word not in (*at_the_paper_s_own, *named_by_us)), word
        assert not stand_ins(task, "paper", ""), word
