"""What a smoke run of a paper took, kept beside it: nobody commits smoke's records.

`python -m tools.keep_seconds` runs it and writes the file.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pydantic import Field, ValidationError

from harness.declare.experiment import Experiment
from harness.errors import SpecError
from harness.strict import Strict, explain
from harness.untrusted import UnreadableError, is_there, read_toml

FILE = "smoke_seconds.toml"


class KeptSeconds(Strict):
    """What a run of a paper alone took, and how fast the machine was before and after."""

    commit: str = Field(pattern=r"^[0-9a-f]{7,40}$")
    cpu: str = Field(min_length=1)
    matmul_gflop_per_s: float = Field(gt=0.0)
    """Fastest of controls before and after, as other work only slows them; see
    harness.measure.control."""
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


def _paper_folder(experiment: Experiment) -> Path | None:
    """Return the folder of the package that holds the experiment's paper."""
    name = experiment.package
    while name:
        file = getattr(sys.modules.get(name), "__file__", None)
        if file and is_there(Path(file).parent / "paper.toml"):
            return Path(file).parent
        name = name.rpartition(".")[0]
    return None
