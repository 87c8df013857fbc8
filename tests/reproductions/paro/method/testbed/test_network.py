"""Links of chosen speed in namespaces that nobody else sees, and that leave nothing."""

from __future__ import annotations

import os
import subprocess
from multiprocessing import get_context
from pathlib import Path

import pytest

from reproductions.paro.method.cluster import Nic
from reproductions.paro.method.testbed.network import lay
from tests.reproductions.paro.method.testbed.jobs import cluster_of, crew, hold
from tests.waiting import wait_for

FORK = get_context("fork")
"""A child has one thread, as what enters namespaces must."""


def need(found: dict[str, str]) -> None:
    """Skip a test where there are no namespaces."""
    if found["kind"] != "namespaces":
        pytest.skip(f"no namespaces here: {found['why']}")


def seen_from_here() -> str:
    """Return interfaces and addresses as this process sees them."""
    words = (["ip", "-o", "link"], ["ip", "-o", "addr"], ["ip", "route"], ["ip", "netns"])
    return "".join(subprocess.run(w, capture_output=True, text=True).stdout for w in words)


def networks_in_use() -> set[int]:
    found = set()
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            found.add((folder / "ns" / "net").stat().st_ino)
        except OSError:
            continue
    return found


@pytest.mark.parametrize("nic", ["shared", "rail"])
def test_ranks_are_in_their_nodes(nic: Nic) -> None:
    found = crew("look", cluster_of(nic, groups=3))
    need(found)
    said = found["said"]
    assert [each["RANK"] for each in said] == list(range(6))
    assert [each["GROUP_RANK"] for each in said] == [0, 0, 1, 1, 2, 2]
    assert [each["LOCAL_RANK"] for each in said] == [0, 1] * 3
    assert {(each["WORLD_SIZE"], each["LOCAL_WORLD_SIZE"]) for each in said} == {(6, 2)}
    assert len({each["network"] for each in said}) == (3 if nic == "shared" else 6)
    wanted = ["between", "lo"] if nic == "shared" else ["between", "lo", "within"]
    assert all(each["interfaces"] == wanted for each in said)
    assert Path("/proc/self/ns/net").stat().st_ino not in {each["network"] for each in said}


def test_nothing_is_seen_from_outside_or_left_by_a_killed_one() -> None:
    need(crew("look", cluster_of()))
    before = seen_from_here()
    assert "lo" in before
    ours, theirs = FORK.Pipe(duplex=False)
    holding = FORK.Process(target=hold, args=(theirs,))
    holding.start()
    pids, networks = ours.recv()
    assert seen_from_here() == before
    assert len(pids) == 4 and networks <= networks_in_use()
    holding.kill()
    holding.join()
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in pids))
    wait_for(lambda: not networks & networks_in_use())
    assert seen_from_here() == before


def test_nobody_needs_to_be_root() -> None:
    if os.geteuid():
        pytest.skip("these tests run as somebody else already")
    found = crew("look", cluster_of("rail"), as_nobody=True)
    need(found)
    assert {each["uid"] for each in found["said"]} == {0}, "root of their own namespace alone"
    assert len({each["network"] for each in found["said"]}) == 4


def test_where_links_cannot_be_laid_it_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    found = lay(cluster_of())
    assert found.kind == "token bucket" and not found.nodes
    assert found.why == "no program `ip` in PATH: install iproute2"
