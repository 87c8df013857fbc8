"""From the parameters of a federated trial to its rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean

import numpy as np
import torch
from torch import nn

from harness.declare import DryRun, Outcome, Row, RunContext, Status
from harness.errors import DataError
from reproductions.asymvalley.federated.experiment import (
    COEFFICIENTS,
    Cell,
    Search,
    Simulation,
    searches,
)
from reproductions.asymvalley.method.federated import (
    ClientData,
    FedAvg,
    FedDyn,
    FedPan,
    FedProx,
    FedSign,
    LocalSettings,
    Moon,
    RoundSettings,
    dirichlet_split,
    simulate,
)
from reproductions.asymvalley.method.federated.simulator import RoundLog, Run, stack_images
from reproductions.asymvalley.models.image_nets import Plan, one_step, planned
from reproductions.asymvalley.models.images import splits


@dataclass(frozen=True, kw_only=True, slots=True)
class Federation:
    """A trial's clients and its two held-out sets, normalised and resident."""

    clients: list[ClientData]
    validation: ClientData
    test: ClientData


def federation_of(params: Simulation, ctx: RunContext) -> Federation:
    """Return the clients of a trial and its held-out images.

    The training images of a seed are shuffled; the first `num_train` of them go to the clients,
    the next `num_validation` to the choice of coefficients, and both are normalised, as the test
    images are, by mean and standard deviation of the first.
    Raises DataError where the data set has too few images.
    """
    name = params.data
    (x, y), (test_x, test_y) = splits(name, ctx.dataset(name).arrays)
    num_train, num_held = params.num_train, params.num_validation
    if len(x) < num_train + num_held:
        raise DataError(
            f"data set {name} has {len(x)} training images, the trial asks for {num_train} and"
            f" {num_held} for validation: lower either"
        )
    order = np.random.default_rng(ctx.seed("images")).permutation(len(x))
    train, held = order[:num_train], order[num_train : num_train + num_held]
    pooled = partial(_pooled, factor=params.pool)
    train_x = pooled(x[train])
    mean, std = train_x.mean((0, 1, 2)), train_x.std((0, 1, 2))

    def resident(images: torch.Tensor, labels: np.ndarray) -> ClientData:
        labels_S = torch.from_numpy(labels.astype(np.int64))
        return stack_images((images - mean) / std, labels_S, device=ctx.device)

    parts = dirichlet_split(
        y[train],
        num_clients=params.num_clients,
        alpha=params.alpha,
        seed=ctx.seed("split"),
    )
    return Federation(
        clients=[resident(train_x[torch.from_numpy(p)], y[train][p]) for p in parts],
        validation=resident(pooled(x[held]), y[held]),
        test=resident(pooled(test_x), test_y),
    )


def _pooled(images: np.ndarray, *, factor: int) -> torch.Tensor:
    """Return images as float32 (N, H, W, C), means over factor x factor pixels."""
    x = torch.from_numpy(images.astype(np.float32))
    x = x.unsqueeze(-1) if x.dim() == 3 else x
    pooled = torch.nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), factor)
    return pooled.permute(0, 2, 3, 1).contiguous()


def plan_of(params: Simulation) -> Plan:
    """Return how a trial's net is made."""
    return planned(
        "convnet" if params.net == "convnet" else "resnet",
        depth=20,
        batch_norm=True,
        num_classes=10,
        in_channels=params.channels,
        image_size=params.image_size // params.pool,
        width=params.width,
    )


def build_net(params: Simulation, *, seed: int, device: str) -> nn.Module:
    """Return a trial's net at its start; the same for every seed given."""
    return plan_of(params).net(generator=torch.Generator().manual_seed(seed), device=device)


def algorithm_of(params: Search, candidate: str) -> FedAvg:
    """Return a trial's algorithm with a coefficient."""
    value = coefficient_of(candidate)
    match params.algorithm:
        case "fedpan":
            return FedPan(encoding=candidate)
        case "fedavg":
            return FedAvg()
        case "fedprox":
            return FedProx(mu=value)
        case "moon":
            return Moon(mu=value, tau=params.tau)
        case "feddyn":
            return FedDyn(a=value)
        case "fedsign" | "fedsign_tenth":
            return FedSign(gamma=value, reduction=params.reduction, beta=params.beta)


def round_settings(params: Simulation) -> RoundSettings:
    """Return a trial's settings."""
    names = ("batch_size", "min_steps", "lr", "momentum", "weight_decay", "clip_norm")
    local = LocalSettings(
        epochs=params.local_epochs, **{name: getattr(params, name) for name in names}
    )
    return RoundSettings(rounds=params.rounds, participation=params.participation, local=local)


def settings_with(params: Search, candidate: str) -> RoundSettings:
    """Return a trial's settings with a candidate: FedAvg's is its weight decay."""
    if params.algorithm == "fedavg":
        params = replace(params, weight_decay=coefficient_of(candidate))
    return round_settings(params)


