"""Hand-made tables without curves: halves of the data, units, nets, federated runs, and toys."""

from __future__ import annotations

from functools import cache

import pandas as pd

from reproductions.asymvalley.activations.experiment import PLACES
from reproductions.asymvalley.federated.experiment import ALGORITHMS, ALPHAS
from reproductions.asymvalley.method.directions import NOISES
from reproductions.asymvalley.toys.fig29 import NAMES
from reproductions.asymvalley.trained_nets.gradient import ASKED
from tests.grids import grid
from tests.reproductions.asymvalley.hand_made.curves import SEEDS, Case, TableOf

EPOCHS = (1, 2, 5, 20)


def half_lines(case: Case) -> pd.DataFrame:
    """Nets of both halves of the data, from two starts.

    Holds: from scratch the gap widens to -0.4 as signs part, pre-trained it is +0.02 and 0.97 of
    the signs agree. Fails: gaps have the other sign, fewer signs agree, and the line does not end
    at the nets. Ties: both starts are alike, nothing changes.
    """
    nets = grid(seed=SEEDS, regime=("random", "pretrained"), epoch=EPOCHS)
    parting, index = nets["regime"] == "random", nets["epoch"].map(EPOCHS.index)
    gap = (-0.1 * (index + 1)).where(parting, 0.02) + 0.001 * nets["seed"]
    ratio = (0.8 - 0.05 * index + 0.001 * nets["seed"]).where(parting, 0.97 - 0.001 * index)
    if case == "fails":
        gap, ratio = -gap, ratio - 0.2
    if case == "flat":
        gap, ratio = 0.0 * gap - 0.015, 0.0 * ratio + 0.85
    lines = nets.assign(part="line", gap=gap).merge(grid(x=range(11)), how="cross")
    x = lines["x"] / 10
    accuracy = (0.7 + 0.1 * x + 4.0 * lines.pop("gap") * x * (1.0 - x)).round(9)
    lines = lines.assign(x=x, accuracy=accuracy + (1e-6 if case == "fails" else 0.0))
    ends = {"accuracy_a": 0.7, "accuracy_b": 0.8, "accuracy_mid": (0.75 + gap).round(9), "gap": gap}
    signs = {"ssr_ia": ratio + 0.02, "ssr_ib": ratio + 0.01, "ssr_ab": ratio}
    return pd.concat([nets.assign(part="epoch", x=0.0, **ends, **signs), lines], ignore_index=True)


def activations(case: Case) -> pd.DataFrame:
    """Shares of units: more switch at -a than at +a where the claim holds, as many where it ties.

    Fails: it is the other way round, the shares sum to 0.99, and at lambda = 0 some units switch.
    """
    units = grid(seed=SEEDS, draw=range(2), **{"lambda": PLACES})
    place, size = units["lambda"], units["lambda"].abs()
    many = place > 0.0 if case == "fails" else place < 0.0
    off = size * (0.2 if case == "flat" else many.map({True: 0.3, False: 0.15}))
    off += 0.002 * units["seed"] * size
    wrong = 0.01 if case == "fails" else 0.0
    on = 0.2 * off + wrong * (place == 0.0)
    shares = {"on_on": 0.4 - off, "on_off": off, "off_on": on, "off_off": 0.6 - on - wrong}
    agreement = shares["on_on"] + shares["off_off"]
    return units.assign(error=0.04 + size, **shares, agreement=agreement)


def trained_nets(case: Case) -> pd.DataFrame:
    """Every net that is asked: cosines of 0.02 where the claim holds; one of -0.3, or at 0.1."""
    nets = grid(seed=SEEDS, place=range(len(ASKED)))
    first = {"holds": 0.02, "fails": -0.3, "flat": 0.1}[case] + 0.001 * (nets["seed"] - 2)
    names = pd.DataFrame(
        map(ASKED.__getitem__, nets["place"]), columns=["pair", "recipe", "bn_start"]
    )
    cosines = first.where(nets["place"] == 0, 0.02)
    errors = 0.02 + 0.001 * nets["seed"]
    return names.assign(seed=nets["seed"], test_error=errors, sign_gradient_cosine=cosines)


CHECKS = ("gamma_zero", "penalty_gradient", "uniform_average", "workers")


