"""Folders: smoke and overridden runs stay out of what is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.declare.profiles import PROFILES
from harness.store.workspace import Workspace, find_workspace


def test_only_committed_profiles_lie_in_tracked_folders(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for profile in PROFILES:
        tracked = profile != "smoke"
        assert workspace.is_committed(profile) == tracked
        assert (workspace.results(profile) == tmp_path / "results") == tracked
        assert (workspace.figures(profile) == tmp_path / "figures") == tracked
    assert workspace.results("smoke").is_relative_to(workspace.runs)


def test_overridden_runs_are_kept_apart_from_all_others(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    one, two = workspace.with_overrides({"width": 1}), workspace.with_overrides({"width": 2})
    folders = {w.results("cpu") for w in (workspace, one, two)}
    assert len(folders) == 3
    assert not one.is_committed("cpu")
    assert one.results("cpu").is_relative_to(workspace.runs)
    assert workspace.with_overrides({}) == workspace


def test_environment_names_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    assert find_workspace().root == tmp_path.resolve()
    monkeypatch.delenv("REPRO_ROOT")
    assert (find_workspace().root / "pyproject.toml").exists()
