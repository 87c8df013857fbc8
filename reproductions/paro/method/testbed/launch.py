"""Ranks on a testbed: forked from one process, each in its place, all gone when it is."""

from __future__ import annotations

import gc
import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NoReturn

from harness.errors import RunError, UsageError
from harness.lifetime import die_with
from harness.measure.fresh_process import call_fresh, function_at
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.engine.pace import VARIABLE, Link
from reproductions.paro.method.testbed.network import BETWEEN, Kind, Network, address_of, lay

PORT = 29500
"""Where ranks meet; in a namespace nobody else has it."""
GRACE_S = 0.5
"""For what other ranks say when one has failed."""
START_S = 120.0
"""What starting and ending may take beside the deadline, on a busy machine."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What ranks returned, and on which testbed."""

    results: list[Any]
    """By rank."""
    kind: Kind
    why: str
    """Why it has no namespaces, where it has none."""


def run_ranks(
    function: Callable[..., Any],
    params: Mapping[str, Any],
    cluster: Cluster,
    *,
    deadline_s: float,
    namespaces: bool = True,
) -> Ran:
    """Call `function(**params)` on every rank of a testbed, within torch.distributed by gloo.

    function: of a module; parameters and results are JSON values. cluster: bandwidths are those of
    the links. namespaces: False: links are paced by the engine's own rings, as where there are no
    namespaces. Raises RunError where a rank fails, with what it said, or misses the deadline.
    """
    given = {
        "where": f"{function.__module__}:{function.__qualname__}",
        "params": dict(params),
        "cluster": asdict(cluster),
        "deadline_s": deadline_s,
        "namespaces": namespaces,
    }
    found = call_fresh(launch, given, timeout_s=deadline_s + START_S)
    if found["failed"]:
        raise RunError(found["failed"])
    return Ran(found["results"], found["kind"], found["why"])


def run_script(words: Sequence[str], cluster: Cluster, *, deadline_s: float) -> None:
    """Run a script with its arguments on every rank, and wait for all.

    To be called in a process of its own with one thread. words: as Python takes them, `-m module`
    too. Raises UsageError for a script that is not there, RunError where a rank fails.
    """
    if words[0] != "-m" and not Path(words[0]).is_file():
        raise UsageError(f"script {words[0]}: no such file: name one, after `--`")
    network = lay(cluster)
    if network.why:
        sys.stderr.write(
            "testbed: messages of PaRO's own rings alone are slowed, by a token bucket:"
            f" {network.why}\n"
        )
    crew = Crew(network)
    crew.start(lambda: os.execv(sys.executable, [sys.executable, *words]))
    if failed := crew.wait(deadline_s):
        raise RunError(f"{' '.join(words[: 1 + (words[0] == '-m')])}: {failed}")


def launch(
    *,
    where: str,
    params: dict[str, Any],
    cluster: dict[str, Any],
    deadline_s: float,
    namespaces: bool,
) -> dict[str, Any]:
    """Start ranks and wait for them; to be called in a fresh process. See `run_ranks`."""
    network = lay(Cluster(**cluster), namespaces=namespaces)
    # After that: it may start threads, with which no namespace of a user's can be made.
    import torch

    torch.set_num_threads(1)
    function = function_at(where)
    gc.collect()
    gc.freeze()
    crew = Crew(network)
    crew.start(lambda: _in_group(function, params))
    failed = crew.wait(deadline_s)
    told = "" if failed is None else f"{where}: {failed}"
    results = [] if failed else [crew.said(rank)["result"] for rank in range(len(crew.pids))]
    return {"results": results, "failed": told, "kind": network.kind, "why": network.why}


def _in_group(function: Callable[..., Any], params: dict[str, Any]) -> Any:
    import torch.distributed as dist

    dist.init_process_group("gloo")
    result = function(**params)
    # Who ends first would take its connections from the others.
    dist.barrier()
    dist.destroy_process_group()
    return result


