"""What tests of several studies share: contexts of trials, and cases of tables."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal

from harness.data.bundled import digits
from harness.declare import Experiment, Params
from harness.run.executors.context import TrialContext
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace

Case = Literal["holds", "fails", "exact_low", "weak"]
"""What the numbers of a hand-made table say of a claim; exact_low: it fails, since exact
gradients are below what they are set against; weak: every positive control fails."""


def context(experiment: Experiment, params: Params, folder: Path) -> TrialContext:
    """Return what a worker gives a trial at `smoke`, whose artifacts are below a folder."""
    trial = Trial(experiment, params.to_json(), "smoke")
    return TrialContext(trial, RecordStore(Workspace(folder)), "smoke")


class BareContext:
    """Seeds that are one number for all streams, and the bundled digits."""

    profile, device = "cpu", "cpu"

    def __init__(self, seed: int = 0) -> None:
        self._seed = seed

    def seed(self, stream: str) -> int:
        return self._seed

    def dataset(self, name: str) -> Any:
        assert name == "digits"
        return SimpleNamespace(arrays=digits())
