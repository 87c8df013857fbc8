"""What tests of several studies share: a trial's context without a store, and cases of tables."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, Literal

from harness.data.bundled import digits

Case = Literal["holds", "fails", "exact_low", "weak"]
"""What the numbers of a hand-made table say of a claim; exact_low: it fails, since exact
gradients are below what they are set against; weak: every positive control fails."""


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
