"""Quantities of sweeps, on tables small enough to work out by hand."""

from __future__ import annotations

import math
from collections.abc import Iterable

import pandas as pd
import pytest

from harness.declare.statistics import InvalidQuantity
from reproductions.supar.models import optima
from reproductions.supar.sweeps import quantities as sweeps

NAN = math.nan


def curve(
    losses: Iterable[float],
    *,
    scheme: str = "sp",
    density: float = 1.0,
    first: float = -3.0,
    x: str = "log2_lr",
    seed: int = 0,
) -> pd.DataFrame:
    """Return losses at `first`, `first` + 1, ...; NaN for a run that diverged."""
    return pd.DataFrame(
        {"scheme": scheme, "density": density, x: first + k, "train_loss": loss, "seed": seed}
        for k, loss in enumerate(losses)
    ).assign(val_loss=lambda rows: rows["train_loss"])


def table(*curves: pd.DataFrame) -> pd.DataFrame:
    return pd.concat(curves, ignore_index=True)


# Symmetric about the least loss, so that the vertex is the grid's point.
DENSE = curve([4.0, 3.0, 2.0, 3.0, 4.0])  # least at -1
SPARSE = curve([5.0, 4.5, 4.0, 2.5, 4.0, 4.5], density=0.25)  # least at 0; 4.0 at -1


def test_shift_is_signed_and_distance_is_not() -> None:
    assert optima.optimum_shift(table(DENSE, SPARSE), scheme="sp") == 1.0
    falling = table(DENSE, SPARSE.assign(log2_lr=SPARSE["log2_lr"] - 3.0))
    assert optima.optimum_shifts(falling, schemes=("sp", "sp")) == [-2.0, -2.0]
    assert optima.optimum_distance(falling, scheme="sp") == 2.0


def test_optima_of_all_densities_are_compared_on_each_ladder() -> None:
    middle = DENSE.assign(density=0.5, log2_lr=DENSE["log2_lr"] - 3.0)
    steps = table(DENSE, middle, SPARSE)  # -1, -4, 0
    assert sweeps.optima_apart(steps, scheme="sp") == [-3.0, 1.0, 4.0]
    falling = SPARSE.assign(log2_lr=SPARSE["log2_lr"] - 4.0)  # -1, then -4: three octaves down
    ladders = {"iso_neuron": table(DENSE, falling), "fixed_width": table(DENSE, SPARSE)}
    both = table(*(rows.assign(ladder=name) for name, rows in ladders.items()))
    assert sweeps.apart_on(both, ladder="iso_neuron") == [-3.0]


@pytest.mark.parametrize("quantity", [optima.optimum_shift, sweeps.best_losses])
@pytest.mark.parametrize("density", [1.0, 0.25])
def test_an_optimum_on_the_edge_is_invalid_and_names_scheme_and_density(
    quantity: object, density: float
) -> None:
    curves = {1.0: DENSE, 0.25: SPARSE}
    curves[density] = curve([4.0, 3.0, 2.0], density=density)
    with pytest.raises(InvalidQuantity, match=rf"sp at density {density:g}: .*edge.* at 2\^-1"):
        quantity(table(*curves.values()), scheme="sp")  # type: ignore[operator]


def test_diverged_runs_count_as_infinitely_bad() -> None:
    far = table(DENSE, curve([NAN, 4.5, 4.0, 2.5, 4.0, NAN], density=0.25))
    assert optima.optimum_shift(far, scheme="sp") == 1.0


def test_transfer_loss_is_the_cost_of_the_dense_rate_at_the_lowest_density() -> None:
    # 4.0 at the dense optimum of -1, over a best of 2.5; density 1/2 is not looked at.
    between = table(DENSE, SPARSE, DENSE.assign(density=0.5))
    assert optima.transfer_loss(between, scheme="sp") == pytest.approx(1.5 / 2.5)


def test_transfer_loss_is_infinite_where_the_dense_rate_diverges() -> None:
    sparse = curve([4.0, 2.5, 4.0, 5.0, NAN], density=0.25, first=-5.0)
    assert optima.transfer_loss(table(DENSE, sparse), scheme="sp") == math.inf
    still = [DENSE.assign(scheme="supar", density=d) for d in (1.0, 0.25)]
    both = table(DENSE, sparse, *still)
    assert optima.extra_transfer_losses(both, schemes=("sp", "supar")) == [math.inf, 0.0]


LADDER = table(
    curve([3.0, 2.0, 3.0]),
    curve([3.0, 1.9, 3.0], density=0.5),
    curve([3.0, 1.95, 3.0], density=0.25),
)


