"""The made-up paper's site and RESULTS.md, built once."""

import pytest

from harness.publish.report import build_report, build_results
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import make_demo


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Workspace, Library]:
    """A built demo: site and RESULTS.md are there. Tests must not change it."""
    workspace, library = make_demo(tmp_path_factory.mktemp("demo"))
    build_report(workspace, library)
    build_results(workspace, library)
    return workspace, library
