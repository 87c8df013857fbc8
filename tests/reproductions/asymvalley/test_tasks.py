"""The paper's tasks as a whole, and the examples of its page."""

from __future__ import annotations

import io
from contextlib import redirect_stdout

from matplotlib import pyplot

from harness.declare.papers import load_paper
from harness.registry import load_registry
from tests.checkout import PAPERS
from tests.method_pages import examples

FOLDER = PAPERS / "asymvalley"
LIBRARY = load_registry()


def test_every_figure_and_table_of_the_paper_is_listed() -> None:
    listed = {item.id for item in load_paper(FOLDER).items}
    figures = {f"fig{number:02d}" for number in range(1, 30)}
    assert listed >= figures | {"tab01"}


def test_all_but_the_diagram_are_tasks() -> None:
    tasks = {name.split("/")[1] for name, t in LIBRARY.tasks.items() if t.paper == "asymvalley"}
    assert tasks >= {f"fig{number:02d}" for number in range(2, 30)} | {"tab01"}


def test_only_toys_and_identities_are_decided_at_smoke() -> None:
    """A net of a few steps has no valley: nothing empirical may be read off it."""
    for task in LIBRARY.tasks.values():
        for claim in task.claims:
            if task.paper == "asymvalley" and claim.scope.grade == "empirical":
                assert "smoke" not in claim.scope.profiles, f"{task.id} {claim.id}"


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
