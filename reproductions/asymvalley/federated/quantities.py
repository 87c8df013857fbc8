"""Quantities of Table 1: accuracies and same-sign ratios of federated runs."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from harness.declare import Frame, InvalidQuantity, MissingRows, pick
from reproductions.asymvalley.federated.experiment import (
    ALGORITHMS,
    COEFFICIENTS,
    PAPER_CANDIDATES,
    Algorithm,
)
from reproductions.asymvalley.models.pairs import DATA

ACCURACY = "test_accuracy"
SAME_SIGN = "same_sign_ratio"


def by_alpha(
    table: Frame, *, dataset: str, algorithm: str, value: str = ACCURACY
) -> dict[float, float]:
    """Return a value of an algorithm's final global models by alpha, ascending; one seed.

    Raises MissingRows without any run of the data set; InvalidQuantity where the algorithm was
    not run at an alpha that another one was run at, or diverged there.
    """
    runs, name = pick(table, part="final", dataset=dataset), DATA[dataset].name
    chosen = runs[runs["algorithm"] == algorithm].set_index("alpha")
    own = chosen[value].astype(float)
    alphas = sorted(float(alpha) for alpha in runs["alpha"].unique())
    for alpha in alphas:
        if alpha not in own.index:
            raise InvalidQuantity(f"{algorithm} was not run on {name} with every seed")
        if own[alpha] != own[alpha]:
            raise InvalidQuantity(f"{algorithm} diverged on {name} at alpha = {alpha:g}")
    return {alpha: float(own[alpha]) for alpha in alphas}


def chosen_at_edge(table: Frame, *, datasets: Sequence[str], algorithms: Sequence[str]) -> str:
    """Return which coefficient was chosen at the edge of its candidates, or nothing; whole table.

    The first of them is named, and how many there are.
    """
    runs = pick(table, part="final")
    runs = runs[runs["dataset"].isin(datasets) & runs["algorithm"].isin(algorithms)]
    # One choice for each cell of Table 1, whatever its seeds.
    columns = ["algorithm", "dataset", "alpha", "candidate", "candidates"]
    cells = runs[columns].drop_duplicates()
    at_edge = cells[[remark(cells[n : n + 1]) != "" for n in range(len(cells))]]
    if at_edge.empty:
        return ""
    one = at_edge.iloc[0]
    return (
        f"in {len(at_edge)} of {len(cells)} cells the coefficient is the first or last one tried:"
        f" {one['algorithm']} chose {one['candidate']} of {one['candidates']} on"
        f" {DATA[one['dataset']].name} at alpha = {one['alpha']:g}"
    )


def remark(rows: Frame) -> str:
    """Return `end` where a choice in a cell of Table 1 is the first or last of its candidates.

    Another coefficient may be better then. Position encodings have no order; FedSign's three of
    the paper are the paper's own; a single candidate was fixed beforehand.
    """
    chosen = zip(rows["algorithm"], rows["candidate"], rows["candidates"], strict=True)
    for algorithm, choice, tried in chosen:
        if not isinstance(tried, str) or ":" in tried:
            continue
        candidates = tried.split()
        fixed = len(candidates) == 1 or (algorithm, tried) == (
            "fedsign",
            PAPER_CANDIDATES["fedsign"],
        )
        if not fixed and choice in (candidates[0], candidates[-1]):
            return "end"
    return ""


def gains(
    table: Frame,
    *,
    datasets: Sequence[str],
    value: str = ACCURACY,
    algorithm: Algorithm = "fedsign",
) -> list[float]:
    """Return FedSign's value minus FedAvg's, by data set and ascending alpha; one seed."""
    if not (table["algorithm"] == algorithm).any():
        raise MissingRows(f"the table has no run of {COEFFICIENTS[algorithm].algorithm}")
    found = []
    for dataset in datasets:
        fedsign = by_alpha(table, dataset=dataset, algorithm=algorithm, value=value)
        fedavg = by_alpha(table, dataset=dataset, algorithm="fedavg", value=value)
        found += [fedsign[alpha] - fedavg[alpha] for alpha in fedsign]
    return found


def mean_gain(table: Frame, *, dataset: str, algorithm: Algorithm = "fedsign") -> float:
    """Return the mean of `gains` over alphas."""
    return statistics.fmean(gains(table, datasets=(dataset,), algorithm=algorithm))


def excess_of_fedavg(table: Frame, *, bounds: Mapping[str, float]) -> list[float]:
    """Return the accuracy of FedAvg less its bound, by data set and ascending alpha; one seed."""
    return [
        accuracy - bound
        for dataset, bound in bounds.items()
        for accuracy in by_alpha(table, dataset=dataset, algorithm="fedavg").values()
    ]


def leads(table: Frame, *, datasets: tuple[str, ...]) -> list[float]:
    """Return FedSign's accuracy minus that of each other, by data set and ascending alpha; one
    seed."""
    found = []
    for dataset in datasets:
        by_name = {name: by_alpha(table, dataset=dataset, algorithm=name) for name in ALGORITHMS}
        ours = by_name.pop("fedsign")
        found += [ours[alpha] - own[alpha] for alpha in ours for own in by_name.values()]
    return found


def largest_difference(table: Frame, *, check: str) -> float:
    """Return an identity's largest absolute difference; whole table."""
    return float(pick(table, part="check", check=check)["max_abs_difference"].max())
