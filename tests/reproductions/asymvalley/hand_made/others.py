"""Hand-made tables without curves: halves of the data, units, nets, federated runs, and toys."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache

import pandas as pd

from reproductions.asymvalley.activations.experiment import PLACES
from reproductions.asymvalley.federated.experiment import ALGORITHMS, ALPHAS
from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.toys.fig29 import NAMES
from reproductions.asymvalley.trained_nets.gradient import ASKED
from tests.reproductions.asymvalley.hand_made.curves import SEEDS, Case, TableOf

EPOCHS = (1, 2, 5, 20)


def half_lines(case: Case) -> pd.DataFrame:
    """Nets of both halves of the data, from two starts.

    Holds: from scratch the gap widens to -0.4 as signs part, pre-trained it is +0.02 and 0.97 of
    the signs agree. Fails: gaps have the other sign, fewer signs agree, and the line does not end
    at the nets. Ties: both starts are alike, nothing changes.
    """
    rows: list[dict[str, object]] = []
    for seed, regime, (index, epoch) in itertools.product(
        SEEDS, ("random", "pretrained"), enumerate(EPOCHS)
    ):
        parting = regime == "random"
        gap = (-0.1 * (index + 1) if parting else 0.02) + 0.001 * seed
        ratio = 0.8 - 0.05 * index + 0.001 * seed if parting else 0.97 - 0.001 * index
        if case == "fails":
            gap, ratio = -gap, ratio - 0.2
        if case == "flat":
            gap, ratio = -0.015, 0.85
        rows += _half(case, seed, regime, epoch, gap=gap, ratio=ratio)
    return pd.DataFrame(rows)


def _half(
    case: Case, seed: int, regime: str, epoch: int, *, gap: float, ratio: float
) -> Iterator[dict[str, object]]:
    ends = {"accuracy_a": 0.7, "accuracy_b": 0.8}
    place = {"regime": regime, "epoch": epoch, "seed": seed}
    yield {
        **{**place, **ends, "part": "epoch", "x": 0.0, "accuracy_mid": 0.75 + gap},
        **{"gap": gap, "ssr_ia": ratio + 0.02, "ssr_ib": ratio + 0.01, "ssr_ab": ratio},
    }
    for step in range(11):
        x = step / 10
        accuracy = 0.7 + 0.1 * x + 4.0 * gap * x * (1.0 - x)
        accuracy += 1e-6 if case == "fails" else 0.0
        own = {0: 0.7, 5: 0.75 + gap, 10: 0.8}
        if case != "fails" and step in own:
            accuracy = own[step]
        yield {**place, "part": "line", "x": x, "accuracy": accuracy}


def activations(case: Case) -> pd.DataFrame:
    """Shares of units: more switch at -a than at +a where the claim holds, as many where it ties.

    Fails: it is the other way round, the shares sum to 0.99, and at lambda = 0 some units switch.
    """
    rows: list[dict[str, object]] = []
    for seed, draw, place in itertools.product(SEEDS, range(2), PLACES):
        many = (place > 0) if case == "fails" else (place < 0)
        off = abs(place) * (0.2 if case == "flat" else 0.3 if many else 0.15)
        off += 0.002 * seed * abs(place)
        on = 0.2 * off + (0.01 if case == "fails" and place == 0.0 else 0.0)
        off_off = 0.6 - on - (0.01 if case == "fails" else 0.0)
        shares = {"on_on": 0.4 - off, "on_off": off, "off_on": on, "off_off": off_off}
        point = {"draw": draw, "lambda": place, "seed": seed, "error": 0.04 + abs(place)}
        rows.append({**point, **shares, "agreement": shares["on_on"] + shares["off_off"]})
    return pd.DataFrame(rows)


def trained_nets(case: Case) -> pd.DataFrame:
    """Every net that is asked: cosines of 0.02 where the claim holds; one of -0.3, or at 0.1."""
    rows = []
    last = {"holds": 0.02, "fails": -0.3, "flat": 0.1}[case]
    for seed, (place, net) in itertools.product(SEEDS, enumerate(ASKED)):
        cosine, tie = (0.02, 0.0) if place else (last, 0.001 * (seed - 2))
        rows.append(
            {
                **dict(zip(("pair", "recipe", "bn_start"), net, strict=True)),
                **{"seed": seed, "train_error": 0.0, "test_error": 0.02 + 0.001 * seed},
                **{"test_ce": 0.4, "norm": 30.0, "init_sign_agreement": 0.8},
                **{"sign_gradient_cosine": cosine + tie, "bn_positive_share": 0.99},
            }
        )
    return pd.DataFrame(rows)


CHECKS = ("gamma_zero", "penalty_gradient", "uniform_average", "workers")


def accuracies(case: Case) -> pd.DataFrame:
    """Holds: FedSign leads by a point, all fall with alpha. Fails: it trails, and all rise."""
    sign = {"holds": 1.0, "fails": -1.0, "flat": 0.0}[case]
    rows: list[dict[str, object]] = []
    datasets = ("cifar10", "cinic10")
    for seed, dataset, (place, alpha), algorithm in itertools.product(
        SEEDS, datasets, enumerate(ALPHAS), (*ALGORITHMS, "fedsign_tenth")
    ):
        ahead = sign * 0.02 * algorithm.startswith("fedsign")
        cell = {"dataset": dataset, "alpha": alpha, "algorithm": algorithm, "seed": seed}
        found = {
            "test_accuracy": 0.90 + ahead - sign * 0.03 * place + 0.001 * seed,
            "same_sign_ratio": 0.95 + ahead + 0.001 * seed,
        }
        data = "mnist" if dataset == "cinic10" else dataset
        rows.append({"part": "final", **cell, "data": data, "check": "", "round": 25, **found})
    for check in CHECKS:
        cell = {"dataset": "", "alpha": 1.0, "algorithm": "", "seed": 0}
        apart = 1e-6 if case == "fails" else 0.0
        rows.append(
            {"part": "check", **cell, "check": check, "round": 0, "max_abs_difference": apart}
        )
    return pd.DataFrame(rows)


SIZES = (-1.0, -0.5, 0.0, 0.5, 1.0)


def scalings(case: Case) -> pd.DataFrame:
    """Return noises that norm scaling keeps and filter-NS turns, or the other way round."""
    holds, rows = case != "fails", []
    for noise, seed in itertools.product(NOISES, SEEDS):
        wobble = 0.001 * seed
        turned = {"one_minus_cosine": 0.1 + wobble, "norm_ratio": 0.9}
        kept = {"one_minus_cosine": 1e-13, "norm_ratio": 1.0 + 1e-7}
        # One kind that fails must be enough.
        for norm, found in (("raw", kept), ("filter_ns", turned), ("ns", kept)):
            if not holds and noise == "ones" and norm != "raw":
                found = turned if norm == "ns" else kept
            rule = "abs" if norm == "filter_ns" else ""
            place = {"noise": noise, "seed": seed, "norm": norm, "one_dim_rule": rule}
            rows.append(place | found)
    return pd.DataFrame(rows)


def patterns(case: Case) -> pd.DataFrame:
    """Return class weights that are kept on the positive side, or one class on the other."""
    holds, rows = case != "fails", []
    for digit, step in itertools.product(range(10), range(-4, 5)):
        x = step / 4
        gain = x if holds or digit != 3 else -20.0 * x
        cosine = 1.0 - 0.1 * x * x + 0.001 * gain
        rows.append(
            {
                "part": "step",
                "digit": digit,
                "x": x,
                "cosine": cosine,
                "expected_cosine": cosine if holds else 1.01 * cosine,
                "margin": 5.0 + gain,
            }
        )
    return pd.DataFrame(rows)


def units(case: Case) -> pd.DataFrame:
    """Return units that follow the noise, or go against it."""
    holds, rows = case != "fails", []
    for seed, size in itertools.product(range(5), SIZES):
        mean = 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size * (1.0 if holds else -1.0)
        summary = {
            "seed": seed,
            "part": "summary",
            "lambda": size,
            "x": 0.0,
            "mean": mean,
            "expected_mean": 10.0 + 0.1 * seed + (10.0 + 0.2 * seed) * size,
            "standard_error": 0.1,
            # It falls slightly beyond zero, as it really does.
            "active": 0.8 + 0.001 * seed + (0.1 * min(size, 0.0) - 0.01 * max(size, 0.0)),
        }
        if not holds:
            summary["active"] = 0.8 + 0.001 * seed - 0.1 * size
        rows.append(summary)
    return pd.DataFrame(rows)


def lines(case: Case) -> pd.DataFrame:
    """Return losses that are lower on the positive side, by the slopes of the loss; or neither."""
    leans = {"holds": 0.5, "fails": -0.5, "flat": 0.0}
    rows = []
    for seed, consistent, size in itertools.product(range(5), (False, True), SIZES):
        lean = leans[case] if consistent else 0.2 * (-1.0) ** seed
        # ce = size^2 - lean * size is convex; its slope is 2 size - lean.
        value = 2.0 + size * size - lean * size
        row = dict.fromkeys(NAMES, value) | {
            "error": value / 100.0,
            "seed": seed,
            "sign_consistent": consistent,
            "lambda": size,
            "first_order_eps": (2.0 * size - lean) * (3.0 if case == "fails" else 1.0),
        }
        rows.append(row)
    return pd.DataFrame(rows)


_MAKERS: dict[str, TableOf] = {
    "fig11": half_lines,
    "fig28": activations,
    "gradient": trained_nets,
    "tab01": accuracies,
    "fig02": scalings,
    "fig10": patterns,
    "fig27": units,
    "fig29": lines,
}
TABLES: dict[str, TableOf] = {word: cache(make) for word, make in _MAKERS.items()}
"""Made once: to be read, not written."""
