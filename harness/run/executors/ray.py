"""Runs jobs on a cluster by Ray Core; the records of this process, the driver, alone count.

Ray places jobs by what their trials need, and copies the code to each node once. It tries nothing
again by itself: a job that is lost with its node, or whose worker says nothing, comes back as
JobLost.
"""

from __future__ import annotations

import hashlib
import math
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from weakref import WeakValueDictionary

import ray
from ray import exceptions

from harness.atomic import write_bytes
from harness.data.load import find
from harness.data.pack import pack
from harness.errors import HarnessError, RunError
from harness.run.executors.job import Job, JobFailed, JobLost, Report
from harness.run.executors.ray_cluster import connect, line_of, living_nodes, name_of, nodes_now
from harness.run.executors.ray_node import DATA, Done, Sent, do_job
from harness.run.executors.worker import BUSY, trials_of
from harness.run.plan import MachineLimits, memory_of
from harness.store.record import parse_record
from harness.store.store import RecordStore
from harness.store.trial import Trial, with_upstream

POLL_S = 0.2
SILENCE_S = 30.0
"""A job is given up this long after twice its time limit, which its own worker should have held.
Files travel in that time too. So long a job may wait without a node that could take it."""
LOOK_S = 5.0
"""How often it is asked which nodes live."""
LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.RuntimeEnvSetupError,
)
"""What Ray says of a task whose process or node is gone; a trial has a process of its own there."""


@dataclass(kw_only=True, slots=True)
class _Sending:
    """A job on its way."""

    job: Job
    trials: Sequence[Trial]
    is_ours: Sequence[bool]
    """Of which of them the lock is held; the others are run by somebody else right now."""
    locks: ExitStack
    future: Future[list[Report]]
    sent: Sequence[Sent] = ()
    asked: Mapping[str, float] = field(default_factory=dict)
    """What it reserves, as Ray's options have it."""
    deadline: float = math.inf
    """On the monotonic clock; it has none as long as it waits for room."""

    def fail(self, error: BaseException) -> None:
        self.locks.close()
        self.future.set_exception(error)

    def end(self, reports: Sequence[Report]) -> None:
        """Close with a report of each trial that was ours."""
        self.locks.close()
        found = iter(reports)
        busy = Report(status=BUSY, wall_s=0.0)
        self.future.set_result([next(found) if ours else busy for ours in self.is_ours])


