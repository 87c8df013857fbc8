"""Table of Table 1, and its view of the experiments' long frames."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.table import Column, Table

if TYPE_CHECKING:
    import pandas as pd

    from harness.declare.table import Tables

RUNS = "asymvalley/federated"
IDENTITIES = "asymvalley/federated_identities"


def _value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(
            name="part",
            type="str",
            role="param",
            doc="final: after the last round; round: the learning curve; check: an identity.",
        ),
        Column(
            name="dataset",
            type="str",
            role="param",
            doc="As the paper names it; a smaller stand-in below profile `paper`; empty in checks.",
        ),
        Column(
            name="alpha",
            type="float",
            role="param",
            doc="Concentration of the Dirichlet split: the smaller, the less clients are alike.",
        ),
        Column(
            name="algorithm",
            type="str",
            role="param",
            doc="fedavg, fedprox, moon, feddyn, fedpan, fedsign; empty in checks.",
        ),
        Column(
            name="check",
            type="str",
            role="param",
            doc="gamma_zero, workers, uniform_average, penalty_gradient; empty in runs.",
        ),
        Column(name="round", type="int", role="param", doc="Rounds done; 0 in checks."),
        Column(
            name="seed",
            type="int",
            role="seed",
            doc="Shared by all algorithms: same start, same split, same clients in every round.",
        ),
        Column(
            name="data",
            type="str",
            role="value",
            doc="What was read in place of the data set; empty in checks.",
            nullable=True,
        ),
        Column(
            name="coefficient_name",
            type="str",
            role="value",
            doc="What was chosen: mu, a, gamma, a position encoding; FedAvg's weight decay.",
            nullable=True,
        ),
        Column(
            name="candidate",
            type="str",
            role="value",
            doc="The choice in full; of an encoding, cycles:operation:amplitude.",
            nullable=True,
        ),
        _value("coefficient", "The choice as a number; of an encoding, its amplitude."),
        Column(
            name="candidates",
            type="str",
            role="value",
            doc="All that were tried at this alpha, at a seed of the search alone.",
            nullable=True,
        ),
        _value("validation_accuracy", "Of the choice, on validation images, in the search."),
        _value("test_accuracy", "Of the global model on the test images; empty if diverged."),
        _value(
            "same_sign_ratio",
            "Share of a client's parameters with the sign of the global model it received, mean"
            " over clients; final: and over the second half of the rounds.",
        ),
        _value(
            "penalty",
            "The method's own loss terms, mean over steps and clients; final: and over the second"
            " half of the rounds.",
        ),
        _value("max_abs_difference", "Between the two sides of an identity; empty in runs."),
    )
)


def view(frames: Tables) -> pd.DataFrame:
    """Return final rows, learning curves and identities in one table."""
    import pandas as pd

    runs = frames[RUNS].assign(check="")
    absent = {"part": "check", "data": None, "dataset": "", "algorithm": "", "round": 0}
    parts = [frame for frame in (runs, frames[IDENTITIES].assign(**absent)) if not frame.empty]
    table = pd.concat([part.reindex(columns=COLUMNS.names) for part in parts])
    order = {"final": 0, "round": 1, "check": 2}
    return table.sort_values("part", key=lambda part: part.map(order), kind="stable")
