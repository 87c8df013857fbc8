"""The made-up paper's site and RESULTS.md, built once; copies of it may be changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.publish.report.load import load_pages
from harness.publish.report.write import write_results, write_site
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import copy_demo, make_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Library]:
    """A built demo: site and RESULTS.md are there. Tests must not change it."""
    workspace, library = make_demo(tmp_path_factory.mktemp("demo"))
    pages = load_pages(workspace, library, store=True)
    write_site(workspace, pages)
    write_results(workspace, library, pages)
    return workspace, library


@pytest.fixture
def own_demo(demo: tuple[Workspace, Library], tmp_path: Path) -> tuple[Workspace, Library]:
    """A copy of the built demo that a test may change."""
    return copy_demo(demo, tmp_path)
