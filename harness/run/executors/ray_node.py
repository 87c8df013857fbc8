"""What happens on a node of a Ray cluster: files come, a job is done there, and its files go back.

Imports no Ray. The node's folder is the copy of the code that Ray makes there and removes again.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from harness.atomic import write_bytes
from harness.data.load import available
from harness.errors import HarnessError
from harness.measure.machine import gpus, package_versions, record_facts
from harness.run.executors.job import Job, JobFailed, Report
from harness.run.executors.local import LocalExecutor
from harness.run.executors.worker import trials_of
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace

DATA = "data"
"""Folder for data sets that the node lacks."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sent:
    """A file that a job needs."""

    place: str
    """Below the node's folder."""
    sha256: str
    content: Any
    """What its bytes are had from."""

    @property
    def is_data(self) -> bool:
        return self.place.startswith(f"{DATA}/")


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """What a job came to: reports and files, or why it has none."""

    reports: list[Report] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)
    """Artifacts and records by their place below `runs/`."""
    failed: str = ""
    """What a JobFailed says."""
    refused: str = ""
    """What another error says, after which going on makes no sense."""


def node_facts() -> dict[str, Any]:
    """Return what a driver asks of a node before it sends jobs: torch, and the GPU's memory."""
    memory = [gpu["memory_bytes"] for gpu in gpus()]
    return {"torch": package_versions().get("torch", ""), "gpu_bytes": max(memory, default=0)}


def do_job(job: Job, sent: Sequence[Sent], fetch: Callable[[Any], bytes]) -> Done:
    """Run a job's trials in a process of their own, as on the driver's machine.

    sent: records and artifacts that it starts from, and its data sets. fetch: returns the bytes of
    a file's `content`.
    """
    root = Path.cwd()
    store, trials = RecordStore(Workspace(root)), trials_of(job)
    names = {name for trial in trials for name in trial.needs.data}
    lacks_data = any(available(name) is None for name in names)
    for one in sent:
        path = root / one.place
        if (lacks_data or not one.is_data) and not _is_here(path, one.sha256):
            write_bytes(path, fetch(one.content), durable=False)
    here = replace(job, root=str(root), facts={**job.facts, **_own_facts()})
    data = str(root / DATA) if lacks_data else os.environ.get("REPRO_DATA", "")
    try:
        reports = _process(data, os.environ.get("CUDA_VISIBLE_DEVICES", "")).submit(here).result()
    except JobFailed as error:
        return Done(failed=str(error))
    except HarnessError as error:
        return Done(refused=str(error))
    return Done(reports=reports, files=dict(_results(store, trials)))


def _is_here(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


@cache
def _own_facts() -> dict[str, Any]:
    """Return the facts of this machine that records carry."""
    facts = record_facts()
    return {name: facts[name] for name in ("machine", "versions")}


_started: dict[tuple[str, str], LocalExecutor] = {}
"""The process of this worker of Ray by the data and cards that it sees: one at most."""


def _process(data: str, cards: str) -> LocalExecutor:
    """Return the process that does jobs, a new one where it is to see other data or cards."""
    if (data, cards) not in _started:
        for executor in _started.values():
            executor.close()
        _started.clear()
        # It inherits the environment, which Ray has set for this job's cards.
        os.environ["REPRO_DATA"] = data
        _started[data, cards] = LocalExecutor(1)
    return _started[data, cards]


def _results(store: RecordStore, trials: Sequence[Trial]) -> Iterator[tuple[str, bytes]]:
    """Yield the artifacts and records of trials; no record stays, so that nothing runs by it."""
    runs = store.workspace.runs
    for trial in trials:
        record = store.read(trial)
        for entry in getattr(record, "artifacts", ()):
            path = store.artifact_folder(trial) / entry.name
            yield str(path.relative_to(runs)), path.read_bytes()
        path = store.path(trial)
        if path.is_file():
            yield str(path.relative_to(runs)), path.read_bytes()
            path.unlink()
