"""Table 1: test accuracy of six federated algorithms on Dirichlet splits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import pairwise

from harness.declare import (
    CHECK,
    PAPER,
    Cell,
    Criterion,
    Layout,
    Line,
    Scope,
    Task,
    at_least,
    bind,
    claims,
    equal,
    monotone,
    more_than,
)
from reproductions.asymvalley.federated import quantities as q
from reproductions.asymvalley.federated import table
from reproductions.asymvalley.federated.experiment import (
    ALPHAS,
    SMALL,
    identities,
    runs,
    searches,
)
from reproductions.asymvalley.models.scopes import TRAINED

DATASETS = {"cifar10": "CIFAR-10", "cinic10": "CINIC-10"}
NAMES = {
    "fedavg": "FedAvg",
    "fedprox": "FedProx",
    "moon": "MOON",
    "feddyn": "FedDyn",
    "fedpan": "FedPAN",
    "fedsign": "FedSign",
}


COEFFICIENTS = {
    "fedavg": ("weight decay", 5),
    "fedprox": ("mu", 3),
    "moon": ("mu", 2),
    "feddyn": ("a", 3),
    "fedpan": ("amplitude", 2),
    "fedsign": ("gamma", 4),
}
"""What each algorithm's search chooses, and decimals that show every candidate."""


def rows_with(coefficients: bool) -> Iterator[Line]:
    """Yield a row for each algorithm, or for its coefficient."""
    for algorithm, name in NAMES.items():
        word, digits = COEFFICIENTS[algorithm]
        yield Line(
            f"{name}: {word}" if coefficients else name,
            where={"algorithm": algorithm},
            cell=Cell("coefficient", digits=digits, remark=q.remark) if coefficients else None,
        )


def layout_of(
    cell: Cell, *, title: str, note: str, seed: int | None = None, ours: bool = False
) -> Layout:
    """Return Table 1 with a value of the final global models in its cells.

    seed: of this one alone; by default the mean over those that were run.
    """
    return Layout(
        rows=tuple(rows_with(coefficients=cell.value == "coefficient")),
        columns=tuple(
            Line(f"alpha = {alpha:g}", group=head, where={"dataset": dataset, "alpha": alpha})
            for dataset, head in DATASETS.items()
            for alpha in ALPHAS
        ),
        cell=cell,
        where={"part": "final"} | ({} if seed is None else {"seed": seed}),
        title=title,
        notes=(note,),
        ours=ours,
    )


ACCURACY = Cell("test_accuracy", unit="%", scale=0.01)
LAYOUT = (
    layout_of(
        ACCURACY,
        title="Test accuracy",
        note="One seed alone does not compare with a mean over several, whose splits differ: the"
        " next table has the seed that all have. At cpu K = {num_clients} clients, Q ="
        " {participation}, T = {rounds} rounds, E = {local_epochs}, B = {batch_size}; the paper's"
        " are listed below. Its accuracies are not at hand as numbers.".format_map(SMALL),
        ours=True,
    ),
    layout_of(
        ACCURACY,
        title="Test accuracy of seed 0 alone, which every algorithm has",
        note="One split, one start and one choice of clients for all six; no spread can be given.",
        seed=0,
    ),
    layout_of(
        Cell("same_sign_ratio", unit="%", scale=0.01),
        title="Parameters of a client that keep the sign of the global model",
        note="The paper prints no such table. FedSign's follow the gamma that its search chose at"
        " each alpha, see the next table, more than alpha itself.",
    ),
    layout_of(
        Cell("coefficient", remark=q.remark),
        title="Coefficient that the search chose of three",
        seed=0,
        note="One search for each cell, shared by its seeds, on validation images. FedPAN's"
        " encodings differ in more than their amplitude. (end): the first or the last of the three,"
        " so that one beyond them may be better.",
    ),
)
WHERE = "Table 1 and section 6.2"
OBJECTIVE = "section 6.2, the objective of FedSign"
RUN = replace(
    TRAINED,
    elsewhere="two rounds of four clients show the path, not what an algorithm comes to",
)
ONLY_PAPER = RUN.at(
    *PAPER, elsewhere="only the paper's own nets, data and rounds can show an order of six"
)
SMALL = CHECK.at("smoke", "cpu", elsewhere="it does not depend on scale: smoke and cpu decide it")
FINITE_DIFFERENCES = 1e-8
"""Central differences of a smooth function with steps of 1e-6 in float64."""
AT_ALPHAS = [f"alpha {alpha:g}" for alpha in sorted(ALPHAS)]
STEPS_OF_ALPHA = [f"alpha {low:g} to {high:g}" for low, high in pairwise(sorted(ALPHAS))]
LESS_FEDAVG = "accuracy of FedSign less that of FedAvg"
Declared = tuple[str, Scope, Criterion, str]


