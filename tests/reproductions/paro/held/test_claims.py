"""Claims on bytes held: where they hold, fail, or lack rows; rows made as the formula says."""

from __future__ import annotations

from typing import Any, Literal

import pandas as pd
import pytest

from harness.declare.claims import Claim
from harness.store.table_csv import build_table
from reproductions.paro.held import trial
from reproductions.paro.held.abl_held_bytes import task
from reproductions.paro.held.experiment import PARAM_BYTES, STATES, WIDTHS, Ranks, held
from reproductions.paro.held.quantities import PLAIN
from reproductions.paro.held.ranks import switches_of
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.peers import setting_of
from tests.reproductions.paro.tables import CTX
from tests.verdicts import judge

Case = Literal["holds", "fails"]
CASES: tuple[Case, ...] = ("holds", "fails")


def share_of(name: str, state: Any, point: Any) -> float:
    cluster = unlinked(point["num_ranks"], point["group_size"])
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
        monkeypatch.setattr(trial, "on_ranks", lambda *_, counted=counted, **__: counted)
        found = trial.held_rows(Ranks.from_json(point), CTX)
        rows += [{**point, **row, "status": "done"} for row in found]
    return build_table(task, {held.id: pd.DataFrame(rows)})


@pytest.mark.parametrize("claim", task.claims, ids=lambda claim: claim.id)
def test_claim_holds_fails_and_needs_its_rows(
    claim: Claim, monkeypatch: pytest.MonkeyPatch
) -> None:
    holds, fails = (table_of(case, monkeypatch) for case in CASES)
    judge(task, claim, holds=holds, fails=fails)
