"""What a smoke run of a paper took, kept beside it: nobody commits smoke's records.

`python -m tools.keep_seconds` runs it and writes the file.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from math import fsum
from pathlib import Path

from pydantic import Field, ValidationError

from harness.declare.experiment import Experiment
from harness.declare.task import Task
from harness.errors import SpecError
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, is_there, read_toml

FILE = "smoke_seconds.toml"


class KeptSeconds(Strict):
    """What a run of a paper alone took, and how long a process took to start beside it."""

    commit: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    cpu: str = Field(min_length=1)
    start_s: float = Field(gt=0.0)
    """Core-seconds of `repro list`, the fastest before and after, as other work only slows them.
    By them machines are compared: like it, smoke is starts, imports and small operations."""
    task_s: float = Field(gt=0.0)
    """Mean core-seconds of a task's table, verdicts and figure."""
    run_s: float = Field(gt=0.0)
    """Core-seconds of a run besides: it starts, plans, and imports what tables and figures need."""
    worker_s: float = Field(gt=0.0)
    """Core-seconds of one worker besides its trials: it starts, and imports what they need."""
    seconds: dict[str, float]
    """Mean core-seconds of an experiment's trials, by its word; whichever of them came first
    imported what all of them need."""


def kept_seconds(experiment: Experiment) -> float | None:
    """Return what a smoke trial of an experiment took, None where its paper keeps nothing.

    Raises SpecError where the file is not as the tool writes it.
    """
    folder = _paper_folder(experiment)
    kept = None if folder is None else load_kept_seconds(folder)
    return None if kept is None else kept.seconds.get(experiment.id.split("/")[1])


def tables_seconds(tasks: Iterable[Task]) -> float:
    """Return what tables, verdicts and figures take, of papers that keep it. Raises SpecError."""
    papers = Counter(_paper_folder(task) for task in tasks)
    kept = {folder: load_kept_seconds(folder) for folder in papers if folder}
    return fsum(each.task_s * papers[folder] for folder, each in kept.items() if each)


@dataclass(frozen=True, kw_only=True, slots=True)
class Starts:
    """Core-seconds that a run takes once, and once a worker."""

    run_s: float = 0.0
    worker_s: float = 0.0


def starts_of(tasks: Iterable[Task]) -> Starts:
    """Return what the slowest paper of some tasks takes to start. Raises SpecError.

    Where none of them keeps it, those that lie beside them tell: most of a start is torch.
    """
    folders = {folder for task in tasks if (folder := _paper_folder(task))}
    kept = [each for folder in folders if (each := load_kept_seconds(folder))]
    if not kept:
        beside = {path.parent for folder in folders for path in folder.parent.glob(f"*/{FILE}")}
        kept = [each for folder in beside if (each := load_kept_seconds(folder))]
    return Starts(
        run_s=max((each.run_s for each in kept), default=0.0),
        worker_s=max((each.worker_s for each in kept), default=0.0),
    )


def load_kept_seconds(folder: Path) -> KeptSeconds | None:
    """Read the file of a paper's folder; None where there is none. Raises SpecError."""
    path = folder / FILE
    if not is_there(path):
        return None
    try:
        return KeptSeconds.model_validate(read_toml(path))
    except UnreadableError as error:
        raise SpecError(f"{error}: {_REMEDY}") from error
    except ValidationError as error:
        raise SpecError(f"{path}: {explain(error)}: {_REMEDY}") from error


_REMEDY = "restore it, or write it anew with python -m tools.keep_seconds"


def _paper_folder(declared: Experiment | Task) -> Path | None:
    """Return the folder of the package that holds the paper of what was declared."""
    name = declared.package
    while name:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and is_there(Path(file).parent / "paper.toml"):
            return Path(file).parent
        name = name.rpartition(".")[0]
    return None