class RayExecutor:
    """Carries out jobs on a cluster of Ray."""

    places_jobs = True

    def __init__(
        self, store: RecordStore, packages: Collection[str], *, address: str = "", num_cpus: int = 0
    ) -> None:
        """Connect to a cluster, or start one on this machine.

        packages: top-level packages of the experiments, which are sent along. num_cpus: of a
        cluster that is started. Raises RunError where there is none, or one that cannot be used.
        """
        self._store = store
        self._lock = Lock()
        self._on_the_way: dict[Any, _Sending] = {}
        self._files: WeakValueDictionary[str, Sent] = WeakValueDictionary()
        self._data: dict[str, list[Sent]] = {}
        self._closed = False
        self._looked_at = self._had_room_at = time.monotonic()
        connect(address, num_cpus, packages)
        try:
            self._nodes = nodes_now()
        except BaseException:
            ray.shutdown()
            raise
        self._folder = f"driver-{ray.get_runtime_context().get_job_id()}"
        self.num_workers = int(ray.cluster_resources().get("CPU", 1))
        self._thread = Thread(target=self._collect, daemon=True)
        self._thread.start()

    @property
    def limits(self) -> MachineLimits:
        """The most that one node can offer a trial; of GPUs the smallest, for Ray picks any."""
        cards = [node["card_bytes"] for node in self._nodes if node.get("GPU")]
        return MachineLimits(
            memory_bytes=int(max(node.get("memory", 0.0) for node in self._nodes)),
            has_cuda=bool(cards),
            gpu_bytes=min(cards, default=0),
        )

    def submit(self, job: Job) -> Future[list[Report]]:
        future: Future[list[Report]] = Future()
        trials, locks = trials_of(job), ExitStack()
        is_ours = [locks.enter_context(self._store.lock(trial)) for trial in trials]
        ours = [trial for trial, held in zip(trials, is_ours, strict=True) if held]
        sending = _Sending(job=job, trials=ours, is_ours=is_ours, locks=locks, future=future)
        try:
            if not ours:
                sending.end([])
                return future
            sending.sent = list(self._sent_with(ours))
            points = tuple(dict(trial.params) for trial in ours)
            # Nested, so that a node fetches only what it lacks.
            given = [replace(job, points=points), sending.sent, self._folder]
            sending.asked = self._asked_by(ours)
            items = _do.options(**sending.asked).remote(*given)
        except Exception as error:  # noqa: BLE001 - a future carries whatever was raised
            sending.fail(_told(error))
            return future
        with self._lock:
            self._on_the_way[items] = sending
        return future

    def cancel_all(self) -> None:
        with self._lock:
            jobs = list(self._on_the_way)
        for items in jobs:
            with suppress(exceptions.RayError):
                ray.cancel(items, force=True)
        self.close()

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._thread.join()
        for sending in self._on_the_way.values():
            sending.locks.close()
            sending.future.cancel()
        ray.shutdown()

    def _asked_by(self, trials: Sequence[Trial]) -> dict[str, float]:
        """Return what a job reserves: a timed one a whole node, others a core and their memory.

        Raises JobFailed where no node has all of it: Ray would wait for ever.
        """
        needs, card = trials[0].needs, self.limits.gpu_bytes
        memory = max(map(memory_of, trials))
        cards = 0.0
        if needs.device == "cuda":
            share = sum(trial.needs.gpu_bytes for trial in trials) / card if card else 1.0
            cards = 1.0 if needs.exclusive else min(1.0, round(share + 0.005, 2))
        asked = {"num_cpus": 1.0, "num_gpus": cards, "memory": float(memory)}
        able = [node for node in self._nodes if _has_room(node, asked)]
        if not able:
            raise JobFailed(
                f"no node of the cluster has {memory / 2**30:.3g} GiB of memory"
                + (" and a GPU" if cards else "")
            )
        if needs.exclusive:
            asked["num_cpus"] = max(node["CPU"] for node in able)
        return asked

    def _sent_with(self, trials: Sequence[Trial]) -> Iterator[Sent]:
        """Yield what trials start from: results upstream, their own of other code, and data."""
        root = self._store.workspace.root
        chain = {each.key: each for trial in trials for each in with_upstream(trial)}
        for trial in chain.values():
            if (record := self._store.result(trial)) is None:
                continue
            line = f"{record.to_line()}\n".encode()
            place = str(self._store.path(trial).relative_to(root))
            yield self._put(place, hashlib.sha256(line).hexdigest(), partial(bytes, line))
            for entry in record.artifacts:
                path = self._store.artifact_folder(trial) / entry.name
                if path.is_file():
                    yield self._put(str(path.relative_to(root)), entry.sha256, path.read_bytes)
        for name in dict.fromkeys(name for trial in trials for name in trial.needs.data):
            if name not in self._data:
                self._data[name] = list(self._put_data(name))
            yield from self._data[name]

    def _put(self, place: str, sha256: str, read: Callable[[], bytes]) -> Sent:
        """Hand a file to Ray, once for all jobs that are on their way."""
        if (sent := self._files.get(place)) is None or sent.sha256 != sha256:
            sent = Sent(place=place, sha256=sha256, content=ray.put(read()))
            self._files[place] = sent
        return sent

    def _put_data(self, name: str) -> Iterator[Sent]:
        """Hand a data set to Ray, its content checked; one that is bundled is code."""
        with tempfile.TemporaryDirectory() as folder:
            if not find(name).bundled:
                pack([name], Path(folder))
            for path in (each for each in Path(folder).rglob("*") if each.is_file()):
                content = path.read_bytes()
                place = f"{DATA}/{path.relative_to(folder)}"
                yield self._put(place, hashlib.sha256(content).hexdigest(), partial(bytes, content))

    def _collect(self) -> None:
        """Take what jobs say, one after the other, as long as there may be more."""
        while not self._closed:
            with self._lock:
                jobs = list(self._on_the_way)
            if not jobs:
                time.sleep(POLL_S / 10)
                continue
            try:
                said, _ = ray.wait(jobs, timeout=POLL_S)
                for items in said:
                    self._hear(items)
                self._give_up(set(jobs) - set(said))
                self._must_have_room()
            # The head is gone, or this machine's part of the cluster: nothing comes any more.
            except Exception as error:  # noqa: BLE001 - each job's future carries it
                told = error if isinstance(error, RunError) else _gone(error)
                for items in list(self._on_the_way):
                    self._taken(items).fail(told)

    def _taken(self, items: Any) -> _Sending:
        with self._lock:
            return self._on_the_way.pop(items)

    def _hear(self, items: Any) -> None:
        """Take the next that a job says: that it has begun, or what it came to."""
        with self._lock:
            sending = self._on_the_way[items]
        try:
            done: Done | None = ray.get(next(items))
            if done is None:
                sending.deadline = time.monotonic() + 2 * sending.job.timeout_s + SILENCE_S
                return
            reports = self._reports_of(done, sending)
        except Exception as error:  # noqa: BLE001 - a future carries whatever was raised
            self._taken(items).fail(_told(error))
        else:
            self._taken(items).end(reports)

    def _give_up(self, jobs: Collection[Any]) -> None:
        """Give up those of some jobs that should have said long ago what they came to."""
        for items in jobs:
            with self._lock:
                sending = self._on_the_way[items]
            if time.monotonic() < sending.deadline or ray.wait([items], timeout=0)[0]:
                continue
            with suppress(exceptions.RayError):
                ray.cancel(items, force=True)
            error = (
                f"its worker on the cluster says nothing, long after {sending.job.timeout_s:g} s"
            )
            self._taken(items).fail(JobLost(error))

    def _must_have_room(self) -> None:
        """Raise RunError where a job waits, and for long no node has lived that could take it."""
        now = time.monotonic()
        if now < self._looked_at + LOOK_S:
            return
        self._looked_at, living = now, living_nodes()
        with self._lock:
            waiting = [s.asked for s in self._on_the_way.values() if s.deadline == math.inf]
        if all(any(_has_room(n["Resources"], asked) for n in living) for asked in waiting):
            self._had_room_at = now
        elif now > self._had_room_at + SILENCE_S:
            lost = {node["name"] for node in self._nodes} - {name_of(node) for node in living}
            raise RunError(
                "no node of the Ray cluster is left for what is to run, for it lost"
                f" {', '.join(sorted(lost))}: start some, and the same command goes on"
            )

    def _reports_of(self, done: Done, sending: _Sending) -> list[Report]:
        """Write what a job came to, and return its reports."""
        if done.refused:
            raise RunError(done.refused)
        if done.failed:
            raise JobFailed(done.failed)
        self._keep(done, sending)
        return done.reports

    def _keep(self, done: Done, sending: _Sending) -> None:
        """Write a job's artifacts, and then its records. Raises JobLost where one is missing."""
        runs, trials = self._store.workspace.runs, {trial.key: trial for trial in sending.trials}
        kept = set()
        for place, content in sorted(done.files.items()):
            if place.startswith("artifacts/"):
                write_bytes(runs / place, content)
            else:
                record = parse_record(content, where=f"{place}, which a node sent")
                rerun = bool(sending.job.facts["rerun"])
                self._store.renew(trials[record.key], record, rerun=rerun)
                kept.add(record.key)
        for trial, report in zip(sending.trials, done.reports, strict=True):
            if report.status != BUSY and trial.key not in kept:
                raise JobLost(f"a node sent no record of {trial.name}")


