"""What the paper's page and package say alike, and which of its sections the code cites."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import dedent

import pytest

from harness.declare.task import Task
from harness.registry import load_registry
from reproductions import paro
from tests.checkout import PAPERS

FOLDER = PAPERS / "paro"
UNSEEN = re.compile(r"sections? (3\.1(?!\.1)|3\.2|3\.3)|section 2 of appendix A\.3")
"""Sections whose text and numbers we have not seen: section 3.1.1 is all of section 3."""
TASKS = [each for name, each in load_registry().tasks.items() if name.startswith("paro/")]
WRITTEN = sorted({*FOLDER.rglob("*.py"), *FOLDER.rglob("*.toml"), FOLDER / "README.md"})


def test_the_package_has_the_pages_example() -> None:
    page = (FOLDER / "README.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n.*?\n\n(.*?)\n```", page, flags=re.DOTALL)
    assert example in dedent(str(paro.__doc__).split("is rented:\n\n")[1])


@pytest.mark.parametrize("path", WRITTEN, ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_section_is_cited_that_was_not_seen(path: Path) -> None:
    assert not UNSEEN.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.word)
def test_layouts_of_its_tables_and_figures_are_headed_as_inferred_and_others_are_ours(
    task: Task,
) -> None:
    is_the_papers = bool(re.fullmatch(r"(tab|fig)\d+", task.word))
    assert {(each.inferred, each.ours) for each in task.layouts} <= {
        (is_the_papers, not is_the_papers)
    }
    assert not [each.title for each in task.layouts if "inferred" in each.title]
