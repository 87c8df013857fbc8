"""As in make, a figure is drawn where its table or its code is newer."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from harness.publish.refresh import refresh_task
from harness.registry import Library
from harness.store.result import csv_path, figure_path
from harness.store.workspace import Workspace
from tests.harness.publish.report import demo_paper

# Nanoseconds after the code's time of change, by file.
TIMES = {
    "nothing": {"csv": 1, "json": 1, "figure": 2},
    "csv": {"csv": 3, "json": 1, "figure": 2},
    "json": {"csv": 1, "json": 3, "figure": 2},
    "code": {"csv": -3, "json": -3, "figure": -2},
}


@pytest.mark.parametrize("newer", TIMES)
def test_a_figure_is_drawn_where_what_it_shows_is_newer(
    own_demo: tuple[Workspace, Library], newer: str
) -> None:
    workspace, library = own_demo
    csv = csv_path(workspace, demo_paper.TASK, "cpu")
    figure = figure_path(workspace, demo_paper.TASK, "cpu")
    figure.write_text("drawn before")
    files = {"csv": csv, "json": csv.with_suffix(".json"), "figure": figure}
    changed_ns = Path(demo_paper.__file__).stat().st_mtime_ns
    for name, after in TIMES[newer].items():
        os.utime(files[name], ns=(changed_ns + after, changed_ns + after))
    refresh_task(workspace, library, demo_paper.TASK, "cpu")
    assert (figure.read_text() == "drawn before") == (newer == "nothing")


def test_what_is_committed_stays_until_a_larger_grid_has_run(
    own_demo: tuple[Workspace, Library], caplog: pytest.LogCaptureFixture
) -> None:
    workspace, library = own_demo
    (gone, *_) = sorted((workspace.runs / "records").rglob("*.json"))
    gone.unlink()
    kept = [csv_path(workspace, demo_paper.TASK, "cpu"), *workspace.root.rglob("*.jsonl.gz")]
    before = [path.read_bytes() for path in kept]
    assert len(kept) > 1
    refresh_task(workspace, library, demo_paper.TASK, "cpu")
    assert [path.read_bytes() for path in kept] == before
    assert "stay until all new trials have run" in caplog.text