def test_best_gain_compares_the_ends() -> None:
    assert sweeps.best_gain(LADDER, scheme="sp") == pytest.approx(0.05 / 2.0)
    still = [curve([3.0, 2.0, 3.0], scheme="supar", density=d) for d in (1.0, 0.5, 0.25)]
    both = table(LADDER, *still)
    assert sweeps.gains_beyond(both, schemes=("sp",)) == pytest.approx([-0.05 / 2.0])


def test_best_losses_are_those_of_the_least_validation_loss() -> None:
    ladder = LADDER.assign(val_loss=LADDER["train_loss"])
    other = curve([3.0, 2.0, 2.5, 3.0]).assign(val_loss=[4.0, 3.5, 3.1, 4.0])
    mixed = table(other, ladder[ladder["density"] < 1.0])
    assert sweeps.best_losses(mixed, scheme="sp") == {1.0: 2.5, 0.5: 1.9, 0.25: 1.95}
    gone = table(other.assign(val_loss=NAN), ladder[ladder["density"] < 1.0])
    with pytest.raises(InvalidQuantity, match="sp at density 1: no run has a loss"):
        sweeps.best_losses(gone, scheme="sp")


def test_steps_back_are_against_the_way_from_dense_to_the_lowest_density() -> None:
    # Falls by 5 %, then rises by 0.05 / 1.9: the fall is the way.
    found = sweeps.steps_back(LADDER, scheme="sp", x="log2_lr")
    assert found == pytest.approx([-0.05, 0.05 / 1.9])
    for sign in (-1.0, 1.0):
        losses = LADDER["train_loss"] + sign * 0.2 / LADDER["density"]
        straight = LADDER.assign(train_loss=losses, val_loss=losses)
        assert max(sweeps.steps_back(straight, scheme="sp", x="log2_lr")) < 0.0


def test_instabilities_are_signs_over_their_bounds() -> None:
    bounds = {"schemes": ("sp",), "x": "log2_lr"}
    # The optimum stays, the loss wavers.
    found = sweeps.instabilities(LADDER, **bounds, octaves=2.0, noise=0.01)
    assert found == pytest.approx([0.0, 0.0, -5.0, 0.05 / 1.9 / 0.01])
    moved = table(DENSE, SPARSE.assign(train_loss=SPARSE["train_loss"] + 5.0))
    moved["val_loss"] = moved["train_loss"]
    rises, falls, wavers = sweeps.instabilities(moved, **bounds, octaves=2.0, noise=0.01)
    assert (rises, falls) == (0.5, -0.5)
    assert wavers < 0.0


def test_half_a_correction_fails_by_distance_or_by_transfer() -> None:
    still = table(*(DENSE.assign(scheme="supar", density=d) for d in (1.0, 0.25)))
    both = table(DENSE, SPARSE, still)
    # SP moves by 1 octave, SmuPar by none; SP's transfer costs (4.0 - 2.5) / 2.5.
    bounds = {"scheme": "sp", "x": "log2_lr"}
    assert sweeps.failures_of_half(both, **bounds, octaves=0.2) == pytest.approx([0.8, 0.6])
    assert sweeps.failures_of_half(both, **bounds, octaves=2.0) == pytest.approx([-1.0, 0.6])


def test_dense_difference_is_the_largest_over_seeds_and_common_points() -> None:
    twins = table(
        curve([3.0, 2.0, 3.0], scheme="supar"),
        curve([3.0, 2.0, 3.0], scheme="supar", seed=1),
        curve([3.0, 2.25, 3.0], scheme="mup"),
        curve([3.0, 2.0, 3.5, 9.0], scheme="mup", seed=1),  # the last has no partner
        curve([7.0, 7.0, 7.0], scheme="mup", density=0.5),
    )
    assert optima.largest_dense_difference(twins, schemes=("supar", "mup")) == 0.5


def test_a_twin_that_diverges_alone_is_infinitely_far() -> None:
    pair = ("supar", "mup")
    both = table(curve([2.0, NAN], scheme="supar"), curve([2.0, NAN], scheme="mup"))
    assert optima.largest_dense_difference(both, schemes=pair) == 0.0
    alone = table(curve([2.0, 3.0], scheme="supar"), curve([2.0, NAN], scheme="mup"))
    assert optima.largest_dense_difference(alone, schemes=pair) == math.inf


def chosen(losses: dict[str, tuple[float, float]]) -> pd.DataFrame:
    """Return a dense and a sparse loss per scheme, none of them on an edge."""
    return pd.DataFrame(
        {"scheme": scheme, "density": density, "train_loss": loss, "on_edge": False}
        for scheme, pair in losses.items()
        for density, loss in zip((1.0, 0.125), pair, strict=True)
    )


def test_mean_gap_is_over_all_densities() -> None:
    rows = chosen({"supar": (2.0, 2.5), "sp": (2.2, 2.0)})
    assert sweeps.mean_gap(rows, scheme="sp") == pytest.approx((0.1 - 0.2) / 2)
