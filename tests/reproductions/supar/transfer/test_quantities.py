"""Quantities of losses without a sweep, on tables small enough to work out by hand."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from reproductions.supar.transfer import quantities as gaps


def untuned(losses: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """Return a dense and a sparse loss per scheme."""
    return pd.DataFrame(
        {"scheme": scheme, "density": density, "val_loss": loss}
        for scheme, pair in losses.items()
        for density, loss in zip((1.0, 0.125), pair, strict=True)
    )


GAPS = untuned({"supar": (2.0, 2.5), "mup": (2.0, 3.0), "sp": (2.2, 4.0)})


def test_differences_are_of_each_pair_at_each_density() -> None:
    pairs = (("sp", "supar"), ("mup", "sp"))
    found = gaps.differences(GAPS, pairs=pairs, densities=(1.0, 0.125), value="val_loss")
    assert found == pytest.approx([0.2, -0.2, 1.5, -1.0])


def test_gap_is_relative_to_either_of_the_two() -> None:
    at = {"scheme": "sp", "density": 0.125, "value": "val_loss"}
    assert gaps.gap_at(GAPS, **at) == pytest.approx(1.5 / 2.5)  # type: ignore[arg-type]
    assert gaps.gap_at(GAPS, **at, over="sp") == pytest.approx(1.5 / 4.0)  # type: ignore[arg-type]
    lowest = gaps.gap_at_lowest(GAPS, scheme="sp", value="val_loss", over="sp")
    assert lowest == pytest.approx(1.5 / 4.0)


def test_a_diverged_rival_is_infinitely_behind() -> None:
    gone = untuned({"supar": (2.0, 2.5), "sp": (2.2, math.nan)})
    pairs = (("sp", "supar"),)
    assert gaps.differences(gone, pairs=pairs, densities=(0.125,), value="val_loss") == [math.inf]
    assert gaps.gap_at_lowest(gone, scheme="sp", value="val_loss") == math.inf


def test_flops_compare_the_sparsest_net_with_the_dense_one() -> None:
    work = {1.0: 4e9, 0.5: 5e9, 0.125: 6e9}
    rows = [
        {"scheme": scheme, "density": density, "train_flops": flops}
        for scheme in ("sp", "supar")
        for density, flops in reversed(work.items())
    ]
    assert gaps.flops_to_dense(pd.DataFrame(rows)) == 1.5
