"""Where this paper's claims are decided, and how much nets may err for a claim to be judged.

The bounds were set before the run, from what two cores can afford to train (`pilot_nets`).
Every quantity takes the table of one seed. No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from harness.declare import (
    CHECK,
    CPU_UP,
    PAPER,
    Cell,
    Criterion,
    Layout,
    Line,
    MissingRows,
    Scope,
    at_most,
    equal,
    ours,
)
from harness.declare.criterion import Quantity
from harness.declare.layout import Where
from reproductions.asymvalley.models.curves import AT_ZERO, centres, widest_centre
from reproductions.asymvalley.models.pairs import is_trained, paper_name

if TYPE_CHECKING:
    import pandas as pd

TOO_SHORT = "after a few training steps a net has no valley yet"
PAPER_ONLY = "it needs the paper's net, data and training"
ONE_SEED = "smoke has too few draws, and it needs no GPU"

TRAINED = ours("DEV-08", elsewhere=TOO_SHORT)
"""Our reading of a word on the valleys of trained nets."""
CALIBRATED = Scope(
    grade="empirical", threshold_from="calibration", profiles=CPU_UP, elsewhere=TOO_SHORT
)
"""The same by a threshold that runs of a small net on digits set."""
STATED = Scope(grade="empirical", threshold_from="paper", profiles=PAPER, elsewhere=PAPER_ONLY)
"""A number of the paper."""
ON_A_CPU = CHECK.at(
    "smoke",
    "cpu",
    elsewhere="a GPU adds in no fixed order, so bits may differ there",
)
"""Equality to the bit."""
TOY = ours("DEV-08", profiles=("cpu", "paper"), elsewhere=ONE_SEED)
TOY_CHECK = CHECK.at(
    "smoke", "cpu", "paper", elsewhere="it needs no GPU: the cpu profile is the paper's own setting"
)

Declared = tuple[str, Scope, Criterion, str]
"""A claim as `claims` takes it: id, scope, criterion, statement."""

LARGEST_ERROR: dict[str, float] = {
    "vgg16_cifar10": 0.25,
    "vgg16nobn_cifar10": 0.45,
    "resnet20_svhn": 0.05,
    "vgg11_cifar100": 0.45,
    "alexnet_food101": 0.45,
    "vit_food101": 0.45,
    "resnet20_cifar10": 0.20,
    "resnet20_cifar100": 0.45,
    "resnext101_imagenet": 0.15,
    "resnet50_imagenet": 0.15,
}
"""By pair. The published nets err on 8 % with their own statistics of batch normalisation, and on
somewhat more with those that are estimated anew."""
TOO_DEAR = "no such net is trained here: too dear, or too many errors in a pilot"
PUBLISHED = ("resnext101_imagenet", "resnet50_imagenet")


def said_of(pairs: Iterable[str]) -> str:
    """Say what a control asks of some nets.

    >>> said_of(["vgg16_cifar10"])
    'VGG16 on CIFAR-10 errs on at most 25 % of the test images'
    """
    named = (
        f"{'the pre-trained net' if pair in PUBLISHED else paper_name(pair)}"  # type: ignore[arg-type]  # the others are pairs
        f" errs on at most {100 * LARGEST_ERROR[pair]:.0f} % of the test images"
        for pair in pairs
    )
    return ", and ".join(named)


def controlled_by(scope: Scope, quantity: Quantity, *pairs: str, varied: bool = False) -> Scope:
    """Return a scope that is judged only where nets err no more than they may.

    Nor at a profile that trains no such nets. quantity: their errors less the bounds.
    varied: as of `is_trained`.
    """
    there = scope.controlled(said_of(pairs), at_most(quantity, 0, "error"))
    own = [pair for pair in pairs if pair not in PUBLISHED]
    profiles = [
        profile
        for profile in scope.profiles
        if all(is_trained(profile, pair, varied=varied) for pair in own)  # type: ignore[arg-type]  # no others are left
    ]
    return (
        there if len(profiles) == len(scope.profiles) else there.at(*profiles, elsewhere=TOO_DEAR)
    )


def at_centre(scope: Scope, *pairs: str, by: Sequence[str] = (), varied: bool = False) -> Scope:
    """Return a scope that is judged only where nets err no more than they may at lambda = 0."""
    bounds = {pair: LARGEST_ERROR[pair] for pair in pairs}
    quantity = partial(excess_at_centre, bounds=bounds, by=by)
    return controlled_by(scope, quantity, *pairs, varied=varied)


def all_at_centre(declared: Iterable[Declared], *pairs: str) -> tuple[Declared, ...]:
    """Return claims with that control."""
    return tuple(
        (id, at_centre(scope, *pairs), criterion, said) for id, scope, criterion, said in declared
    )


def one_centre(*by: str) -> Declared:
    """Return the check that all curves of a net pass through one point.

    by: the columns that tell nets apart, beside the seed.
    """
    return (
        "one_centre",
        ON_A_CPU,
        equal(partial(widest_centre, by=by), 0, "error"),
        "All curves of one net have the same error at lambda = 0.",
    )


def excess_at_centre(
    table: pd.DataFrame, *, bounds: Mapping[str, float], by: Sequence[str] = ()
) -> list[float]:
    """Return the test error at lambda = 0 less its bound, of each net of some pairs.

    by: the columns that tell a pair's nets apart. A table of a single pair may not name it.
    """
    rows, found = centres(table), list[float]()
    for pair, bound in bounds.items():
        own = rows[rows["pair"] == pair] if "pair" in rows else rows
        if own.empty:
            raise MissingRows(f"the table has no curve of {pair} with lambda = 0")
        errors = own.groupby(list(by))["error"].mean() if by else [own["error"].mean()]
        found += [float(error) - bound for error in errors]
    return found


def excess_at_ends(table: pd.DataFrame, *, bound: float) -> list[float]:
    """Return the test error at both ends of the line between two nets less their bound."""
    line = table[table["part"] == "line"]
    ends = [line.loc[(line["x"] - place).abs() <= AT_ZERO, "error"] for place in (0.0, 1.0)]
    if any(end.empty for end in ends):
        raise MissingRows("the table has no line between two nets")
    return [float(end.mean()) - bound for end in ends]


def errors_of(
    nets: Mapping[str, Where], *, x: str = "lambda", **where: str | float | bool
) -> Layout:
    """Return the table of some nets' test errors at the centre of a curve.

    nets: their names, and which rows of the table are theirs. where: which curve is taken; all
    of a net's have one error there.
    """
    return Layout(
        rows=tuple(Line(name, where={x: 0.0, **own}) for name, own in nets.items()),
        columns=(Line("test error"),),
        cell=Cell("error", unit="%", scale=0.01, digits=1),
        where=where,
        title="Test error of the net" if len(nets) == 1 else "Test errors of the nets",
        ours=True,
    )