@ray.remote(max_retries=0, num_returns="streaming")  # type: ignore[untyped-decorator]
def _do(job: Job, sent: list[Sent], folder: str) -> Iterator[Done | None]:
    """Say that the job has begun, by None, and then what it came to."""
    yield None
    yield do_job(job, sent, folder, ray.get)


def _has_room(resources: Mapping[str, Any], asked: Mapping[str, float]) -> bool:
    """Tell whether a node with some resources could take a job, if nothing else ran there."""
    names = {"num_cpus": "CPU", "num_gpus": "GPU", "memory": "memory"}
    return all(resources.get(names[option], 0.0) >= asked[option] for option in asked)


def _gone(error: Exception) -> RunError:
    return RunError(f"the Ray cluster is gone: {line_of(error)}")


def _told(error: Exception) -> Exception:
    """Return an error as `Executor.submit` says it."""
    if isinstance(error, LOST):
        return JobLost(f"its node or worker was lost ({type(error).__name__})")
    if isinstance(error, exceptions.LocalRayletDiedError):
        return _gone(error)
    if isinstance(error, (exceptions.ObjectStoreFullError, exceptions.OutOfDiskError)):
        return RunError(
            "the cluster's object store is full: free space where Ray keeps its files, or start the"
            " cluster with a larger --object-store-memory"
        )
    if isinstance(error, (JobFailed, RunError)):
        return error
    # One trial's data may be damaged; another package's error may not be one of ours.
    return JobFailed(
        line_of(error) if isinstance(error, HarnessError) else f"Ray: {line_of(error)}"
    )
