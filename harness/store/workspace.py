"""Where things lie on disk: one object, so that no other module builds a path by hand."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from harness.declare.overrides import Overrides
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import UsageError

COMMITTED_PROFILES: tuple[Profile, ...] = ("cpu", "gpu", "paper")
"""Profiles whose results are kept in git; smoke's are remade by everyone."""


@dataclass(frozen=True, slots=True)
class Workspace:
    """The folders of one checkout, and what is overridden: a variant has outputs of its own."""

    root: Path
    overrides: Overrides = Overrides()  # noqa: RUF009 - it cannot be changed

    @property
    def runs(self) -> Path:
        """Working copy of records and artifacts."""
        return self.root / "runs"

    @property
    def site(self) -> Path:
        """The static report."""
        return self.root / "site"

    def results(self, profile: Profile) -> Path:
        return self.output(profile) / "results"

    def figures(self, profile: Profile) -> Path:
        return self.output(profile) / "figures"

    def is_committed(self, profile: Profile) -> bool:
        """Whether this profile's results lie in the tracked folders."""
        return profile in COMMITTED_PROFILES and not self.overrides

    def output(self, profile: Profile) -> Path:
        """Where a profile's results and figures lie."""
        if self.is_committed(profile):
            return self.root
        return self.outputs / (self.overrides.name or profile)

    @property
    def outputs(self) -> Path:
        """Where outputs lie that are not committed: a folder for smoke, and one per variant."""
        return self.runs / "output"

    def with_overrides(self, overrides: Mapping[str, Scalar]) -> Workspace:
        """Return the same checkout with its outputs in a folder named after the overrides."""
        return replace(self, overrides=Overrides(overrides))


def find_workspace() -> Workspace:
    """Return the folder in REPRO_ROOT, else the source tree, else the current folder.

    Raises UsageError where REPRO_ROOT names no folder.
    """
    if root := os.environ.get("REPRO_ROOT"):
        if not os.path.isdir(root):  # noqa: PTH112 - the other raises for a name that is too long
            raise UsageError(
                f"REPRO_ROOT={root} is not a folder: make it, or correct or unset the variable"
            )
        return Workspace(Path(root).resolve())
    source = Path(__file__).resolve().parents[2]
    return Workspace(source if (source / "pyproject.toml").exists() else Path.cwd())


def find_results() -> Workspace:
    """Return the same for reading. Raises UsageError where nothing was ever run or committed."""
    workspace = find_workspace()
    if not any((workspace.root / name).is_dir() for name in ("results", "runs")):
        raise UsageError(
            f"{workspace.root} holds no results: run something there first, or set REPRO_ROOT to"
            " the folder that has them"
        )
    return workspace
