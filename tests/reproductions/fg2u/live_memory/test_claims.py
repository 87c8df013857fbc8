"""Claims on live memory: where they hold, fail, or lack rows; and what trials count."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd
import pytest
import torch

from harness.declare.claims import Claim
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from harness.store.table_csv import build_table
from reproductions.fg2u.live_memory import quantities as q
from reproductions.fg2u.live_memory.abl_memory import task
from reproductions.fg2u.live_memory.experiment import Counted, Setting, counted_of, settings
from reproductions.fg2u.live_memory.trial import estimator_of, peak_bytes
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.models.images import Judge, training_images
from reproductions.fg2u.models.mlp import Mlp
from tests.reproductions.fg2u.trials import Case
from tests.verdicts import controlled

UNIT = 100_000
PHI = 1_000


def peak_of(one: Counted, setting: Setting, case: Case) -> int:
    """Plain numbers. Fails: (FG)2U grows with depth, N and the chunk's square, RGU not at all."""
    images = setting.num_images // setting.inner_batch
    units = {"plain": 1.0, "rgu": float(setting.depth), "rgu-mixflow": 4.0}.get(one.method, 3.0)
    if one.method == "fg2u" and case == "holds":
        return 2 * UNIT * one.chunk + (one.chunk + 1) * PHI * images
    if one.method == "fg2u":
        return setting.depth * UNIT * one.chunk**5 + 2 * (one.chunk + 1) * PHI * images
    if case == "fails":
        units = 0.9
    return round(units * UNIT)


def table_of(case: Case, profile: Profile = "cpu") -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for point in settings.params_of(profile):
        setting = Setting.from_json(point)
        sizes = {"num_meta": 64 * setting.num_images, "num_inner": 10}
        phi_bytes = PHI * setting.num_images // setting.inner_batch
        rows += [
            {**point, **asdict(one), **sizes, "phi_bytes": phi_bytes, "status": "done",
             "peak_bytes": peak_of(one, setting, case)}
            for one in counted_of(setting)
        ]  # fmt: skip
    return build_table(task, {settings.id: pd.DataFrame(rows)})


def decide(claim: Claim, table: pd.DataFrame, profile: Profile = "cpu") -> Any:
    return controlled(claim, table, seed=task.table.seed, profile=profile)


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_is_not_run_without_its_rows(claim: Claim) -> None:
    table = table_of("holds")
    few = table[(table["method"] == "plain") | (table["chunk"] == 2)]
    assert decide(claim, few[few["num_images"] == few["inner_batch"]]).word is Word.UNTESTED


def test_checks_are_decided_at_smoke_and_on_a_gpu() -> None:
    checks = [claim for claim in task.claims if claim.scope.grade == "exact"]
    assert len(checks) == 6
    assert {decide(c, table_of("holds", "smoke"), "smoke").word for c in checks} == {Word.HOLDS}
    words = [decide(c, table_of("holds", "gpu"), "gpu").word for c in checks]
    assert words.count(Word.HOLDS) == 5


def test_a_gpu_without_room_leaves_what_did_fit() -> None:
    table = table_of("holds", "gpu")
    none = table["peak_bytes"].isna()
    table.loc[(table["method"] == "rgu") & (table["depth"] == 64), "peak_bytes"] = None
    (grows,) = (claim for claim in task.claims if claim.id == "reverse_grows_with_depth")
    (free,) = (claim for claim in task.claims if claim.id == "forward_free_of_depth")
    assert not none.any()
    assert decide(grows, table, "gpu").word is Word.UNTESTED
    assert decide(free, table, "gpu").word is Word.HOLDS


def test_a_difference_counts_whatever_its_sign() -> None:
    table = table_of("holds")
    large = table["num_images"] > table["inner_batch"]
    table.loc[large & (table["chunk"] == 4), "peak_bytes"] -= 24
    assert q.largest_excess(table) == 24.0


def peaks(num_steps: int) -> dict[Counted, int | None]:
    net = Mlp(sizes=(16, 8, 10))
    generator = torch.Generator().manual_seed(0)
    problem = training_images(
        net, num_steps=num_steps, optimizer=Sgd(lr=0.1, momentum=0.9), inner_batch=10
    )
    phi = torch.rand(10, 1, 4, 4, generator=generator)
    judge = Judge(init=net.drawn(generator), images=phi, labels=torch.arange(10))
    every = Setting.from_json({**settings.params_of("cpu")[0], "max_chunk": 2})
    return {one: peak_bytes(one, problem, phi, judge, 1) for one in counted_of(every)}


def test_every_method_is_counted_by_its_own_settings() -> None:
    found = peaks(12)
    assert None not in found.values() and len(found) == 12
    kept = [found[Counted(method="trgu", keep=keep)] for keep in (1, 5)]
    assert kept[0] < kept[1] < found[q.RGU]  # type: ignore[operator]
    assert found[q.CHECKPOINTED] != found[Counted(method="rgu-mixflow", segment=1)]
    assert found[Counted(method="fg2u", chunk=2)] > found[q.FG2U] > found[q.PLAIN]  # type: ignore[operator]
    assert estimator_of(Counted(method="neumann")).terms == 20  # type: ignore[attr-defined]
