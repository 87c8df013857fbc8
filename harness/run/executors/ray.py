"""Runs jobs on a cluster by Ray Core; this process, the driver, alone writes records.

Ray places jobs by what their trials need, and copies to each node once what runs there. It tries
nothing again by itself: a job that is lost with its node comes back as JobLost.
"""

from __future__ import annotations

import hashlib
import os
import socket
import tempfile
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import ray
from ray import exceptions
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from harness.atomic import write_bytes
from harness.data.load import find
from harness.data.pack import pack
from harness.declare.experiment import Needs
from harness.errors import RunError
from harness.measure.machine import package_versions
from harness.outgoing import tidy
from harness.run.executors.job import Job, JobFailed, JobLost, Report
from harness.run.executors.ray_node import DATA, Done, Sent, do_job, node_facts
from harness.run.executors.worker import BUSY, trials_of
from harness.run.plan import MachineLimits
from harness.store.record import parse_record
from harness.store.store import RecordStore
from harness.store.trial import Trial, with_upstream

ANSWER_S = 60.0
"""How long a node may take to say what it is."""
CONNECT_S = 5.0
POLL_S = 0.2
LEFT_OUT = ("**/__pycache__", "**/*.pyc")
LOST = (
    exceptions.WorkerCrashedError,
    exceptions.NodeDiedError,
    exceptions.ObjectLostError,
    exceptions.OutOfMemoryError,
)
"""What Ray says of a task whose process or node is gone; a trial has a process of its own there."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Sending:
    """A job on its way."""

    job: Job
    trials: Sequence[Trial]
    locks: ExitStack
    future: Future[list[Report]]


class RayExecutor:
    """Carries out jobs on a cluster of Ray."""

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
        self._contents: dict[str, Any] = {}
        self._data: dict[str, list[Sent]] = {}
        self._closed = False
        with tempfile.TemporaryDirectory() as folder:
            for name in {"harness", *packages}:
                (Path(folder) / name).symlink_to(_folder_of(name))
            env = {}
            if catalogue := os.environ.get("REPRO_CATALOGUE"):
                # A node's worker stands in its copy of the folder.
                env["REPRO_CATALOGUE"] = "catalogue.toml"
                (Path(folder) / env["REPRO_CATALOGUE"]).symlink_to(Path(catalogue).resolve())
            sent = {"working_dir": folder, "excludes": list(LEFT_OUT), "env_vars": env}
            _connect(address, num_cpus, sent)
        try:
            self.limits, self._most_cpus = _limits_of(_nodes())
        except BaseException:
            ray.shutdown()
            raise
        self.num_workers = int(ray.cluster_resources().get("CPU", 1))
        self._thread = Thread(target=self._collect, daemon=True)
        self._thread.start()

    def submit(self, job: Job) -> Future[list[Report]]:
        future: Future[list[Report]] = Future()
        trials, locks = trials_of(job), ExitStack()
        if not all([locks.enter_context(self._store.lock(trial)) for trial in trials]):
            locks.close()
            future.set_result([Report(status=BUSY, wall_s=0.0) for _ in trials])
            return future
        try:
            sent = list(self._sent_with(trials))
            asked = _resources(trials[0].needs, self.limits, self._most_cpus)
            ref = _do.options(**asked).remote(job, sent)
        except exceptions.ObjectStoreFullError as error:
            locks.close()
            raise RunError(
                "the cluster's object store is full: free space where Ray keeps its files, or start"
                " the cluster with a larger --object-store-memory"
            ) from error
        with self._lock:
            self._on_the_way[ref] = _Sending(job=job, trials=trials, locks=locks, future=future)
        return future

    def cancel_all(self) -> None:
        with self._lock:
            refs = list(self._on_the_way)
        for ref in refs:
            with suppress(exceptions.RayError):
                ray.cancel(ref, force=True)
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

    def _sent_with(self, trials: Sequence[Trial]) -> Iterator[Sent]:
        """Yield what trials start from: results upstream, their own of other code, and data."""
        chain = {each.key: each for trial in trials for each in with_upstream(trial)}
        for trial in chain.values():
            if (record := self._store.result(trial)) is None:
                continue
            paths = [self._store.path(trial)]
            paths += [self._store.artifact_folder(trial) / e.name for e in record.artifacts]
            for path in paths:
                if path.is_file():
                    place = path.relative_to(self._store.workspace.root)
                    yield self._put(str(place), path.read_bytes())
        for name in dict.fromkeys(name for trial in trials for name in trial.needs.data):
            yield from self._data[name] if name in self._data else self._put_data(name)

    def _put(self, place: str, content: bytes) -> Sent:
        """Hand a file to Ray, once for all jobs."""
        sha256 = hashlib.sha256(content).hexdigest()
        if sha256 not in self._contents:
            self._contents[sha256] = ray.put(content)
        return Sent(place=place, sha256=sha256, content=self._contents[sha256])

    def _put_data(self, name: str) -> list[Sent]:
        self._data[name] = []
        if not find(name).bundled:
            with tempfile.TemporaryDirectory() as folder:
                pack([name], Path(folder))
                for path in (each for each in Path(folder).rglob("*") if each.is_file()):
                    place = f"{DATA}/{path.relative_to(folder)}"
                    self._data[name].append(self._put(place, path.read_bytes()))
        return self._data[name]

    def _collect(self) -> None:
        """Take what jobs came to, one after the other, as long as there may be more."""
        while not self._closed:
            with self._lock:
                refs = list(self._on_the_way)
            if not refs:
                time.sleep(POLL_S / 10)
                continue
            done, _ = ray.wait(refs, timeout=POLL_S)
            for ref in done:
                with self._lock:
                    sending = self._on_the_way.pop(ref)
                self._finish(ref, sending)

    def _finish(self, ref: Any, sending: _Sending) -> None:
        try:
            reports = self._reports_of(ref, sending)
        except Exception as error:  # noqa: BLE001 - a future carries whatever was raised
            sending.locks.close()
            sending.future.set_exception(error)
        else:
            sending.locks.close()
            sending.future.set_result(reports)

    def _reports_of(self, ref: Any, sending: _Sending) -> list[Report]:
        """Write what a job came to, and return its reports. Raises as `Executor.submit` says."""
        try:
            done: Done = ray.get(ref)
        except LOST as error:
            raise JobLost(f"its node or worker was lost ({type(error).__name__})") from error
        except exceptions.RayError as error:
            raise JobFailed(tidy(f"Ray: {str(error).strip().splitlines()[-1]}")) from error
        if done.refused:
            raise RunError(done.refused)
        if done.failed:
            raise JobFailed(done.failed)
        self._keep(done, sending)
        return done.reports

    def _keep(self, done: Done, sending: _Sending) -> None:
        """Write a job's artifacts, and then its records."""
        runs, trials = self._store.workspace.runs, {trial.key: trial for trial in sending.trials}
        for place, content in sorted(done.files.items()):
            if place.startswith("artifacts/"):
                write_bytes(runs / place, content)
            else:
                record = parse_record(content.decode(), where=f"{place}, which a node sent")
                rerun = bool(sending.job.facts["rerun"])
                self._store.renew(trials[record.key], record, rerun=rerun)


