"""The check by layer: its claims on tables where they hold, fail, and have too few seeds."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from harness.declare.verdict import Word, evaluate
from harness.provenance.seals import seal
from reproductions.supar.coordinates import coordinates
from reproductions.supar.coordinates.table import BLOCKS, LAYERS
from reproductions.supar.models.slopes import FLAT


def _layer_table(holds: bool) -> pd.DataFrame:
    """Sizes by layer that are theory's powers of density; one layer of each kind is off else."""
    rows = []
    for seed in range(3):
        for scheme in ("sp", "mup", "supar"):
            for density in (1.0, 0.5, 0.25, 0.125, 0.0625):
                for block in ("attention", "feed_forward"):
                    for layer, off in (("blocks.0", False), ("blocks.1", not holds)):
                        power = (0.1 if scheme == "mup" else 0.5) if off else None
                        if power is None:
                            power = 0.0 if scheme == "supar" else 1.2
                        size = (1.0 + 0.02 * seed) * density**power
                        point = {"scheme": scheme, "density": density, "width": 768, "seed": seed}
                        where = {"block": block, "layer": f"{layer}.{block}"}
                        sizes = {"mean_abs_activation": size, "grad_x_rms": size}
                        rows.append({**point, **where, **sizes, "step": 0, "delta_y_rms": math.nan})
                        rows.append({**point, **where, **sizes, "step": 1, "delta_y_rms": size})
    return pd.DataFrame(rows).reindex(columns=LAYERS.names)


@pytest.mark.parametrize("claim", coordinates.task.claims, ids=lambda claim: claim.id)
@pytest.mark.parametrize(("holds", "word"), [(True, Word.REPRODUCED), (False, Word.NOT_REPRODUCED)])
def test_layer_claims_feel_one_layer_that_is_off(claim: Any, holds: bool, word: Word) -> None:
    table = _layer_table(holds)
    verdict = evaluate(claim, table, seed="seed", profile="cpu")
    assert verdict.word is word
    few = evaluate(claim, table.query("seed < 2"), seed="seed", profile="cpu")
    assert few.word is Word.INCONCLUSIVE
    assert seal(coordinates.task, claim, {}).code


def test_thresholds_by_layer() -> None:
    thresholds = {claim.id: claim.criterion.threshold for claim in coordinates.task.claims}
    flat = pytest.approx(math.log2(2.5) / 4)
    assert thresholds == {
        **{f"{n}_supar_{b}": flat for n in ("gradient", "update") for b in BLOCKS},
        **{f"update_mup_{b}": 0.5 for b in BLOCKS},
    }
    assert flat == FLAT
