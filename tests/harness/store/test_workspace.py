"""Folders: smoke and overridden runs stay out of what is committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.declare.profiles import PROFILES
from harness.errors import UsageError
from harness.store.workspace import Workspace, find_results, find_workspace
from tests.harness.conftest import Cli


def test_only_committed_profiles_lie_in_tracked_folders(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    for profile in PROFILES:
        tracked = profile != "smoke"
        assert workspace.is_committed(profile) == tracked
        assert (workspace.results(profile) == tmp_path / "results") == tracked
        assert (workspace.figures(profile) == tmp_path / "figures") == tracked
    assert workspace.results("smoke").is_relative_to(workspace.runs)


def test_environment_names_the_root(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    assert find_workspace().root == tmp_path.resolve()
    monkeypatch.delenv("REPRO_ROOT")
    assert (find_workspace().root / "pyproject.toml").exists()


@pytest.mark.parametrize("verb", ["check", "figures", "report", "table", "plot"])
def test_a_folder_without_results_is_not_read_as_one_of_them(
    cli: Cli, tmp_path: Path, verb: str
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    words = {"report": [], "table": ["toylab/tab01"], "plot": ["toylab/tab01"]}
    done = cli(verb, *words.get(verb, ["toylab"]), REPRO_ROOT=str(empty))
    assert (done.code, list(empty.iterdir())) == (2, [])
    assert done.err == (
        f"repro: {empty} holds no results: run something there first, or set REPRO_ROOT to the"
        " folder that has them\n"
    )


def test_help_is_given_whatever_the_root_is(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "photo.jpg").touch()
    assert cli("list", "--help", REPRO_ROOT=str(tmp_path)).code == 0


def test_what_was_run_or_committed_makes_a_folder_one_of_results(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPRO_ROOT", str(tmp_path))
    with pytest.raises(UsageError):
        find_results()
    (tmp_path / "runs").mkdir()
    assert find_results().root == tmp_path.resolve()
