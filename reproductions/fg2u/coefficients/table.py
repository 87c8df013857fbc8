"""The table of Figure 2: a row per solution, fit or derivative, by panel; and how it is printed."""

from __future__ import annotations

from harness.declare import (
    Cell,
    Frame,
    Layout,
    Line,
    Table,
    Tables,
    columns_of,
    measured,
    param,
    seed_column,
    value,
)
from reproductions.fg2u.coefficients.experiment import Inverse, forwards, inverses, slopes

PDE_NAMES = {"burgers": "Burgers", "allen_cahn": "Allen-Cahn", "kdv": "KdV"}
METHODS = {
    "pinn": "PINN, (FG)²U",
    "single": "numerical, (FG)²U-ZO",
    "quadrature": "numerical, (FG)²U-ZO as released",
    "exact": "numerical, (FG)²U",
}
SERIES = {"pinn": "fg2u pinn", "single": "fg2u-zo numerical"}
"""The paper's, of the methods that it has."""
NUM_OBSERVED = 64
NOTHING: dict[str, str | float] = {"str": "none", "int": 0, "float": 0.0}
"""What stands for a parameter that a row has not, by its type."""


def coefficient_rows(tables: Tables) -> Frame:
    """Return the rows of all panels, one above the other; a profile may lack some."""
    import pandas as pd

    parts = []
    for experiment, made in ((forwards, _forward), (inverses, _inverse), (slopes, _slope)):
        if experiment.id in tables and len(tables[experiment.id]):
            # Rows of one trial share a label.
            parts.append(made(tables[experiment.id].reset_index(drop=True)))
    found = pd.concat(parts, ignore_index=True).reindex(columns=FITTED.names)
    params = [column for column in FITTED.columns if column.role == "param"]
    # What no seed is for stands with the first.
    first = 0 if found["seed"].isna().all() else found["seed"].min()
    return found.fillna({**{each.name: NOTHING[each.type] for each in params}, "seed": first})


def _forward(rows: Frame) -> Frame:
    method = ("pinn_" + rows["optimizer"]).where(rows["solver"] == "pinn", "numerical")
    return rows.assign(
        panel="forward", pde="burgers", method=method, inner_optimizer=rows["optimizer"]
    )


def _inverse(rows: Frame) -> Frame:
    net = rows["method"] == "pinn"
    estimators = {"single": "fg2u-zo", "quadrature": "fg2u-zo", "exact": "fg2u", "pinn": "fg2u"}
    grid = rows["method"] == "quadrature"
    central = grid & (rows["pde"] == "allen_cahn")
    scheme = rows["method"].map({"single": "forward", "quadrature": "forward"}).fillna("none")
    return rows.assign(
        panel="inverse", solver=net.map({True: "pinn", False: "numerical"}),
        inner_optimizer=net.map({True: "sgd", False: "none"}),
        estimator=rows["method"].map(estimators), num_observed=rows["side"] ** 2,
        directions=grid.map({True: "gauss-grid", False: "rademacher"}),
        num_directions=grid.map({True: 12, False: 1}), scheme=scheme.mask(central, "central"),
    )  # fmt: skip


def _slope(rows: Frame) -> Frame:
    forward = rows["method"] == "fg2u"
    return rows.assign(
        panel="slope", solver="numerical", num_observed=NUM_OBSERVED,
        estimator=forward.map({True: "fg2u", False: "fg2u-zo"}),
    )  # fmt: skip


FITTED = Table.of(
    param(
        "panel", str, "forward: Burgers solved at its true coefficient; inverse: a coefficient"
        " fitted; slope: derivatives of the misfit.",
    ),
    param("pde", str, "Equation."),
    param("method", str, "How it is solved, or how the coefficient's derivative is taken."),
    param("solver", str, "numerical or pinn."),
    param("inner_optimizer", str, "What trains the net; none without."),
    param("inner_steps", int, "Its steps so far; 0 without."),
    param("train_steps", int, "Steps of the whole training, in the panels of solutions."),
    param("num_points", int, "Points of the numerical solver; 0 without."),
    param("num_steps", int, "Its steps per unit of time; 0 without."),
    param("num_observed", int, "Observations."),
    columns_of(Inverse, "noise", "learned", "outer_steps", "lr"),
    param("estimator", str, "fg2u or fg2u-zo."),
    param("num_directions", int, "b."),
    param("directions", str, "Their kind."),
    param("scheme", str, "Of differences."),
    param("mu", float, "Step of differences; 0 without."),
    seed_column("One solution or fit: initial coefficient, weights and points of a net."),
    value("initial", float, "Coefficient from which the descent starts.", nullable=True),
    value("coefficient", float, "Coefficient that was found.", nullable=True),
    value("eps_phi", float, "Its relative error.", nullable=True),
    value("eps_u", float, "Relative L2 error of the solution on the data's grid.", nullable=True),
    value("misfit", float, "Mean square at the observations, before the last step.", nullable=True),
    value("slope_error", float, "Relative distance from the derivative in reverse.", nullable=True),
    value("reached", bool, "Whether eps_u is at most 1e-2: where no row of a training has it, its"
          " seconds to there are censored.", nullable=True),
    measured("solve_s", float, "Seconds of a solution, a training up to here.", nullable=True),
    measured("total_s", float, "Seconds of all derivatives of a fit.", nullable=True),
    measured("load_average", float, "Over one minute, before the first sample.", nullable=True),
    make=coefficient_rows,
)  # fmt: skip


LAYOUT = Layout(
    rows=tuple(
        Line(
            name, where={"method": method},
            paper={"series": SERIES[method]} if method in SERIES else {},
        )
        for method, name in METHODS.items()
    ),
    columns=tuple(
        Line(
            head, group=name, where={"pde": pde}, paper={"series": pde, "y_name": column},
            cell=Cell(column, unit=unit, scale=scale, digits=2),
        )
        for pde, name in PDE_NAMES.items()
        for head, column, unit, scale in (
            ("coefficient", "eps_phi", "1e-2", 1e-2), ("solution", "eps_u", "1e-3", 1e-3)
        )
    ),
    where={"panel": "inverse", "num_observed": NUM_OBSERVED, "noise": 0.0},
    title="Relative L2 errors of the coefficient and of the solution, 64 observations",
    notes=(
        "The last two rows are ours: the released code's twelve nodes, and exact derivatives"
        " through the solver.",
    ),
)  # fmt: skip