def run_rounds(
    params: Simulation,
    ctx: RunContext,
    federation: Federation,
    algorithm: FedAvg,
    settings: RoundSettings,
    *,
    held_out: ClientData,
    eval_rounds: Sequence[int] = (),
    workers: int = 1,
) -> Run:
    """Simulate a trial with one algorithm, and evaluate it on a held-out set."""
    return simulate(
        partial(build_net, params, seed=ctx.seed("init"), device=ctx.device),
        algorithm,
        federation.clients,
        settings,
        test=held_out,
        eval_rounds=eval_rounds,
        seed=ctx.seed("rounds"),
        workers=workers,
    )


def coefficient_of(candidate: str) -> float:
    """Return a candidate as a number; of a position encoding, its amplitude.

    >>> coefficient_of("0.01"), coefficient_of("4:mul:0.1")
    (0.01, 0.1)
    """
    return float(candidate.split(":")[-1])


def cell_rows(params: Cell, ctx: RunContext) -> Outcome:
    """Train with the coefficient that the search chose; rows of rounds, and the final one."""
    tried = ctx.upstream(searches, params.search()).rows
    (chosen,) = (row for row in tried if row["chosen"])
    federation, word = federation_of(params, ctx), str(chosen["candidate"])
    rounds, every = params.rounds, params.eval_every
    algorithm, settings = algorithm_of(params, word), settings_with(params, word)
    result = run_rounds(
        params, ctx, federation, algorithm, settings,
        held_out=federation.test, eval_rounds=(*range(every, rounds, every), rounds),
    )  # fmt: skip
    status = Status.DIVERGED if result.diverged else Status.DONE
    return Outcome(rows=list(rows_of(params, result, chosen)), status=status, note=result.diverged)


def search_rows(params: Search, ctx: RunContext) -> list[Row]:
    """Try every candidate; one row each, with its accuracy on the validation images.

    Exactly one row is `chosen`: the first of the most accurate ones that did not diverge. A single
    candidate needs no trial, and has no accuracy.
    """
    words = params.candidates.split()
    accuracies = [None] if len(words) == 1 else _accuracies(params, ctx, words)
    best = max(range(len(words)), key=lambda i: (accuracies[i] or 0.0, -i))
    return [
        {
            "candidate": word,
            "coefficient": coefficient_of(word),
            "validation_accuracy": accuracy,
            "chosen": i == best,
        }
        for i, (word, accuracy) in enumerate(zip(words, accuracies, strict=True))
    ]


def _accuracies(params: Search, ctx: RunContext, words: Sequence[str]) -> list[float | None]:
    """Return each candidate's accuracy on the validation images, None where it diverged."""
    federation = federation_of(params, ctx)
    accuracies = []
    for word in words:
        algorithm, settings = algorithm_of(params, word), settings_with(params, word)
        run = run_rounds(
            params, ctx, federation, algorithm, settings,
            held_out=federation.validation, eval_rounds=(params.rounds,),
        )  # fmt: skip
        accuracies.append(None if run.diverged else run.logs[-1].accuracy)
    return accuracies


def rows_of(params: Cell, run: Run, chosen: Row) -> Iterator[Row]:
    """Yield the rows of evaluated rounds, and the final one.

    The final same-sign ratio and penalty are means over the second half of the rounds. A diverged
    run has one row, without values.
    """
    shared: Row = {"coefficient_name": COEFFICIENTS[params.algorithm].name} | {
        name: chosen[name] for name in ("candidate", "coefficient", "validation_accuracy")
    }
    rounds = params.rounds
    if run.diverged:
        values = {"test_accuracy": None, "same_sign_ratio": None, "penalty": None}
        yield {"part": "final", "round": rounds, **shared, **values}
        return
    for log in run.logs:
        if log.accuracy is not None:
            yield {"part": "round", "round": log.round, **shared, **_values([log])}
    yield {"part": "final", "round": rounds, **shared, **_values(run.logs[rounds // 2 :])}


def _values(logs: Sequence[RoundLog]) -> dict[str, float | None]:
    return {
        "test_accuracy": logs[-1].accuracy,
        "same_sign_ratio": fmean(log.same_sign_ratio for log in logs),
        "penalty": fmean(log.extra_loss for log in logs),
    }


def dry_run(params: Simulation) -> DryRun:
    """Count the net and one step of a client, on tensors that allocate nothing."""
    step = one_step(plan_of(params), params.batch_size, "sgd")
    # Of clients of the mean size.
    clients, share = params.num_clients, params.participation
    batches = -(-params.num_train // (clients * params.batch_size))
    client_steps = max(params.local_epochs * batches, params.min_steps)
    return replace(step, num_steps=params.rounds * max(int(share * clients), 1) * client_steps)
