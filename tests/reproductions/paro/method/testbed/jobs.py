"""What ranks do in tests of the testbed, and crews without torch, which start at once."""

from __future__ import annotations

import ctypes
import os
import signal
import time
from dataclasses import asdict
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from harness.measure.fresh_process import call_fresh
from reproductions.paro.method.cluster import Cluster, Nic
from reproductions.paro.method.testbed.launch import Crew
from reproductions.paro.method.testbed.network import lay, sent_bytes

NOBODY = 65534
PR_SET_DUMPABLE = 4


def cluster_of(nic: Nic = "shared", *, mbit: float = 200.0, groups: int = 2) -> Cluster:
    return Cluster(
        num_gpus=2 * groups, group_size=2, nic=nic, inter_gbit_per_s=mbit / 1e3,
        intra_gbit_per_s=100.0,
    )  # fmt: skip


def crew(how: str, cluster: Cluster, *, deadline_s: float = 60.0, **more: Any) -> Any:
    """Return what ranks without torch say, and what failed; how: one of `JOBS`."""
    given = {"how": how, "cluster": asdict(cluster), "deadline_s": deadline_s, **more}
    return call_fresh(_crew, given, timeout_s=120.0)


def _crew(
    *, how: str, cluster: dict[str, Any], deadline_s: float, as_nobody: bool = False
) -> dict[str, Any]:
    if as_nobody:
        _become_nobody()
    network = lay(Cluster(**cluster))
    mine = Crew(network)
    mine.start(JOBS[how])
    failed = mine.wait(deadline_s)
    said = [mine.said(rank).get("result") for rank in range(len(mine.pids))]
    return {"failed": failed, "said": said, "kind": network.kind, "why": network.why}


def _become_nobody() -> None:
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    # As of a process that nobody started; else its files in /proc stay root's.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1)


def rank() -> int:
    return int(os.environ["RANK"])


def look() -> dict[str, Any]:
    """Return who this rank is, and what it sees of its network."""
    names = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK")
    lines = Path("/proc/self/net/dev").read_text().splitlines()
    seen = {line.split(":")[0].strip() for line in lines if ":" in line}
    return {
        **{name: int(os.environ[name]) for name in names},
        "interfaces": sorted(seen),
        "network": Path("/proc/self/ns/net").stat().st_ino,
        "uid": os.getuid(),
    }


def be_killed() -> None:
    """End rank 1 by a signal; the others go on."""
    if rank() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    time.sleep(600)


def raise_error() -> None:
    if rank() == 2:
        raise ValueError("a rank's own words")
    time.sleep(600)


def hang() -> None:
    if rank() != 0:
        time.sleep(600)


JOBS = {"look": look, "be_killed": be_killed, "raise_error": raise_error, "hang": hang}


def hold(told: Connection) -> None:
    """Tell the ids of ranks and of their networks, and wait to be killed."""
    mine = Crew(lay(cluster_of()))
    mine.start(lambda: time.sleep(600))
    time.sleep(0.5)
    networks = {Path(f"/proc/{pid}/ns/net").stat().st_ino for pid in [os.getpid(), *mine.pids]}
    told.send((set(mine.pids), networks))
    mine.wait(600)


def exchanges(num_bytes: int) -> dict[str, Any]:
    """Exchange messages over the engine's wire, within groups and between.

    Returns for both how fast a rank sent them (Mbit/s), and what its node sent to others.
    """
    import torch
    import torch.distributed as dist

    from reproductions.paro.method.engine.groups import Groups, mesh_of_groups
    from reproductions.paro.method.engine.wire import Purpose, Wire
    from reproductions.paro.method.schedule import Collective

    groups = Groups(mesh_of_groups(int(os.environ["LOCAL_WORLD_SIZE"])))
    wire = Wire(groups)
    wire.purpose = Purpose("test", Collective(kind="all_gather", scope="world"))
    out = torch.full((num_bytes,), groups.rank, dtype=torch.uint8)
    into = torch.empty_like(out)
    found: dict[str, Any] = {}
    for scope in ("intra", "inter"):
        peers = groups.peers(scope)
        dist.barrier()
        before = sent_bytes()
        # Nobody sends until all ranks of a node have read its count.
        dist.barrier()
        start = time.monotonic()
        for _ in range(4):
            wire.exchange(out, into, peers)()
        mbit = 4 * 8 * num_bytes / (time.monotonic() - start) / 1e6
        dist.barrier()
        after = sent_bytes()
        found[scope] = {
            "arrived": bool((into == peers.after(-1)).all()),
            "mbit_per_s": mbit,
            "sent": None if before is None or after is None else (after - before) / num_bytes,
        }
    return found
