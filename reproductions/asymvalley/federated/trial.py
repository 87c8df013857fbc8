"""From the parameters of a federated trial to its rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import fmean
from typing import Any, cast

import numpy as np
import torch
from torch import nn

from harness.data.codec import Arrays
from harness.declare.experiment import DryRun, RawParams, Row, RunContext
from harness.errors import DataError, SpecError
from reproductions.asymvalley.federated.candidates import (
    COEFFICIENTS,
    coefficient_of,
    parse_candidates,
)
from reproductions.asymvalley.method.federated.algorithms import (
    FedAvg,
    FedDyn,
    FedPan,
    FedProx,
    FedSign,
    Moon,
    Reduction,
)
from reproductions.asymvalley.method.federated.client import ClientData
from reproductions.asymvalley.method.federated.settings import LocalSettings, RoundSettings
from reproductions.asymvalley.method.federated.simulator import (
    RoundLog,
    Run,
    simulate,
    stack_images,
)
from reproductions.asymvalley.method.federated.split import dirichlet_split
from reproductions.nets import convnet, resnet

DIGITS_TEST = 360
"""The last of scikit-learn's 1,797 digits are the test images; other writers than the first."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Federation:
    """A trial's clients and its two held-out sets, normalised and resident."""

    clients: list[ClientData]
    validation: ClientData
    test: ClientData


def federation_of(params: RawParams, ctx: RunContext) -> Federation:
    """Return the clients of a trial and its held-out images.

    The training images of a seed are shuffled; the first `num_train` of them go to the clients,
    the next `num_validation` to the choice of coefficients, and both are normalised, as the test
    images are, by mean and standard deviation of the first.
    Raises DataError where the data set has too few images.
    """
    name = str(params["data"])
    (x, y), (test_x, test_y) = _splits(name, ctx.dataset(name).arrays)
    num_train, num_held = int(params["num_train"]), int(params["num_validation"])
    if len(x) < num_train + num_held:
        raise DataError(
            f"data set {name} has {len(x)} training images, the trial asks for {num_train} and"
            f" {num_held} for validation: lower either"
        )
    order = np.random.default_rng(ctx.seed("images")).permutation(len(x))
    train, held = order[:num_train], order[num_train : num_train + num_held]
    pooled = partial(_pooled, factor=int(params["pool"]))
    train_x = pooled(x[train])
    mean, std = train_x.mean((0, 1, 2)), train_x.std((0, 1, 2))

    def resident(images: torch.Tensor, labels: np.ndarray) -> ClientData:
        labels_S = torch.from_numpy(labels.astype(np.int64))
        return stack_images((images - mean) / std, labels_S, device=ctx.device)

    parts = dirichlet_split(
        y[train],
        num_clients=int(params["num_clients"]),
        alpha=float(params["alpha"]),
        seed=ctx.seed("split"),
    )
    return Federation(
        clients=[resident(train_x[torch.from_numpy(p)], y[train][p]) for p in parts],
        validation=resident(pooled(x[held]), y[held]),
        test=resident(pooled(test_x), test_y),
    )


_Split = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]


def _splits(name: str, arrays: Arrays) -> tuple[_Split, _Split]:
    if name == "digits":
        x, y = arrays["x"], arrays["y"]
        return (x[:-DIGITS_TEST], y[:-DIGITS_TEST]), (x[-DIGITS_TEST:], y[-DIGITS_TEST:])
    return (arrays["x_train"], arrays["y_train"]), (arrays["x_test"], arrays["y_test"])


def _pooled(images: np.ndarray, *, factor: int) -> torch.Tensor:
    """Return images as float32 (N, H, W, C), means over factor x factor pixels."""
    x = torch.from_numpy(images.astype(np.float32))
    x = x.unsqueeze(-1) if x.dim() == 3 else x
    pooled = torch.nn.functional.avg_pool2d(x.permute(0, 3, 1, 2), factor)
    return pooled.permute(0, 2, 3, 1).contiguous()


def net_config(params: RawParams) -> convnet.ConvNetConfig | resnet.ResNetConfig:
    """Return the shape of a trial's net. Raises SpecError for an unknown one."""
    shape = {
        "num_classes": 10,
        "in_channels": int(params["channels"]),
        "image_size": int(params["image_size"]) // int(params["pool"]),
        "width": int(params["width"]),
    }
    match params["net"]:
        case "convnet":
            return convnet.ConvNetConfig(**shape, batch_norm=True)
        case "resnet20":
            return resnet.ResNetConfig(**shape, depth=20)
    raise SpecError(f"net={params['net']!r}: need 'convnet' or 'resnet20'")


def build_net(params: RawParams, *, seed: int, device: str) -> nn.Module:
    """Return a trial's net at its start; the same for every seed given."""
    config, generator = net_config(params), torch.Generator().manual_seed(seed)
    if isinstance(config, convnet.ConvNetConfig):
        return convnet.ConvNet(config, generator=generator, device=device)
    return resnet.ResNet(config, generator=generator, device=device)


