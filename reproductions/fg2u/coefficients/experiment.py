"""PDEs solved by nets and on grids, and the coefficient that observations tell through either."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, get_args

from harness.declare import (
    SMOKE_AND_CPU,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    seed,
    seeds_of,
)

Name = Literal["burgers", "allen_cahn", "kdv"]
Learned = Literal["root", "coefficient"]
LOGGED = (100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000)
"""Steps at which the paper's left panel has a point."""
START_S = 0.3


class Solutions(Params):
    """The exact solutions, and how exact they are."""

    columns: int = doc("Places at which a field is kept.", default=81)
    rows: int = doc("Times at which it is kept.", default=26)


solutions = Experiment(
    "fg2u/pde_solutions",
    version=1,
    params=Solutions,
    # What is exact does not depend on the scale.
    grid=lambda profile: (Solutions(),) if profile in SMOKE_AND_CPU else (),
    run="solutions:solution_rows",
    seed_from=(),
    estimate=lambda params: Estimate(seconds=START_S + 1.2, memory_bytes=2**30),
    address=("columns", "rows"),
)


class Slopes(Params):
    """Derivatives of the misfit by the coefficient, in several ways, for every equation."""

    num_points: int = doc("Points of the solver.", default=64)
    num_steps: int = doc("Its steps per unit of time.", default=200)
    factor: float = doc("At which multiple of the true coefficient.", default=3.0)


slopes = Experiment(
    "fg2u/pde_slopes",
    version=1,
    params=Slopes,
    grid=lambda profile: (Slopes(),) if profile in SMOKE_AND_CPU else (),
    run="slopes:slope_rows",
    seed_from=(),
    estimate=lambda params: Estimate(seconds=START_S + 4.0, memory_bytes=2**30),
    address=("num_points", "num_steps"),
)


class Forward(Params):
    """Burgers at its true coefficient, solved by a net in training or on grids."""

    solver: Literal["pinn", "numerical"] = doc("What solves it.")
    optimizer: Literal["adam", "sgd", "none"] = doc("How the net is trained.")
    num_layers: int = doc("Hidden layers of the net; 0 without.")
    width: int = doc("Their units; 0 without.")
    batch_size: int = doc("Points per step at which the residual is taken; 0 without.")
    lr: float = doc("Step size of the training; 0 without.")
    train_steps: int = doc("Steps of the training; 0 without.")
    device: Literal["cpu", "cuda"] = doc("Where the net is trained.", default="cpu")
    seed: int = seed("One solution: weights and points of the net, and a process that is timed.")


NUMERICAL = Forward(
    solver="numerical", optimizer="none", num_layers=0, width=0, batch_size=0, lr=0.0,
    train_steps=0, seed=0,
)  # fmt: skip
PAPERS_NET = Forward(
    solver="pinn", optimizer="adam", num_layers=9, width=20, batch_size=5000, lr=1e-3,
    train_steps=50000, seed=0,
)  # fmt: skip
CPU_STEPS, GPU_STEPS = 50000, 20000


def forward_grid(profile: Profile) -> Iterator[Forward]:
    """Yield both optimizers and the solver."""
    for number in seeds_of(profile, 1 if profile == "gpu" else 5):
        yield replace(NUMERICAL, seed=number)
        for optimizer in ("adam", "sgd"):
            yield replace(net_of(profile), optimizer=optimizer, seed=number)


def net_of(profile: Profile) -> Forward:
    """Return the net of a profile, trained by Adam: the paper's, with fewer points on a CPU."""
    match profile:
        case "smoke":
            return replace(PAPERS_NET, num_layers=2, width=8, batch_size=32, train_steps=100)
        case "cpu":
            return replace(PAPERS_NET, batch_size=250, train_steps=CPU_STEPS)
        case "gpu":
            return replace(PAPERS_NET, device="cuda", train_steps=GPU_STEPS)
        case "paper":
            return PAPERS_NET


def forward_needs(forward: Forward) -> Needs:
    """Return a machine of its own, as times are measured; a GPU where the point says so."""
    gpu_bytes = 2**31 if forward.device == "cuda" else 0
    return Needs(device=forward.device, gpu_bytes=gpu_bytes, memory_bytes=2**31, exclusive=True)


