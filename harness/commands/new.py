"""`repro new`: a paper or a task to begin from, which runs and passes its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from harness.commands.common import group, say, shown
from harness.registry import load_registry
from harness.scaffold import Written, new_paper, new_task

app = group(help="Begin a paper or a task from files that run.")

NameArgument = Annotated[str, typer.Argument(help="The paper's folder, such as mypaper.")]
IdArgument = Annotated[str, typer.Argument(help="PAPER/WORD, such as supar/tab05 or supar/abl_x.")]
IntoOption = Annotated[
    Path | None, typer.Option("--into", help="A folder: the paper is a package of its own there.")
]
StudyOption = Annotated[str, typer.Option("--study", help="Its folder; as its word by default.")]


@app.command("paper")
def paper(name: NameArgument, into: IntoOption = None) -> None:
    """Write a paper with one task, its method and its tests into the checkout, or a package."""
    _tell(new_paper(load_registry(), name, into), f"pip install -e {into}; " if into else "")


@app.command("task")
def task(task_id: IdArgument, study: StudyOption = "") -> None:
    """Write a task with a study and tests of its own, and list it in paper.toml."""
    _tell(new_task(load_registry(), task_id, study))


def _tell(written: Written, first: str = "") -> None:
    for path in written.files:
        typer.echo(shown(path))
    say(
        f"next: {first}repro run {written.task_id}; repro check {written.task_id} --profile smoke;"
        f" python -m pytest {shown(written.tests)}"
    )
