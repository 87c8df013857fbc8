"""Claims on bandwidths and all-gathers: where they hold, fail, or lack rows; times made by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import cache, partial
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.experiment import Experiment
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.paro.links import trial
from reproductions.paro.links.experiment import (
    ALGORITHMS,
    PILOT_BLOCKS,
    Gathers,
    Messages,
    bandwidths,
    cases_of,
    gather_pilots,
    gather_times,
)
from reproductions.paro.links.pilot_rings import task as pilot_rings
from reproductions.paro.links.ranks import GATHER, PROBE_MESSAGES
from reproductions.paro.links.tab10 import task as tab10
from reproductions.paro.links.testbed_all_gather import task as gathers_task
from reproductions.paro.method.rings import WORLD
from reproductions.paro.method.testbed.launch import Ran
from reproductions.paro.method.testbed.network import Kind
from reproductions.paro.method.traffic import traffic_of
from tests.reproductions.paro.tables import CTX, word
from tests.verdicts import judge

Sample = dict[str, Any]


def sample(seconds: float, **more: Any) -> Sample:
    return {"start": 1.0, "end": 1.0 + seconds, "wrong_bytes": 0, **more}


def said_of_messages(messages: Messages) -> list[list[list[Sample] | None]]:
    """Return what ranks say whose links have their rates."""
    cluster = messages.cluster()
    by_case = []
    for case in cases_of(messages):
        rate = cluster.intra_bytes_per_s
        if case.scope == "between":
            rate = cluster.inter_bytes_per_s
            rate /= cluster.sharing if case.rings == "all" else 1
        seconds = case.num_messages * case.message_bytes / rate
        by_case.append([sample(seconds)] * messages.num_samples)
    return [by_case] * cluster.num_gpus  # type: ignore[list-item]


def said_of_gathers(gathers: Gathers, *, holds: bool) -> list[list[dict[str, Any]]]:
    """Return what ranks say where formulas hold, or where PaRO-CC is slower and sends other bytes.

    Seeds drift together, blocks are the same.
    """
    cluster, block = gathers.cluster(), gathers.block_bytes
    total, drift = float(block * cluster.num_gpus), 1 + 0.01 * gathers.seed
    rates = (cluster.intra_bytes_per_s, cluster.inter_bytes_per_s)
    probes = [[sample(PROBE_MESSAGES * block / rate)] * 2 for rate in rates]
    ranks = []
    for rank in range(cluster.num_gpus):
        found: dict[str, Any] = {"probes": probes}
        for algorithm in ALGORITHMS:
            world, form = trial.MODELS[algorithm]
            seconds = drift * WORLD[form or "flat"](cluster, total)  # type: ignore[index]
            sent = traffic_of(GATHER, cluster, total, world).between * cluster.num_groups
            if not holds:
                # PaRO-CC takes longer than the ring, the more so the more groups there are.
                ring = 1.2 * drift * WORLD["flat"](cluster, total)
                worse = 0.8 + 0.4 * gathers.num_groups
                seconds = {"flat": ring, "two-layer": worse * ring}.get(algorithm, seconds)
            node = sent / (cluster.num_gpus // cluster.sharing)
            found[algorithm] = [
                sample(
                    seconds,
                    booked_bytes=(sent if rank == 0 else 0) + (0 if holds else 1),
                    counted_bytes=node * 1.01,
                )
            ] * gathers.num_samples
        if not holds:
            found["flat"][0] = {**found["flat"][0], "wrong_bytes": 1}
        ranks.append([found] * gathers.num_blocks)
    return ranks


def table_of(
    task: Task,
    experiment: Experiment,
    said: Callable[[Any], list[Any]],
    *,
    kind: Kind,
) -> pd.DataFrame:
    rows = []
    for point in experiment.params_of("cpu"):
        typed = experiment.typed(point)
        ran = Ran(said(typed), kind, "")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(trial, "run_ranks", lambda *given, ran=ran, **named: ran)
            found = experiment.code(typed, CTX)
        rows += [{**asdict(typed), **row, "status": "done"} for row in found]
    return build_table(task, {experiment.id: pd.DataFrame(rows)})


@cache
def messages_table(*, kind: Kind = "namespaces") -> pd.DataFrame:
    return table_of(tab10, bandwidths, said_of_messages, kind=kind)


@cache
def gathers_table(*, holds: bool = True, kind: Kind = "namespaces") -> pd.DataFrame:
    return table_of(gathers_task, gather_times, partial(said_of_gathers, holds=holds), kind=kind)


def test_a_message_that_arrives_as_another_is_seen() -> None:
    (claim,) = tab10.claims
    judge(tab10, claim, holds=messages_table(), fails=messages_table().assign(wrong_bytes=1))


@pytest.mark.parametrize("claim", gathers_task.claims, ids=lambda claim: claim.id)
def test_claim_on_gathers(claim: Claim) -> None:
    judge(gathers_task, claim, holds=gathers_table(), fails=gathers_table(holds=False))


TIMED = [claim.id for claim in gathers_task.claims if claim.scope.grade == "empirical"]


@pytest.mark.parametrize(
    ("column", "off"), [("between_gbit_per_s", 0.9), ("within_gbit_per_s", 0.3)]
)
def test_what_is_timed_counts_only_where_links_are_as_arithmetic_has_them(
    column: str, off: float
) -> None:
    table = gathers_table()
    late = table.assign(**{column: table[column] * off})
    words = {claim.id: word(claim, late, seed="seed") for claim in gathers_task.claims}
    assert [id for id, each in words.items() if each is Word.UNTESTED] == TIMED


def test_a_pilot_says_what_its_first_blocks_say_together() -> None:
    table = table_of(
        pilot_rings, gather_pilots, partial(said_of_gathers, holds=True), kind="namespaces"
    )
    assert set(table["first_blocks"]) == {*range(1, PILOT_BLOCKS + 1)}
    assert table["known_over_arithmetic"].to_list() == pytest.approx([1.0] * len(table))
    assert (table[table["algorithm"] == "two-layer"]["over_one_ring"] < 1).all()


def test_blocks_of_a_trial_are_one_sample() -> None:
    gathers = replace(next(iter(gather_times.grid("smoke"))), num_blocks=3)
    ((first, *_), *_) = said_of_gathers(gathers, holds=True)  # type: ignore[arg-type]
    slow = {**first, "flat": [sample(9.0, booked_bytes=0, counted_bytes=0)]}
    joined = trial._joined([first, slow, slow])
    assert [one["end"] for one in joined["flat"][1:]] == [10.0, 10.0]
    assert len(joined["probes"][0]) == 3 * len(first["probes"][0])


def test_what_a_token_bucket_does_not_slow_has_no_time() -> None:
    messages = messages_table(kind="token bucket")
    timed = messages[messages["median_ms"].notna()]
    assert set(timed["scope"]) == {"between"} and set(timed["via"]) == {"ring"}
    gathers = gathers_table(kind="token bucket")
    assert set(gathers[gathers["median_ms"].isna()]["algorithm"]) == {"gloo"}
    assert gathers["counted_bytes"].isna().all()
    words = {claim.id: word(claim, gathers, seed="seed") for claim in gathers_task.claims}
    untested = [id for id, each in words.items() if each is Word.UNTESTED]
    assert untested == ["ring_no_slower_than_gloo"]