def forward_estimate(forward: Forward) -> Estimate:
    """Return the time of a step, which grows with the points, and of a thousand solves."""
    if forward.solver == "numerical":
        return Estimate(seconds=START_S + 5.0, memory_bytes=2**30)
    size = forward.num_layers * forward.width * forward.batch_size
    step_s = 0.008 if forward.device == "cuda" else 5e-4 * forward.num_layers + 4e-8 * size
    return Estimate(seconds=START_S + step_s * forward.train_steps, memory_bytes=2**31)


def forward_stands_in(forward: Forward) -> dict[str, str]:
    """Return how a net, or a step of its training, is less than the paper's."""
    if forward.solver == "numerical":
        return {}
    lesser = []
    if (forward.num_layers, forward.width) != (PAPERS_NET.num_layers, PAPERS_NET.width):
        lesser.append(f"{forward.num_layers} layers of {forward.width}")
    if forward.batch_size != PAPERS_NET.batch_size:
        lesser.append(f"{forward.batch_size} of {PAPERS_NET.batch_size:,} points per step")
    return {"net in training": ", ".join(lesser)} if lesser else {}


forwards = Experiment(
    "fg2u/pde_forward",
    version=1,
    params=Forward,
    grid=forward_grid,
    run="forward:forward_rows",
    dry_run="dry_run:of_forward",
    needs=forward_needs,
    estimate=forward_estimate,
    timeout_s=48 * 3600.0,
    address=("solver", "optimizer", "train_steps", "seed"),
    stands_in=forward_stands_in,
)