def on_dataset(dataset: str, name: str) -> Iterator[Declared]:
    """Yield the claims on one data set."""
    edge = partial(q.chosen_at_edge, datasets=(dataset,))
    mean_gain = partial(q.mean_gain, dataset=dataset)
    of_two = partial(edge, algorithms=("fedsign", "fedavg"))
    yield (
        f"fedsign_keeps_up_{dataset}",
        RUN,
        at_least(partial(q.gains, dataset=dataset), -0.005, "accuracy")
        .unless(of_two)
        .naming(*AT_ALPHAS)
        .measuring(LESS_FEDAVG),
        f"On {name}, FedSign is at most half a point behind FedAvg at each of the three alphas.",
    )
    yield (
        f"fedsign_gains_{dataset}",
        RUN,
        more_than(mean_gain, 0, "accuracy").unless(of_two).measuring(LESS_FEDAVG),
        f"On {name}, FedSign is ahead of FedAvg in the mean over alphas.",
    )
    signs = partial(q.gains, dataset=dataset, value=q.SAME_SIGN)
    yield (
        f"signs_kept_{dataset}",
        RUN,
        more_than(signs, 0, "share of parameters")
        .unless(of_two)
        .naming(*AT_ALPHAS)
        .measuring("signs kept under FedSign less those under FedAvg"),
        f"On {name}, clients keep more of the global model's signs under FedSign than under"
        " FedAvg, at each alpha: the penalty is made for that.",
    )
    yield from alike_is_easier(dataset, name)


def alike_is_easier(dataset: str, name: str) -> Iterator[Declared]:
    """Yield, per algorithm, the claim on data sets whose clients are more alike."""
    for algorithm, title in NAMES.items():
        accuracies = partial(q.accuracies, dataset=dataset, algorithm=algorithm)
        yield (
            f"alike_is_easier_{dataset}_{algorithm}",
            RUN,
            monotone(accuracies, "accuracy", slack=0.01)
            .unless(partial(q.chosen_at_edge, datasets=(dataset,), algorithms=(algorithm,)))
            .naming(*STEPS_OF_ALPHA),
            f"On {name}, from one alpha to the next larger {title} loses at most one point of"
            " accuracy.",
        )


def identity(check: str, statement: str, tolerance: float = 0.0) -> Declared:
    """Return the check that both sides of an identity agree."""
    quantity = partial(q.largest_difference, check=check)
    return check, SMALL, equal(quantity, 0, "", tolerance=tolerance), statement


task = Task(
    "asymvalley/tab01",
    reads=(runs, searches, identities),
    table=table.ACCURACIES,
    layout=LAYOUT,
    claims=claims(
        WHERE,
        *(declared for dataset, name in DATASETS.items() for declared in on_dataset(dataset, name)),
        (
            "fedsign_leads",
            ONLY_PAPER,
            more_than(partial(q.leads, datasets=tuple(DATASETS)), 0, "accuracy")
            .in_at_least(4)
            .unless(partial(q.chosen_at_edge, datasets=tuple(DATASETS), algorithms=tuple(NAMES))),
            "FedSign has the highest accuracy of all six in at least 4 of the 6 cells.",
        ),
    )
    + claims(
        OBJECTIVE,
        identity(
            "gamma_zero",
            "FedSign with gamma = 0 is FedAvg: equal bits in the global model after all rounds.",
        ),
        identity(
            "penalty_gradient",
            "The gradient of FedSign's penalty is -gamma sign(theta_t) sigma'(theta), by finite"
            " differences, under all three reductions.",
            FINITE_DIFFERENCES,
        ),
    )
    + claims(
        "Algorithm 1",
        identity(
            "uniform_average",
            "The server averages the clients uniformly, running statistics included.",
        ),
    )
    + claims(
        "a promise of ours, not of the paper",
        identity("workers", "A simulation has the same bits whatever the number of workers."),
    ),
    figure=bind("figures:accuracy_panels", datasets=DATASETS, names=NAMES),
    caption="Above: test accuracy of the final global model. Below: share of a client's parameters"
    " that keep the sign of the global model it received, over the second half of the rounds. Mean"
    " over seeds, bars show its standard error. Where some algorithms have fewer seeds than others,"
    " open marks show every one over the seeds that all have: these compare with one another, and"
    " not with filled ones (FedProx, MOON, FedDyn and FedPAN have one seed on CIFAR-10 below"
    " profile `paper`). Coefficients were chosen on validation images, as"
    " many candidates each. The paper's Table 1 is not available as numbers.",
    alt="Dots of six federated algorithms over three values of alpha, test accuracy above and"
    " same-sign ratio below, one column for each data set.",
)