@ray.remote(max_retries=0)  # type: ignore[untyped-decorator]
def _do(job: Job, sent: list[Sent]) -> Done:
    return do_job(job, sent, ray.get)


def _folder_of(package: str) -> Path:
    spec = find_spec(package)
    assert spec is not None and spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0])


def _connect(address: str, num_cpus: int, runtime_env: Mapping[str, Any]) -> None:
    """Make this process a driver; runtime_env: as Ray has it, what goes to every node."""
    if address:
        _must_answer(address)
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    own = {"address": address} if address else {"num_cpus": num_cpus, "include_dashboard": False}
    try:
        ray.init(
            **own, runtime_env=runtime_env, log_to_driver=False, logging_level="ERROR"
        )  # fmt: skip
    # What it raises for another version, a wrong token or no answer is of many kinds.
    except Exception as error:
        raise RunError(
            f"no use of the Ray cluster {address or 'here'}: {tidy(str(error))}"
        ) from error


def _must_answer(address: str) -> None:
    """Raise RunError unless something listens there: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    try:
        socket.create_connection((host, int(port)), CONNECT_S).close()
    except (OSError, ValueError) as error:
        raise RunError(
            f"no Ray cluster answers at {address} ({error}): start one by `ray start --head`, or"
            " correct --address HOST:PORT"
        ) from error


def _nodes() -> list[dict[str, Any]]:
    """Return what each node that has cores and answers is, with its resources.

    Raises RunError where there is none, or one has another torch than this machine.
    """
    alive = [node for node in ray.nodes() if node["Alive"] and node["Resources"].get("CPU")]
    ask = ray.remote(max_retries=0, num_cpus=0)(node_facts)
    refs = [
        ask.options(
            scheduling_strategy=NodeAffinitySchedulingStrategy(node["NodeID"], soft=False)
        ).remote()
        for node in alive
    ]
    ray.wait(refs, num_returns=len(refs), timeout=ANSWER_S)
    found, why = [], "it has no cores"
    for node, ref in zip(alive, refs, strict=True):
        try:
            found.append(node["Resources"] | ray.get(ref, timeout=0))
        # A node that has just died is called alive for some seconds.
        except (exceptions.RayError, exceptions.GetTimeoutError) as error:
            why = tidy(str(error))
    if not found:
        raise RunError(f"no node of the cluster can be used: {why}")
    ours = package_versions().get("torch", "")
    for node in found:
        # Builds for a GPU and for none are of one version.
        if node["torch"].partition("+")[0] != ours.partition("+")[0]:
            raise RunError(
                f"a node of the cluster has torch {node['torch'] or 'not at all'}, this machine"
                f" {ours}: install the same version there"
            )
    return found


def _limits_of(nodes: Sequence[Mapping[str, Any]]) -> tuple[MachineLimits, float]:
    """Return the most that one node can offer a trial, and the cores of the largest node."""
    most_cpus = max(node["CPU"] for node in nodes)
    limits = MachineLimits(
        memory_bytes=int(max(node.get("memory", 0.0) for node in nodes)),
        has_cuda=any(node.get("GPU") for node in nodes),
        gpu_bytes=max(node["gpu_bytes"] for node in nodes),
        num_gpus=int(sum(node.get("GPU", 0) for node in nodes)),
    )
    return limits, most_cpus


def _resources(needs: Needs, limits: MachineLimits, most_cpus: float) -> dict[str, Any]:
    """Return what a job reserves: a timed one a whole node, others a core and their memory."""
    if needs.device == "cpu":
        cards = 0.0
    elif needs.exclusive:
        cards = 1.0
    else:
        cards = min(1.0, round(needs.gpu_bytes / limits.gpu_bytes + 0.005, 2))
    return {
        "num_cpus": most_cpus if needs.exclusive else 1,
        "num_gpus": cards,
        "memory": needs.memory_bytes,
    }