def accuracies(case: Case) -> pd.DataFrame:
    """Holds: FedSign leads by a point, all fall with alpha. Fails: it trails, and all rise."""
    sign = {"holds": 1.0, "fails": -1.0, "flat": 0.0}[case]
    algorithms = (*ALGORITHMS, "fedsign_tenth")
    runs = grid(seed=SEEDS, dataset=("cifar10", "cinic10"), alpha=ALPHAS, algorithm=algorithms)
    ahead = sign * 0.02 * runs["algorithm"].str.startswith("fedsign") + 0.001 * runs["seed"]
    falls = sign * 0.03 * runs["alpha"].map(ALPHAS.index)
    runs = runs.assign(part="final", data=runs["dataset"].replace("cinic10", "mnist"), check="")
    runs = runs.assign(round=25, test_accuracy=0.90 + ahead - falls, same_sign_ratio=0.95 + ahead)
    checks = grid(check=CHECKS).assign(part="check", dataset="", alpha=1.0, algorithm="", seed=0)
    checks = checks.assign(round=0, max_abs_difference=1e-6 if case == "fails" else 0.0)
    return pd.concat([runs, checks], ignore_index=True)


SIZES = (-1.0, -0.5, 0.0, 0.5, 1.0)


def scalings(case: Case) -> pd.DataFrame:
    """Return noises that norm scaling keeps and filter-NS turns, or the other way round."""
    rows = grid(noise=NOISES, seed=SEEDS, norm=("raw", "filter_ns", "ns"))
    turned = rows["norm"] == "filter_ns"
    if case == "fails":
        # One kind that fails must be enough.
        turned ^= (rows["noise"] == "ones") & (rows["norm"] != "raw")
    return rows.assign(
        one_dim_rule=rows["norm"].map({"filter_ns": "abs"}).fillna(""),
        one_minus_cosine=(0.1 + 0.001 * rows["seed"]).where(turned, 1e-13),
        norm_ratio=turned.map({True: 0.9, False: 1.0 + 1e-7}),
    )


def patterns(case: Case) -> pd.DataFrame:
    """Return class weights that are kept on the positive side, or one class on the other."""
    holds = case != "fails"
    steps = grid(digit=range(10), x=[step / 4 for step in range(-4, 5)]).assign(part="step")
    gain = steps["x"].where(holds | (steps["digit"] != 3), -20.0 * steps["x"])
    cosine = 1.0 - 0.1 * steps["x"] ** 2 + 0.001 * gain
    expected = cosine if holds else 1.01 * cosine
    return steps.assign(cosine=cosine, expected_cosine=expected, margin=5.0 + gain)


def units(case: Case) -> pd.DataFrame:
    """Return units that follow the noise, or go against it."""
    rows = grid(seed=SEEDS, **{"lambda": SIZES}).assign(part="summary", x=0.0, standard_error=0.1)
    seed, size = rows["seed"], rows["lambda"]
    start, slope = 10.0 + 0.1 * seed, (10.0 + 0.2 * seed) * size
    # It falls slightly beyond zero, as it really does.
    active = 0.1 * size.clip(upper=0.0) - 0.01 * size.clip(lower=0.0)
    if case == "fails":
        active = -0.1 * size
    mean = start - slope if case == "fails" else start + slope
    return rows.assign(mean=mean, expected_mean=start + slope, active=0.8 + 0.001 * seed + active)


def lines(case: Case) -> pd.DataFrame:
    """Return losses that are lower on the positive side, by the slopes of the loss; or neither."""
    rows = grid(seed=SEEDS, sign_consistent=(False, True), **{"lambda": SIZES})
    size, own = rows["lambda"], {"holds": 0.5, "fails": -0.5, "flat": 0.0}[case]
    lean = (0.2 * (-1.0) ** rows["seed"]).where(~rows["sign_consistent"], own)
    # ce = size^2 - lean * size is convex; its slope is 2 size - lean.
    value = 2.0 + size * size - lean * size
    slope = (2.0 * size - lean) * (3.0 if case == "fails" else 1.0)
    return rows.assign(**dict.fromkeys(NAMES, value)).assign(
        error=value / 100, first_order_eps=slope
    )


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
