"""Claims on bytes held: where they hold, fail, or lack rows; rows made as the formula says."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.declare.verdict import Word
from harness.store.table_csv import build_table, validate
from reproductions.paro.held import trial
from reproductions.paro.held.abl_held_bytes import COUNTED_SETTINGS, LAYOUT, task
from reproductions.paro.held.experiment import PARAM_BYTES, STATES, WIDTHS, Ranks, held
from reproductions.paro.held.quantities import PLAIN
from reproductions.paro.held.ranks import PADDED, switches_of
from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.peers import setting_of
from tests import layouts
from tests.verdicts import bad, controlled, good

Case = Literal["holds", "fails"]
CTX: Any = None


def share_of(name: str, state: Any, point: Any) -> float:
    cluster = Cluster(
        num_gpus=point["num_ranks"], group_size=point["group_size"],
        inter_gbit_per_s=1.0, intra_gbit_per_s=1.0,
    )  # fmt: skip
    return trial.share(setting_of(name), state, cluster)


def counted_as(case: Case, point: Any) -> list[list[dict[str, Any]]]:
    """Return what ranks would count. Fails: one rank holds a byte less, another rows more."""
    sizes = {net: sum(r * c for r, c in trial.shapes_of(w)) for net, w in WIDTHS.items()}
    settings = ["ddp", *switches_of(point["group_size"])]
    ranks: list[list[dict[str, Any]]] = []
    for rank in range(point["num_ranks"]):
        rows = []
        for net, name in [("even", s) for s in settings] + [("odd", s) for s in PLAIN]:
            row: dict[str, Any] = {"net": net, "setting": name}
            for state in STATES:
                whole = trial.SIZES.get(state, PARAM_BYTES) * sizes[net]
                size = whole * share_of(name, state, point)
                if case == "fails":
                    size += {0: -1, 1: 1000}.get(rank, 0)
                row[f"{state}_bytes"] = int(size)
            rows.append(row)
        ranks.append(rows)
    return ranks


def table_of(case: Case, monkeypatch: pytest.MonkeyPatch) -> pd.DataFrame:
    rows = []
    for point in held.params_of("cpu"):
        counted = counted_as(case, point)
        monkeypatch.setattr(trial, "counted_on_ranks", lambda params, counted=counted: counted)
        found = trial.held_rows(Ranks.from_json(point), CTX)
        rows += [{**point, **row, "status": "done"} for row in found]
    return build_table(task, {held.id: pd.DataFrame(rows)})


def word(claim: Claim, table: pd.DataFrame) -> Word:
    return controlled(claim, table, seed=task.table.seed, profile="cpu").word


@pytest.mark.parametrize("claim", [pytest.param(c, id=c.id) for c in task.claims])
def test_claim_holds_fails_and_needs_its_rows(
    claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = table_of("holds", monkeypatch)
    assert word(claim, whole) is good(claim)
    assert word(claim, table_of("fails", monkeypatch)) is bad(claim)
    assert word(claim, whole[:0]) is Word.UNTESTED


def test_the_table_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    table = table_of("holds", monkeypatch)
    assert len(validate(table, task.table, where=task.id)) == 2 * 5 * (14 + 3)
    for row, column in LAYOUT.places():
        assert len(layouts.found(LAYOUT, table, row, column)) == 1


def test_every_setting_that_is_said_to_be_counted_is() -> None:
    counted = {"ddp", *switches_of(2)}
    assert counted == {each.name for each in COUNTED_SETTINGS}
    assert {"ddp", *PADDED} == set(PLAIN)
    assert all(
        setting_of(name).is_exact and setting_of(name).strategy.letters == letters
        for name, letters in zip(PLAIN, ("NNN", "GGG", "III"), strict=True)
    )


@pytest.mark.parametrize(
    ("name", "shares"),
    [
        # at rest, between passes, between micro-batches, gradients, Adam: four ranks in two groups
        ("ddp", (1, 1, 1, 1, 1)),
        ("fsdp2-int", (0.25, 0.75, 0.25, 0.25, 0.25)),
        ("fsdp2-zero-1", (0.25, 1.25, 1.25, 1, 0.25)),
        ("fsdp2-ddp", (1, 1, 1, 1, 1)),
        ("fsdp2-hs-late", (0.5, 0.5, 0.5, 1, 0.5)),
        ("fsdp2-hsz", (0.5, 1.5, 0.5, 0.5, 0.5)),
    ],
)
def test_shares_by_hand(name: str, shares: tuple[float, ...]) -> None:
    point = held.params_of("smoke")[0]
    assert tuple(share_of(name, state, point) for state in STATES) == shares