class Inverse(Params):
    """A coefficient that is descended to from observations."""

    pde: Name = doc("Equation.")
    method: Literal["single", "quadrature", "exact", "pinn"] = doc(
        "single: (FG)2U-ZO as Table F.3 has it, one Rademacher direction and a forward difference"
        " of the loss. quadrature: as the released code has it, twelve nodes and differences of the"
        " solution at the observations. exact: (FG)2U's forward derivative through the solver."
        " pinn: the same through the training of a net."
    )
    side: int = doc("Observations along either axis.", default=8)
    noise: float = doc("Standard deviation of what is added to them.", default=0.0)
    learned: Learned = doc("What is descended in: the coefficient, or its square root.")
    low: float = doc("Least initial coefficient.")
    high: float = doc("Largest.")
    drawn: Literal["log", "even"] = doc("How the initial coefficient is drawn between them.")
    outer_steps: int = doc("Steps of Adam on the coefficient.")
    lr: float = doc("Their size.")
    mu: float = doc("Step of differences; 0 without.", default=1e-4)
    num_points: int = doc("Points of the numerical solver; 0 without.")
    num_steps: int = doc("Its steps per unit of time; 0 without.")
    num_layers: int = doc("Hidden layers of the net; 0 without.", default=0)
    width: int = doc("Their units; 0 without.", default=0)
    batch_size: int = doc("Points per inner step; 0 without.", default=0)
    inner_steps: int = doc("Steps of SGD on the net, T; 0 without.", default=0)
    inner_lr: float = doc("Their size; 0 without.", default=0.0)
    seed: int = seed("One fit: initial coefficient, directions, weights and points of the net.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """What differs between the equations."""

    learned: Learned
    """As in the released scripts."""
    low: float
    high: float
    """Least and largest initial coefficient of the released scripts, within the range of F.3."""
    widest: float
    """Upper end of F.3's range."""
    lr: float
    """Elsewhere than at `paper`."""
    papers_lr: float
    """Table F.3, for 5,000."""
    num_points: int
    num_steps: int


CASES: dict[Name, Case] = {
    "burgers": Case(
        learned="root", low=1.0856e-3, high=4.18105e-1, widest=10.0, lr=1e-2, papers_lr=1e-2,
        num_points=512, num_steps=200,
    ),
    "allen_cahn": Case(
        learned="root", low=2.1823e-3, high=1e-1, widest=0.1, lr=1e-2, papers_lr=1e-2,
        num_points=256, num_steps=100,
    ),
    "kdv": Case(
        learned="coefficient", low=2.23907e-3, high=9.17509e-3, widest=0.01, lr=5e-5,
        papers_lr=1e-3, num_points=128, num_steps=200,
    ),
}  # fmt: skip
LEAST = 1e-6
"""Coefficient below which no descent goes."""
OUTER_STEPS = {"smoke": 2, "cpu": 400, "paper": 5000}
NUMERICAL_METHODS = ("single", "quadrature", "exact")
FEWER_SIDES = (2, 5)
"""Observations along an axis, on Burgers, below the paper's 8."""


def inverse_of(profile: Profile, pde: Name, method: str, *, seed: int) -> Inverse:
    """Return a fit at a profile; at `paper` Table F.3's own grid and start."""
    case = CASES[pde]
    numerical = method in NUMERICAL_METHODS
    found = Inverse(
        pde=pde,
        method=method,  # type: ignore[arg-type]
        learned=case.learned,
        low=case.low,
        high=case.high,
        drawn="log",
        outer_steps=OUTER_STEPS[profile],
        lr=case.lr,
        mu=1e-4 if method in ("single", "quadrature") else 0.0,
        num_points=case.num_points if numerical else 0,
        num_steps=case.num_steps if numerical else 0,
        seed=seed,
    )
    if profile == "paper":
        # 512 steps do not divide into the data's times.
        steps = 600 if pde == "kdv" else 500
        found = replace(
            found, learned="coefficient", lr=case.papers_lr, low=LEAST, high=case.widest,
            drawn="even", num_points=256 if numerical else 0, num_steps=steps if numerical else 0,
        )  # fmt: skip
    return found if numerical else with_net(profile, found)


def with_net(profile: Profile, fit: Inverse) -> Inverse:
    """Return a fit through the training of a net; at `paper` of Table F.3's."""
    match profile:
        case "smoke":
            return replace(fit, num_layers=2, width=8, batch_size=16, inner_steps=2, inner_lr=1e-2)
        case "paper":
            return replace(
                fit, num_layers=9, width=20, batch_size=5000, inner_steps=1000, inner_lr=1e-3
            )
        case _:
            return replace(
                fit, num_layers=3, width=20, batch_size=100, inner_steps=20, inner_lr=5e-2
            )


def inverse_grid(profile: Profile) -> Iterator[Inverse]:
    """Yield every equation with every method; at `cpu` Burgers with fewer observations too."""
    match profile:
        case "smoke":
            for method in ("single", "quadrature", "pinn"):
                yield inverse_of("smoke", "burgers", method, seed=0)
        case "cpu" | "paper":
            quadrature = ("quadrature",) if profile == "cpu" else ()
            methods = ("single", *quadrature, "exact", "pinn")
            for number in seeds_of(profile):
                for pde in get_args(Name):
                    for method in methods:
                        yield inverse_of(profile, pde, method, seed=number)
                if profile == "cpu":
                    for side in FEWER_SIDES:
                        yield replace(
                            inverse_of("cpu", "burgers", "single", seed=number), side=side
                        )


SECONDS = {"single": 2e-4, "quadrature": 4.5e-4, "exact": 4.5e-4}
"""Of an outer step, per step of the solver of few points."""


def inverse_estimate(fit: Inverse) -> Estimate:
    """Return the outer steps' time."""
    if fit.method == "pinn":
        size = fit.num_layers * fit.width * fit.batch_size
        seconds = (4e-3 * fit.num_layers + 2e-7 * size) * fit.inner_steps
    else:
        seconds = SECONDS[fit.method] * fit.num_steps * (1 + fit.num_points / 1000)
    return Estimate(seconds=START_S + seconds * fit.outer_steps, memory_bytes=2**30)


def inverse_stands_in(fit: Inverse) -> dict[str, str]:
    """Return how a fit is less than the paper's: in its outer steps, and in its net."""
    most = OUTER_STEPS["paper"]
    if fit.outer_steps == most:
        return {}
    steps = f"{fit.outer_steps} of {most:,} outer steps"
    if fit.method != "pinn":
        return {"(FG)²U-ZO": steps}
    net = f"{fit.num_layers} layers of {fit.width}, {fit.inner_steps} SGD steps"
    return {"PINN": f"{net}, {steps}"}


inverses = Experiment(
    "fg2u/pde_inverse",
    version=1,
    params=Inverse,
    grid=inverse_grid,
    run="inverse:inverse_rows",
    dry_run="dry_run:of_inverse",
    estimate=inverse_estimate,
    timeout_s=120 * 3600.0,
    address=("pde", "method", "side", "noise", "seed"),
    stands_in=inverse_stands_in,
)
