"""What tests share: one smoke run, two groups, and no skipped test that nobody notices."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings

from harness.data import load as datasets
from harness.store.workspace import Workspace
from tests.checkout import ROOT
from tests.warm import Warm

# How long an example takes depends on what else the machine does; under CI that is the default.
settings.register_profile(
    "unhurried", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("unhurried")

KEPT_AT = "REPRO_SMOKE_KEPT_AT"
"""Names a folder, not there yet, that is to hold what the smoke run left."""


@dataclass(frozen=True, slots=True)
class Smoke:
    """What `repro run --profile smoke` left in a checkout of its own."""

    workspace: Workspace
    done: subprocess.CompletedProcess[str]


@pytest.fixture(scope="session")
def smoke(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    """Run every task at smoke scale, once for all workers of a session; do not change it.

    The worker that asks first runs it; another one that asks waits at the lock.
    """
    shared = tmp_path_factory.getbasetemp()
    if is_worker(request.config):
        shared = shared.parent
    root, told = shared / "smoke", shared / "smoke.json"
    with FileLock(f"{told}.lock"):
        if not told.exists():
            # Fails where a run was broken off in another worker: nobody waits for a second one.
            root.mkdir()
            done = keep(run_smoke(root)).done
            told.write_text(json.dumps([done.returncode, done.stdout, done.stderr]))
    code, out, err = json.loads(told.read_text())
    return Smoke(Workspace(root), subprocess.CompletedProcess("repro", code, out, err))


def keep(smoke: Smoke) -> Smoke:
    """Copy what a smoke run left to where the environment asks for it, if it does."""
    if place := os.environ.get(KEPT_AT):
        shutil.copytree(smoke.workspace.root, place)
    return smoke


def is_worker(config: pytest.Config) -> bool:
    """Say whether this process is one of several that share the tests."""
    return hasattr(config, "workerinput")


def run_smoke(root: Path) -> Smoke:
    """Run every task at smoke scale in an empty checkout at `root`."""
    # Bundled data must do: what is staged or cached on this machine is hidden.
    env = {name: value for name, value in os.environ.items() if name != "REPRO_DATA"}
    env |= {"REPRO_ROOT": str(root), "REPRO_CACHE": str(root.with_name("empty"))}
    env |= {"HF_HUB_OFFLINE": "1", "OMP_WAIT_POLICY": "passive", "PYTHONHASHSEED": "1"}
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


@pytest.fixture(scope="session")
def warm() -> Iterator[Warm]:
    """Return what serves calls in fresh processes by forks, once asked to."""
    process = Warm()
    yield process
    process.close()


def pytest_collection() -> None:
    """Keep the garbage collector away while all that is made lives as long as the session."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Let the garbage collector pass over what lives as long as the session, and come less often.

    It takes a sixth of the time of tests that draw figures or read tables.
    """
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 10, 10)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--timing",
        choices=("without", "only"),
        help="leave out the tests marked timing, as workers side by side do, or run only those",
    )


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Pass over files without a timed test where only those are asked for: imports take long."""
    if config.getoption("--timing") != "only" or not collection_path.is_file():
        return None
    return True if "mark.timing" not in collection_path.read_text(encoding="utf-8") else None


EXTRAS = {"cluster": "ray", "fed": "flwr", "kernels": "triton", "rehearsal": "triton"}
"""Markers of tests that need an extra, and what it brings."""
ASKED_FOR = ("data", "tools", "net", *EXTRAS)
"""Markers of tests that need what few machines have: skipped there, unless `-m` asks for them."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Choose the group, skip what cannot run here, and order the tests of workers."""
    choose_group(config, items)
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.tools)
        if why := missing(item):
            item.add_marker(pytest.mark.skip(reason=why))
    if is_worker(config):
        items.sort(key=place)


def missing(item: pytest.Item) -> str:
    """Return what a test needs that is not here, in words; nothing where it can run."""
    for marker, package in EXTRAS.items():
        if item.get_closest_marker(marker) and find_spec(package) is None:
            return f"{package} is not installed: it has an environment of its own"
    if item.get_closest_marker("net") and "net" not in item.config.option.markexpr:
        return "needs a network, and runs only where -m net asks for it"
    if needed := item.get_closest_marker("data"):
        if needed.args:
            return next(filter(None, map(datasets.missing_reason, needed.args)), "")
        return "" if os.environ.get("REPRO_DATA") else "needs staged data: REPRO_DATA is not set"
    return ""


def place(item: pytest.Item) -> int:
    """Return how early a test comes in workers: what takes long must not come last.

    The first worker starts the smoke run right after the slow tests; the others have other tests
    meanwhile.
    """
    if item.get_closest_marker("slow"):
        return 0
    return 1 if "smoke" in getattr(item, "fixturenames", ()) else 2


def choose_group(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the tests that need the machine alone away from workers that share it."""
    asked = config.getoption("--timing") or ("without" if is_worker(config) else "")
    if asked:
        groups: dict[bool, list[pytest.Item]] = {True: [], False: []}
        for item in items:
            groups[item.get_closest_marker("timing") is not None].append(item)
        config.hook.pytest_deselected(items=groups[asked != "only"])
        items[:] = groups[asked == "only"]


def may_be_skipped(item: pytest.Item) -> bool:
    """Return whether nobody can expect this test to run here.

    What few machines have must be there where it was asked for by its marker.
    """
    for marker in ASKED_FOR:
        if item.get_closest_marker(marker):
            return marker not in item.config.option.markexpr
    return item.get_closest_marker("gpu") is not None


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
