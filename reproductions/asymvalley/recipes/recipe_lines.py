"""The line between solutions of two recipes: Figures 8 and 24 to 26."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.declare.experiment import (
    Estimate,
    Experiment,
    Outcome,
    RawParams,
    Row,
    RunContext,
    Status,
    Use,
)
from harness.declare.profiles import Profile
from reproductions.asymvalley.method.directions import PARTITION
from reproductions.asymvalley.models.costs import estimate as estimate_of
from reproductions.asymvalley.models.costs import needs_of, point_s
from reproductions.asymvalley.models.pairs import Pair, Point, Recipe
from reproductions.asymvalley.trained_nets import experiment as solution
from reproductions.asymvalley.trained_nets.walking import grids

if TYPE_CHECKING:
    from torch import Tensor

    from reproductions.asymvalley.method.layout import Layout

CONTRASTS: dict[str, tuple[Recipe, Recipe]] = {
    "batch_size": ("bs_small", "bs_large"),
    "lr": ("lr_high", "lr_low"),
    "weight_decay": ("wd_high", "wd_low"),
}
"""First and second solution of each contrast, in the paper's order."""
SHOWN: tuple[tuple[Pair, str], ...] = (
    ("vgg16_cifar10", "batch_size"),
    ("vgg16_cifar10", "lr"),
    ("vgg16_cifar10", "weight_decay"),
    ("resnet20_cifar10", "batch_size"),
)
CHANGED = ("recipe", "lr", "batch_size", "weight_decay")
"""What two recipes may differ in; the second's values are parameters of their own."""
NUM_PLACES: dict[Profile, int] = {"smoke": 4, "cpu": 31, "gpu": 31, "paper": 31}
"""Of l in [-1, 2]: steps of a tenth, so that both solutions are among them."""


def run(params: RawParams, ctx: RunContext) -> Outcome:
    """Walk from one solution to the other and beyond; compare their parameters by group."""
    from reproductions.asymvalley.method.interpolation import interpolation_curve
    from reproductions.asymvalley.models.curve_rows import data_of, finite, lambdas, statistics_of
    from reproductions.asymvalley.models.kept_nets import KEPT, final_parameters, load_solution

    kept = [ctx.upstream(solution.experiment, **of(params)) for of in (first_of, second_of)]
    if any(each.rows[0]["test_error"] is None for each in kept):
        return Outcome(rows=[], status=Status.DIVERGED, note="one network diverged in training")
    tensors = [each.load(KEPT) for each in kept]
    model = load_solution(params, ctx, tensors[0]).model
    first, second = (
        {name: value.to(ctx.device) for name, value in final_parameters(each).items()}
        for each in tensors
    )
    curve = interpolation_curve(
        model,
        first,
        second,
        lambdas(int(params["num_places"]), low=-1.0, high=2.0),
        bn_stats=statistics_of(params),
        data=data_of(params, ctx),
    )
    none = dict.fromkeys(("mean", "std", "norm", "consistency"))
    rows: list[Row] = [
        {"part": "line", "group": "", "solution": "", "x": place, "error": point.error}
        | {"ce": finite(point.ce), **none}
        for place, point in zip(curve.lambdas, curve.points, strict=True)
    ]
    from reproductions.asymvalley.method.layout import layout_of

    layout = layout_of(model)
    return Outcome(rows=rows + _groups(layout, layout.flatten(first), layout.flatten(second)))


def _groups(layout: Layout, first_P: Tensor, second_P: Tensor) -> list[Row]:
    from reproductions.asymvalley.method.interpolation import group_statistics

    rows: list[Row] = []
    for group in ("all", *PARTITION):
        for name, weights_P in (("first", first_P), ("second", second_P)):
            found = group_statistics(weights_P.cpu(), (second_P - first_P).cpu(), layout, group)
            labels = {"part": "group", "group": group, "solution": name, "x": 0.0}
            values = {"mean": found.mean, "std": found.std, "norm": found.norm}
            values |= {"consistency": found.consistency, "error": None, "ce": None}
            rows.append(labels | values)
    return rows


def first_of(params: RawParams) -> RawParams:
    """Return the parameters of the first training."""
    return solution.of(params)


def second_of(params: RawParams) -> RawParams:
    """Return the parameters of the second training."""
    return {**solution.of(params), **{name: params[f"second_{name}"] for name in CHANGED}}


def points(profile: Profile) -> Iterator[Point]:
    """Yield one line a contrast and seed."""
    for pair, contrast in SHOWN:
        one, other = CONTRASTS[contrast]
        firsts = solution.chosen(profile, pair, recipe=one)
        seconds = solution.chosen(profile, pair, recipe=other)
        for first, second in zip(firsts, seconds, strict=True):
            differing = {f"second_{name}": second[name] for name in CHANGED}
            yield first | differing | {"contrast": contrast, "num_places": NUM_PLACES[profile]}


def estimate(params: RawParams) -> Estimate:
    """Return what a line costs."""
    return estimate_of(int(params["num_places"]) * point_s(params))


experiment = Experiment(
    id="asymvalley/recipe_lines",
    version=1,
    run=run,
    grid=grids(points),
    needs=needs_of,
    uses=(
        Use(experiment=solution.experiment, params=first_of),
        Use(experiment=solution.experiment, params=second_of),
    ),
    estimate=estimate,
    address=("pair", "contrast", "seed"),
)
