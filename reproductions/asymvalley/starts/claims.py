"""The task of Figures 7, 21 and 22, which differ in their net alone."""

from __future__ import annotations

from functools import partial

from harness.declare import Criterion, Scope, Task, at_least, at_most, claims, equal, more_than
from reproductions.asymvalley.models.controls import at_centre
from reproductions.asymvalley.models.curves import widest_centre
from reproductions.asymvalley.models.errors import errors_of
from reproductions.asymvalley.models.pairs import Pair, paper_name
from reproductions.asymvalley.models.scopes import CALIBRATED, ON_A_CPU, TRAINED
from reproductions.asymvalley.starts import quantities as q
from reproductions.asymvalley.starts import table
from reproductions.asymvalley.starts.experiment import batch_norm_starts

STARTS = {"ones": "1", "uniform": "U(0,1)", "gaussian": "G(0,0.1)"}
CAPTION = (
    "Weights of batch normalization that start at 1, at U(0,1) and at G(0,0.1), one"
    " column each. First row: their distribution after training, over all seeds, and how many"
    " are positive. Other rows: test error under {0,1} noise of width s, on all parameters"
    " norm-scaled and filter-normalized, and on the BN weights alone. Lines are means over"
    " seeds and draws; bands reach to the extremes."
)
ALT = (
    "Three columns, one for each start of the BN weights, with rows for their distribution"
    " after training and for three kinds of valley of test error against lambda."
)
POSITIVE = {"ones": "start at 1", "uniform": "start at U(0,1)"}


def start_task(word: str, pair: Pair, *, place: str = "") -> Task:
    """Return the task of how the start of a net's BN weights shapes its valley.

    place: where else than in the figure the paper says it.
    """
    where, net = f"Figure {int(word[3:])}{place}", paper_name(pair)
    one_centre = (
        "one_centre",
        ON_A_CPU,
        equal(partial(widest_centre, by=("bn_start",), x="x"), 0, "error"),
        "All curves of one net have the same error at lambda = 0.",
    )
    more_asymmetric = (
        "positive_starts_are_more_asymmetric",
        well_trained(TRAINED, pair),
        # The paper states no side: its explanation, by BN weights that are positive, does.
        more_than(partial(q.filter_gains, starts=tuple(POSITIVE)), 0, "error")
        .naming(*POSITIVE.values())
        .measuring("asymmetry less that after a start at G(0,0.1), at the smallest s"),
        f"{net} has a more asymmetric valley when its BN weights start positive than at G(0,0.1).",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(batch_norm_starts,),
        table=table.starts(pair),
        claims=claims(where, one_centre, more_asymmetric)
        + claims(f"ours, beside {where}", *questions(pair)),
        layout=errors_of(
            {f"start at {name}": {"bn_start": start} for start, name in STARTS.items()},
            x="x",
            part="curve",
            norm="ns",
            group="all",
            s=1.0,
            draw=0,
        ),
        figure="figures:start_panels",
        caption=CAPTION,
        alt=ALT,
    )


def well_trained(scope: Scope, pair: Pair) -> Scope:
    """Return a scope that asks the net of every start to err no more than it may."""
    return at_centre(scope, pair, by=("bn_start",), x="x")


def questions(pair: Pair) -> tuple[tuple[str, Scope, Criterion, str], ...]:
    """Return what we ask beside them, of noise on the BN weights alone."""
    net, asked = paper_name(pair), well_trained(CALIBRATED.asked_by_us(), pair)
    bn_noise = (
        "bn_noise_is_asymmetric",
        asked,
        at_least(partial(q.bn_asymmetries, starts=tuple(POSITIVE)), 0.10, "error")
        .naming(*POSITIVE.values())
        .measuring("mean over the negative side less that over the positive side, s = 1"),
        f"Noise on the BN weights alone gives {net} an asymmetric valley where they started"
        " positive.",
    )
    shares = partial(q.bn_asymmetry_shares, start="gaussian", others=tuple(POSITIVE))
    symmetric = (
        "gaussian_start_is_symmetric",
        asked,
        at_most(shares, 0.33, "ratio")
        .naming(*(f"beside the {name}" for name in POSITIVE.values()))
        .measuring("asymmetry over that after a positive start"),
        f"Noise on the BN weights alone gives {net} a nearly symmetric valley where they"
        " started at G(0,0.1).",
    )
    return bn_noise, symmetric
