"""Weight decays of FedAvg and gammas of FedSign, on validation images."""

from harness.declare import Cell, Layout, Line, Table, Task, columns_of, param, value
from reproductions.asymvalley.federated.experiment import (
    ALPHAS,
    COEFFICIENTS,
    LONG_COLOUR,
    LONG_GREY,
    Search,
)
from reproductions.asymvalley.models.pairs import DATA
from reproductions.asymvalley.pilots.experiment import TRIED, pilot_federated

ACCURACIES = Table.of(
    columns_of(Search, "data", "alpha", "algorithm"),
    param(
        "candidate", str, "Weight decay of FedAvg; gamma of FedSign, whose weight decay is 1e-5."
    ),
    columns_of(Search, "seed"),
    value(
        "validation_accuracy",
        float,
        "Accuracy of the last global model on validation images; empty where it diverged.",
        nullable=True,
    ),
)

task = Task(
    "asymvalley/pilot_federated",
    own_kind="ablation",
    reads=(pilot_federated,),
    table=ACCURACIES,
    layout=Layout(
        rows=tuple(
            Line(
                f"{COEFFICIENTS[name].algorithm}, {COEFFICIENTS[name].word} {candidate}",
                where={"algorithm": name, "candidate": candidate},
            )
            for name, candidates in TRIED.items()
            for candidate in candidates.split()
        ),
        columns=tuple(
            Line(
                f"alpha = {alpha:g}",
                group=DATA[shape["data"]].name,
                where={"data": shape["data"], "alpha": alpha},
            )
            for shape in (LONG_COLOUR, LONG_GREY)
            for alpha in ALPHAS
        ),
        cell=Cell("validation_accuracy", unit="%", scale=0.01, digits=1),
        notes=(
            "{num_clients} clients, {participation} of them a round, {rounds} rounds of"
            " {local_epochs} local epochs in batches of {batch_size}.".format_map(LONG_GREY),
        ),
        ours=True,
    ),
    caption="Accuracy on validation images after the last round. FedSign's gammas are the three of"
    " the paper and a tenth of the smallest; its weight decay is FedAvg's smallest.",
    alt="A table of validation accuracies, a row for each weight decay of FedAvg and gamma of"
    " FedSign, a column for each data set and alpha.",
)
