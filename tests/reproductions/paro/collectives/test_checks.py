"""Checks on blocks, collectives, terms and steps: they hold, fail, and see what is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from harness.declare.verdict import Word
from reproductions.paro.collectives import simulation, tab02, tab03, tab04, tab05, tab06, tab07
from reproductions.paro.collectives.experiment import COUNTED_AT_SMOKE, steps
from tests.patches import Patch, around, patched
from tests.reproductions.paro.tables import Spoil, put, rows_of, table_of, word
from tests.verdicts import judge

TASKS = tuple(each.task for each in (tab02, tab03, tab04, tab05, tab06, tab07, simulation))
CLAIMS = [pytest.param(t, c, id=f"{t.id}:{c.id}") for t in TASKS for c in t.claims]


FIRST = {"num_gpus": 4, "numbering": "strided"}
SPOILT: dict[str, tuple[Spoil, ...]] = {
    "blocks_fit": (
        put("block_ids", "1", **FIRST, granularity="G"),
        put("block_ids", "0 1", **FIRST, granularity="I"),
    ),
    "sums_are_right": (put("wrong_blocks", 1),),
    "paro_cc_for_all_gpus": (put("paro_cc", "yes", among="inter"),),
    "as_in_symbols": (put("value_s", 1.0, world="hier"),),
    "step_is_right": (put("wrong_blocks", 1, strategy="GGI"),),
    "collectives_send_least": (put("other_collectives", 1, strategy="IIG"),),
    "sends_bytes_by_formula": tuple(
        put(f"{where}_difference", 1.0, strategy="NIG") for where in ("inter", "intra", "link")
    ),
    "rounds": (put("round_difference", 1, strategy="NIG"),),
    "holds_bytes_by_formula": (put("held_difference", 1.0, strategy="NIG"),),
}


@cache
def whole(task: Task) -> pd.DataFrame:
    return table_of(task, {steps.id: [*COUNTED_AT_SMOKE]})  # type: ignore[dict-item]


@pytest.mark.parametrize(("task", "claim"), CLAIMS)
def test_check_holds_fails_and_needs_its_rows(task: Task, claim: Claim) -> None:
    for spoil in SPOILT[claim.id]:
        judge(task, claim, holds=whole(task), fails=spoil(whole(task)))


METHOD = "reproductions.paro.method"
BYTES = {"sends_bytes_by_formula"}


def synced(pair: tuple[str, str], *told: tuple[str, str]) -> Callable[[Any], Any]:
    """Return a change of the schedule's table of gradients."""
    return lambda table: {**table, pair: told}


def losing(run: Any) -> Any:
    """Return what runs a collective after the last GPU's blocks have become 0."""

    def lose(move: Any, held: Any, traffic: Any) -> None:
        if move.operation != "all_gather":
            held.values_NBE[-1] = 0
        run(move, held, traffic)

    return lose


BROKEN: dict[str, tuple[Patch, set[str]]] = {
    "the schedule sums on all GPUs where two layers would do": (
        Patch(
            where=f"{METHOD}.schedule:SYNC_GRADS",
            instead=synced(("N", "I"), ("all_reduce", "world")),
        ),
        {*BYTES, "rounds", "collectives_send_least"},
    ),
    "gradients are forgotten in memory": (
        Patch(
            where="reproductions.paro.collectives.trial:memory_of",
            instead=around(lambda memory, *given: replace(memory(*given), grads=0.0)),
        ),
        {"holds_bytes_by_formula"},
    ),
    "a ring loses its last GPU's part": (
        Patch(
            where="reproductions.paro.collectives.simulated_step:run",
            instead=losing,
        ),
        {"step_is_right"},
    ),
}


@pytest.mark.parametrize(("patch", "fails"), BROKEN.values(), ids=BROKEN)
def test_what_is_broken_is_seen(patch: Patch, fails: set[str]) -> None:
    """On one cluster of odd numbers with frozen parameters: those checks fail, and no other."""
    point = next(each for each in COUNTED_AT_SMOKE if each.num_gpus == 15)
    with patched(patch):
        rows = rows_of(steps, [point])
    failed = {c.id for c in simulation.task.claims if word(c, rows) is Word.FAILS}
    assert failed == fails
