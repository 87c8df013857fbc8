"""One smoke run for all tests that read records, and no skipped test that nobody notices."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Generator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from harness.workspace import Workspace

ROOT = Path(__file__).resolve().parents[1]


@dataclass(frozen=True, slots=True)
class Smoke:
    """What `repro run --profile smoke` left in a checkout of its own."""

    workspace: Workspace
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    """Run every task at smoke scale, once for the whole session."""
    return run_smoke(tmp_path_factory.mktemp("smoke"))


def run_smoke(root: Path) -> Smoke:
    """Run every task at smoke scale in an empty checkout at `root`."""
    # Bundled data must do: what is staged or cached on this machine is hidden.
    env = {name: value for name, value in os.environ.items() if name != "REPRO_DATA"}
    env |= {"REPRO_ROOT": str(root), "OMP_WAIT_POLICY": "passive"}
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", "run", "--profile", "smoke"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    return Smoke(Workspace(root), done)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs Flower in an environment without it."""
    if find_spec("flwr") is None:
        skip = pytest.mark.skip(reason="Flower is not installed: it has an environment of its own")
        for item in items:
            if item.get_closest_marker("fed"):
                item.add_marker(skip)


def may_be_skipped(item: pytest.Item) -> bool:
    """Return whether nobody can expect this test to run here.

    One that needs Flower must run where it was asked for by its marker.
    """
    if item.get_closest_marker("fed"):
        return "fed" not in item.config.option.markexpr
    return any(item.get_closest_marker(name) for name in ("gpu", "bench"))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Under REPRO_NO_SKIPS=1 turn a skipped test into a failure, where it could have run."""
    report = yield
    if (
        os.environ.get("REPRO_NO_SKIPS") == "1"
        and report.skipped
        and not hasattr(report, "wasxfail")
        and not may_be_skipped(item)
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped where everything can run: {reason}"
    return report
