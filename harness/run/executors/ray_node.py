"""What happens on a node of a Ray cluster: files come, a job is done there, and its files go back.

Imports no Ray.
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
from harness.errors import HarnessError, RunError
from harness.measure.machine import gpus, record_facts
from harness.outgoing import tidy
from harness.run.executors.job import Job, JobFailed, Report
from harness.run.executors.local import LocalExecutor
from harness.run.executors.worker import BUSY, trials_of
from harness.store.store import RecordStore
from harness.store.trial import Trial
from harness.store.workspace import Workspace

DATA = "data"
"""Folder for data sets that the node lacks."""


@dataclass(frozen=True, kw_only=True, slots=True, weakref_slot=True)
class Sent:
    """A file that a job needs."""

    place: str
    """Below the driver's folder on the node."""
    sha256: str
    content: Any
    """What its bytes are had from."""


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


def card_bytes() -> int:
    """Return the memory of this node's smallest GPU; 0 without one."""
    return min((gpu["memory_bytes"] for gpu in gpus()), default=0)


def do_job(job: Job, sent: Sequence[Sent], folder: str, fetch: Callable[[Any], bytes]) -> Done:
    """Run a job's trials in a process of their own, as on the driver's machine.

    sent: records and artifacts that it starts from, and its data sets. folder: that of the driver,
    in the copy of the code that Ray made on this node. fetch: returns the bytes of a `content`.
    """
    try:
        _must_have_torch(job.facts["versions"].get("torch", ""))
        root = Path.cwd() / folder
        store, trials = RecordStore(Workspace(root)), trials_of(job)
        data = _place(root, trials, sent, fetch)
        here = replace(job, root=str(root), facts={**job.facts, **_own_facts()})
        cards = os.environ.get("CUDA_VISIBLE_DEVICES", "")
        reports = _process(data, cards).submit(here).result()
        ended = [t for t, report in zip(trials, reports, strict=True) if report.status != BUSY]
        return Done(reports=reports, files=dict(_results(store, ended)))
    except JobFailed as error:
        return Done(failed=tidy(str(error)))
    except HarnessError as error:
        return Done(refused=tidy(str(error)))


def _must_have_torch(theirs: str) -> None:
    """Raise RunError where the driver has another version; builds for a GPU are of one."""
    ours = _own_facts()["versions"].get("torch", "")
    if ours.partition("+")[0] != theirs.partition("+")[0]:
        raise RunError(
            f"a node of the cluster has {f'torch {ours}' if ours else 'no torch'}, this machine"
            f" {theirs}: install the same version there"
        )


@cache
def _own_facts() -> dict[str, Any]:
    """Return the facts of this machine that records carry."""
    facts = record_facts()
    return {name: facts[name] for name in ("machine", "versions")}


def _place(
    root: Path, trials: Sequence[Trial], sent: Sequence[Sent], fetch: Callable[[Any], bytes]
) -> str:
    """Write what the node lacks of what was sent; return where its data lie."""
    names = {name for trial in trials for name in trial.needs.data}
    lacks_data = any(available(name) is None for name in names)
    for one in sent:
        path = root / one.place
        is_wanted = lacks_data or not one.place.startswith(f"{DATA}/")
        if is_wanted and not _is_here(path, one.sha256):
            write_bytes(path, fetch(one.content), durable=False)
    return str(root / DATA) if lacks_data else os.environ.get("REPRO_DATA", "")


def _is_here(path: Path, sha256: str) -> bool:
    return path.is_file() and hashlib.sha256(path.read_bytes()).hexdigest() == sha256


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
        record, path = store.read(trial), store.path(trial)
        folder = store.artifact_folder(trial)
        for file in (*(folder / e.name for e in getattr(record, "artifacts", ())), path):
            if file.is_file():
                yield str(file.relative_to(runs)), file.read_bytes()
        path.unlink(missing_ok=True)
