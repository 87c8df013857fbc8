"""Ranks on a testbed: how fast their links are, what goes over them, and how they end."""

from __future__ import annotations

import pytest

from reproductions.paro.method.cluster import Nic
from reproductions.paro.method.testbed.launch import run_ranks
from tests.reproductions.paro.method.testbed.jobs import (
    cluster_of,
    crew,
    exchanges,
)

HEADERS = 1.08
"""What a network may add to what is sent."""
MBIT = 200.0


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("be_killed", "rank 1 of 4 was killed by SIGKILL: the others were ended"),
        ("raise_error", "rank 2 of 4 failed, the others were ended: mend what it says"),
    ],
)
def test_a_rank_that_ends_takes_the_others_with_it(how: str, told: str) -> None:
    """The others sleep for longer than anybody waits here."""
    found = crew(how, cluster_of())
    assert found["failed"].startswith(told)
    assert ("ValueError: a rank's own words" in found["failed"]) == (how == "raise_error")


def test_a_deadline_is_kept() -> None:
    assert crew("hang", cluster_of(), deadline_s=1.0)["failed"] == (
        "not done on rank 1, 2, 3 within 1 s: give it more time or less work"
    )


@pytest.mark.timing
@pytest.mark.parametrize(
    ("nic", "namespaces"), [("shared", True), ("rail", True), ("shared", False)]
)
def test_links_have_the_rate_that_was_asked(nic: Nic, namespaces: bool) -> None:
    cluster = cluster_of(nic, mbit=MBIT)
    ran = run_ranks(
        exchanges, {"num_bytes": 2**22}, cluster, deadline_s=100.0, namespaces=namespaces
    )
    if namespaces and ran.kind != "namespaces":
        pytest.skip(f"no namespaces here: {ran.why}")
    assert ran.kind == ("namespaces" if namespaces else "token bucket")
    between = [each["inter"]["mbit_per_s"] for each in ran.results]
    # Two ranks of a group send at once, through one link or each through its own. Who shares one a
    # message at a time may be done a message before the other.
    share = MBIT / cluster.sharing
    assert min(between) == pytest.approx(share, rel=0.1)
    assert max(between) < (1.1 if namespaces else 1.2) * share
    assert all(each[scope]["arrived"] for each in ran.results for scope in ("intra", "inter"))
    for each in ran.results:
        if not namespaces:
            assert each["inter"]["sent"] is None
        elif nic == "shared":
            # Both ranks of a node send between groups, and both within theirs.
            assert each["intra"]["sent"] < 0.08
            assert 8 <= each["inter"]["sent"] <= HEADERS * 8