def algorithm_of(params: RawParams, candidate: str) -> FedAvg:
    """Return a trial's algorithm with a coefficient. Raises SpecError for an unknown one."""
    if params["algorithm"] == "fedpan":
        return FedPan(encoding=candidate)
    value = coefficient_of(candidate)
    match params["algorithm"]:
        case "fedavg":
            return FedAvg()
        case "fedprox":
            return FedProx(mu=value)
        case "moon":
            return Moon(mu=value, tau=float(params["tau"]))
        case "feddyn":
            return FedDyn(a=value)
        case "fedsign":
            reduction = cast(Reduction, params["reduction"])
            return FedSign(gamma=value, reduction=reduction, beta=float(params["beta"]))
    raise SpecError(f"algorithm={params['algorithm']!r}: need one of {', '.join(COEFFICIENTS)}")


def round_settings(params: RawParams, candidate: str) -> RoundSettings:
    """Return a trial's settings; FedAvg's candidate is its weight decay."""
    fedavg = params["algorithm"] == "fedavg"
    return RoundSettings(
        rounds=int(params["rounds"]),
        participation=float(params["participation"]),
        local=LocalSettings(
            epochs=int(params["local_epochs"]),
            batch_size=int(params["batch_size"]),
            min_steps=int(params["min_steps"]),
            lr=float(params["lr"]),
            momentum=float(params["momentum"]),
            weight_decay=coefficient_of(candidate) if fedavg else float(params["weight_decay"]),
            clip_norm=float(params["clip_norm"]),
        ),
    )


def run_candidate(
    params: RawParams,
    ctx: RunContext,
    federation: Federation,
    candidate: str,
    *,
    held_out: ClientData,
    eval_rounds: Sequence[int],
    workers: int = 1,
) -> Run:
    """Simulate a trial with one coefficient, and evaluate it on a held-out set."""
    return simulate(
        partial(build_net, params, seed=ctx.seed("init"), device=ctx.device),
        algorithm_of(params, candidate),
        federation.clients,
        round_settings(params, candidate),
        test=held_out,
        eval_rounds=eval_rounds,
        seed=ctx.seed("rounds"),
        workers=workers,
    )


def search(params: RawParams, ctx: RunContext) -> list[Row]:
    """Try every candidate; one row each, with its accuracy on the validation images.

    Exactly one row is `chosen`: the first of the most accurate ones that did not diverge.
    """
    federation = federation_of(params, ctx)
    words = parse_candidates(str(params["candidates"]))
    last = int(params["rounds"])
    accuracies = []
    for word in words:
        held_out = federation.validation
        run = run_candidate(params, ctx, federation, word, held_out=held_out, eval_rounds=(last,))
        accuracies.append(None if run.diverged else run.logs[-1].accuracy)
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


def rows_of(params: RawParams, run: Run, chosen: Row) -> Iterator[Row]:
    """Yield the rows of evaluated rounds, and the final one.

    The final same-sign ratio and penalty are means over the second half of the rounds. A diverged
    run has one row, without values.
    """
    name = COEFFICIENTS[str(params["algorithm"])]
    shared = {"candidate": chosen["candidate"], "coefficient": chosen["coefficient"]}
    shared |= {"coefficient_name": name, "validation_accuracy": chosen["validation_accuracy"]}
    rounds = int(params["rounds"])
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


def evaluated_rounds(params: RawParams) -> list[int]:
    """Return every `eval_every`th round, and the last."""
    rounds, every = int(params["rounds"]), int(params["eval_every"])
    return sorted({*range(every, rounds + 1, every), rounds})


def dry_run(params: RawParams) -> DryRun:
    """Count the net on the meta device, and run one client step under FakeTensorMode."""
    from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    from harness.measure.memory import count_bytes

    config, batch_size = net_config(params), int(params["batch_size"])
    count = convnet.num_params if isinstance(config, convnet.ConvNetConfig) else resnet.num_params
    real, mode = build_net(params, seed=0, device="meta"), FakeTensorMode()
    # A net of this kind cannot be drawn under the mode: its counters are made as plain tensors.
    with FakeCopyMode(mode):
        model = copy.deepcopy(build_net(params, seed=0, device="cpu"))
    with mode, FlopCounterMode(display=False) as counter:
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        images = torch.zeros(batch_size, config.in_channels, config.image_size, config.image_size)
        labels_B = torch.zeros(batch_size, dtype=torch.long)
        memory = count_bytes(
            model, optimizer, lambda: nn.functional.cross_entropy(model(images), labels_B)
        )
    return DryRun(
        num_params=sum(parameter.numel() for parameter in real.parameters()),
        expected_num_params=count(config),  # type: ignore[arg-type]
        memory_bytes=memory.total,
        step_flops=counter.get_total_flops(),
        num_steps=num_steps(params),
    )


def num_steps(params: RawParams) -> int:
    """Return the expected optimizer steps of a trial, of clients of the mean size."""
    clients, share = int(params["num_clients"]), float(params["participation"])
    batches = -(-int(params["num_train"]) // (clients * int(params["batch_size"])))
    a_client = max(int(params["local_epochs"]) * batches, int(params["min_steps"]))
    return int(params["rounds"]) * max(int(share * clients), 1) * a_client
