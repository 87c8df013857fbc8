"""The paper's tasks as a whole, and the README's example."""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from pathlib import Path

from harness.papers import load_paper
from harness.registry import load_registry

FOLDER = Path(__file__).parents[3] / "reproductions" / "asymvalley"
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
            if task.paper == "asymvalley" and claim.grade == "empirical":
                assert "smoke" not in claim.profiles, f"{task.id} {claim.id}"


def test_readme_s_example_runs() -> None:
    text = (FOLDER / "README.md").read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    printed = io.StringIO()
    with redirect_stdout(printed):
        exec(compile(code, "README.md", "exec"), {})
    assert -1.0 <= float(printed.getvalue()) <= 1.0
