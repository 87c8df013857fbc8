"""Where things lie on disk: one object, so that no other module builds a path by hand."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import EnvError
from harness.provenance.canonical import digest

COMMITTED_PROFILES: tuple[Profile, ...] = ("cpu", "gpu", "paper")
"""Profiles whose results are kept in git; smoke's are remade by everyone."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one checkout; `variant` keeps overridden runs apart from committed ones."""

    root: Path
    variant: str = ""

    @property
    def runs(self) -> Path:
        """Working copy of records and artifacts."""
        return self.root / "runs"

    @property
    def site(self) -> Path:
        """The static report."""
        return self.root / "site"

    def results(self, profile: Profile) -> Path:
        return self._output(profile) / "results"

    def figures(self, profile: Profile) -> Path:
        return self._output(profile) / "figures"

    def is_committed(self, profile: Profile) -> bool:
        """Whether this profile's results lie in the tracked folders."""
        return profile in COMMITTED_PROFILES and not self.variant

    def _output(self, profile: Profile) -> Path:
        if self.is_committed(profile):
            return self.root
        return self.runs / "output" / (self.variant or profile)

    def with_overrides(self, overrides: dict[str, Scalar]) -> Workspace:
        """Return the same checkout with its outputs in a folder named after the overrides."""
        variant = f"set-{digest(overrides)[:12]}" if overrides else ""
        return Workspace(self.root, variant)


def find_workspace() -> Workspace:
    """Return the folder in REPRO_ROOT, else the source tree, else the current folder.

    Raises EnvError where REPRO_ROOT names no folder: results would seem not to be there.
    """
    if root := os.environ.get("REPRO_ROOT"):
        if not os.path.isdir(root):  # noqa: PTH112 - the other raises for a name that is too long
            raise EnvError(f"REPRO_ROOT={root} is not a folder: correct or unset the variable")
        return Workspace(Path(root).resolve())
    source = Path(__file__).resolve().parents[2]
    return Workspace(source if (source / "pyproject.toml").exists() else Path.cwd())