class Crew:
    """The ranks of a network, as children of this process, which has one thread."""

    def __init__(self, network: Network) -> None:
        self.network = network
        cluster = network.cluster
        self.pids: list[int] = []
        # In memory: nothing is left behind, however this ends.
        self._told = [os.memfd_create(f"rank{rank}") for rank in range(cluster.num_gpus)]
        num_links = cluster.num_gpus // cluster.sharing
        self._links = [os.memfd_create(f"link{number}") for number in range(num_links)]
        self._port = PORT if network.nodes else _free_port()

    def start(self, job: Callable[[], Any]) -> None:
        """Fork all ranks; job: what each does, in its node and with torchrun's environment."""
        here = os.getpid()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for rank in range(self.network.cluster.num_gpus):
            pid = os.fork()
            if not pid:
                self._be(rank, here, job)
            self.pids.append(pid)

    def _be(self, rank: int, parent_pid: int, job: Callable[[], Any]) -> NoReturn:
        code = 1
        try:
            die_with(parent_pid)
            self.network.enter(rank)
            os.environ.update(self.environment(rank))
            self._tell(rank, {"result": job()})
            code = 0
        except BaseException:  # noqa: BLE001 - told below, whatever it is
            self._tell(rank, {"at": time.monotonic(), "traceback": traceback.format_exc()})
        finally:
            os._exit(code)

    def _tell(self, rank: int, told: dict[str, Any]) -> None:
        os.pwrite(self._told[rank], json.dumps(told).encode(), 0)

    def said(self, rank: int) -> dict[str, Any]:
        """Return what a rank that has ended has said; nothing where it was killed."""
        file = self._told[rank]
        text = os.pread(file, os.fstat(file).st_size, 0)
        return dict(json.loads(text)) if text else {}

    def environment(self, rank: int) -> dict[str, str]:
        """Return what torchrun sets, and which interface gloo takes."""
        network, m = self.network, self.network.cluster.group_size
        found = {
            "RANK": rank,
            "WORLD_SIZE": network.cluster.num_gpus,
            "LOCAL_RANK": rank % m,
            "LOCAL_WORLD_SIZE": m,
            "GROUP_RANK": rank // m,
            "MASTER_ADDR": address_of(0) if network.nodes else "127.0.0.1",
            "MASTER_PORT": self._port,
            "GLOO_SOCKET_IFNAME": BETWEEN if network.nodes else "lo",
            "OMP_NUM_THREADS": 1,
            # Nodes have no names, of which torch would warn once per connection.
            "TORCH_CPP_LOG_LEVEL": os.environ.get("TORCH_CPP_LOG_LEVEL", "ERROR"),
        }
        if not network.nodes:
            path = f"/proc/{os.getppid()}/fd/{self._links[network.node_of(rank)]}"
            found[VARIABLE] = Link(path, network.cluster.inter_bytes_per_s).told()
        return {name: str(value) for name, value in found.items()}

    def wait(self, deadline_s: float) -> str | None:
        """Wait for all ranks; where one fails or is late end the others, and return what it was."""
        end = time.monotonic() + deadline_s
        codes: dict[int, int] = {}
        while len(codes) < len(self.pids) and time.monotonic() < end:
            self._reap(codes)
            if any(codes.values()):
                end = min(end, time.monotonic() + GRACE_S)
            time.sleep(0.005)
        late = [rank for rank in range(len(self.pids)) if rank not in codes]
        for rank in late:
            os.kill(self.pids[rank], signal.SIGKILL)
            os.waitpid(self.pids[rank], 0)
        if any(codes.values()):
            return self._blame({rank: code for rank, code in codes.items() if code})
        if late:
            ranks = ", ".join(map(str, late))
            return (
                f"not done on rank {ranks} within {deadline_s:g} s: give it more time or less work"
            )
        return None

    def _reap(self, codes: dict[int, int]) -> None:
        """Add how ranks ended that have."""
        for rank, pid in enumerate(self.pids):
            if rank not in codes:
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    codes[rank] = os.waitstatus_to_exitcode(status)

    def _blame(self, failed: dict[int, int]) -> str:
        """Return what the rank said, or how it was killed, that failed first."""
        killed = [rank for rank, code in failed.items() if code < 0]
        said = {rank: self.said(rank) for rank in failed}
        first = min(killed or failed, key=lambda rank: said[rank].get("at", 0.0))
        who = f"rank {first} of {len(self.pids)}"
        if killed:
            return (
                f"{who} was killed by {signal.Signals(-failed[first]).name}: the others were ended"
            )
        if trace := said[first].get("traceback"):
            return f"{who} failed, the others were ended: mend what it says\n{trace}"
        return (
            f"{who} ended with exit code {failed[first]}, the others were ended: see what it says"
        )


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
