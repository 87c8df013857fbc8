"""What the claims of the sweeps measure, beside where an optimum lies (`models.optima`).

Every function takes the table of one seed. Losses are in nats. No torch, no pandas at import.
"""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Sequence

from harness.declare import Frame, InvalidQuantity, MissingRows, pick
from reproductions.supar.models.optima import (
    densities_of,
    extra_transfer_losses,
    optimum,
    optimum_distance,
    optimum_either_way,
)

LADDER = ("dense", "1/2", "1/4", "1/8")
"""The densities of Figures 9 and 11, as they are named."""
PAIRS = tuple(f"{denser} and {sparser}" for denser, sparser in itertools.combinations(LADDER, 2))
STEPS = tuple(f"{denser} to {sparser}" for denser, sparser in itertools.pairwise(LADDER))


def optima(table: Frame, *, scheme: str) -> list[float]:
    """Return the optimal learning rates by density, descending, as log2."""
    return [optimum(table, scheme=scheme, density=density) for density in densities_of(table)]


def distances_from(table: Frame, *, scheme: str, log2_lr: float) -> list[float]:
    """Return how far the optimum at each density is above a learning rate, in octaves, signed."""
    return [place - log2_lr for place in optima(table, scheme=scheme)]


def optima_apart(table: Frame, *, scheme: str) -> list[float]:
    """Return how far each two densities' optima are apart, in octaves, signed.

    The sparser minus the denser. The outermost two are those over seeds, not those of a seed.
    """
    pairs = itertools.combinations(optima(table, scheme=scheme), 2)
    return [sparser - denser for denser, sparser in pairs]


def best_losses(table: Frame, *, scheme: str, x: str = "log2_lr") -> dict[float, float]:
    """Return train loss by density, descending, each at the point of least validation loss.

    Raises InvalidQuantity where that point is on its window's edge: it is the window's, then.
    """
    found = {}
    for density in densities_of(table):
        rows = pick(table, scheme=scheme, density=density)
        if rows["val_loss"].isna().all():
            raise InvalidQuantity(f"{scheme} at density {density:g}: no run has a loss")
        best = rows.sort_values("val_loss", kind="stable").iloc[0]
        if best[x] in (rows[x].min(), rows[x].max()):
            raise InvalidQuantity(
                f"{scheme} at density {density:g}: the least validation loss is on the edge of its"
                f" window, at 2^{best[x]:g}"
            )
        found[density] = float(best["train_loss"])
    return found


def descending_best(table: Frame, *, scheme: str) -> list[float]:
    """Return -log of the least loss from the densest to the sparsest, claimed to ascend.

    Steps are relative improvements of the loss.
    """
    return [-math.log(loss) for loss in best_losses(table, scheme=scheme).values()]


def best_gain(table: Frame, *, scheme: str) -> float:
    """Return by how much the least loss at the lowest density is below the dense one, relative."""
    losses = list(best_losses(table, scheme=scheme).values())
    return (losses[0] - losses[-1]) / losses[0]


def gains_beyond(table: Frame, *, schemes: Sequence[str]) -> list[float]:
    """Return by how much SmuPar gains more than each of some schemes, in the given order."""
    most = best_gain(table, scheme="supar")
    return [most - best_gain(table, scheme=scheme) for scheme in schemes]


def steps_back(table: Frame, *, scheme: str, x: str) -> list[float]:
    """Return by how much each step down in density takes the least loss the wrong way, relative.

    That is against its way from dense to the lowest density; a monotone function has no such step.
    """
    losses = list(best_losses(table, scheme=scheme, x=x).values())
    way = math.copysign(1.0, losses[-1] - losses[0])
    return [way * (1.0 - after / before) for before, after in itertools.pairwise(losses)]


def instabilities(
    table: Frame, *, schemes: Sequence[str], x: str, octaves: float, noise: float
) -> list[float]:
    """Return signs for each scheme that its optimum does not hold, 1 at the bound of each.

    How far it rises, and how far it falls, over `octaves`, and `steps_back` over `noise`.
    """
    ways = [way for scheme in schemes for way in optimum_either_way(table, scheme=scheme, x=x)]
    moved = [way / octaves for way in ways]
    back = [step / noise for scheme in schemes for step in steps_back(table, scheme=scheme, x=x)]
    return moved + back


def failures_of_half(table: Frame, *, scheme: str, x: str, octaves: float) -> list[float]:
    """Return two signs that half a correction fails, each above 0 where it is there.

    The distance its optimum moves beyond SmuPar's and `octaves`; and by how much dearer its
    transfer is, relative to the loss.
    """
    (dearer,) = extra_transfer_losses(table, schemes=(scheme,), x=x)
    own, least = (optimum_distance(table, scheme=each, x=x) for each in (scheme, "supar"))
    return [own - least - octaves, dearer]


def mean_gap(table: Frame, *, scheme: str) -> float:
    """Return the mean over densities of (scheme - supar) / supar.

    Losses are train losses, each at its own chosen learning rate. Raises InvalidQuantity where a
    choice lies on its window's edge: its loss then is the window's, not the scheme's.
    """
    theirs = _chosen_losses(table, scheme)
    ours = _chosen_losses(table, "supar")
    if theirs.keys() != ours.keys():
        raise MissingRows(f"{scheme} and supar were not run at the same densities")
    return statistics.fmean((theirs[d] - ours[d]) / ours[d] for d in ours)


def _chosen_losses(table: Frame, scheme: str) -> dict[float, float]:
    rows = pick(table, scheme=scheme)
    losses = {}
    for density, loss, edge in zip(
        rows["density"], rows["train_loss"], rows["on_edge"], strict=True
    ):
        if bool(edge) or math.isnan(loss):
            reason = "no run has a loss" if math.isnan(loss) else "the best rate is on the edge"
            raise InvalidQuantity(f"{scheme} at density {density:g}: {reason} of its window")
        losses[float(density)] = float(loss)
    return losses


def apart_on(table: Frame, *, ladder: str) -> list[float]:
    """Return how far each two of SP's optima on one ladder are apart, in octaves, signed."""
    return optima_apart(pick(table, ladder=ladder), scheme="sp")


def optima_on(table: Frame, *, ladder: str) -> list[float]:
    """Return SP's optima on one ladder, as log2 of the learning rate."""
    return optima(pick(table, ladder=ladder), scheme="sp")
