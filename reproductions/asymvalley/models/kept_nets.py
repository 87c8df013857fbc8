"""A trained network of a trial: how it comes about, is kept, and is found again.

A kept solution holds all parameters and buffers after training, and the parameters before the
first step, which the direction theta_0 and the same-sign ratios need.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.declare.experiment import DryRun, Outcome, RawParams, Row, RunContext, Status
from harness.errors import SpecError
from reproductions.asymvalley.method.curve import Point, ValleyData, point_of
from reproductions.asymvalley.method.layout import layout_of, same_sign_ratio
from reproductions.asymvalley.method.noise import sign
from reproductions.asymvalley.models.image_nets import build_net, num_params, start_batch_norms
from reproductions.asymvalley.models.images import Images, images_of
from reproductions.asymvalley.models.pairs import GREY
from reproductions.asymvalley.models.training import (
    Settings,
    TrainingImages,
    build_optimizer,
    train,
)

KEPT = "solution.safetensors"
_FINAL, _INITIAL = "final.", "initial."


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Solution:
    """A trained network with its start."""

    model: nn.Module
    """In evaluation mode."""
    initial_P: Tensor
    """theta_0, shape (P,)."""


def train_solution(params: RawParams, ctx: RunContext) -> Outcome:
    """Train one network and keep it; one row with its errors, norm and signs."""
    images = images_of(params, ctx)
    model = start_of(params, ctx)
    initial = {name: p.detach().clone() for name, p in model.named_parameters()}
    finite = train(
        model,
        TrainingImages(images=images.train_x, labels=images.train_y),
        settings_of(params),
        generator=generator_of(ctx.seed("batches")),
        checkpoint=ctx.checkpoint_path(),
    )
    if not finite:
        row = dict.fromkeys(_row_names())
        return Outcome(rows=[row], status=Status.DIVERGED, note="the loss is not finite")
    kept = {f"{_FINAL}{name}": value for name, value in model.state_dict().items()}
    kept |= {f"{_INITIAL}{name}": value for name, value in initial.items()}
    ctx.save(KEPT, {name: value.cpu() for name, value in kept.items()})
    return Outcome(rows=[describe(model, initial, images)])


def start_of(params: RawParams, ctx: RunContext) -> nn.Module:
    """Return a trial's network before its first step; the start depends on the seed alone."""
    model = build_net(params, generator=generator_of(ctx.seed("init")))
    start = generator_of(ctx.seed("bn_start"))
    start_batch_norms(model, str(params["bn_start"]), start)
    return model.to(ctx.device).to(memory_format=torch.channels_last)


def load_solution(params: RawParams, ctx: RunContext, tensors: Mapping[str, Tensor]) -> Solution:
    """Return the network kept by `train_solution`.

    Raises SpecError where nothing was kept, or for a network of another architecture.
    """
    model = build_net(params, generator=torch.Generator())
    final = _below(_FINAL, tensors)
    try:
        model.load_state_dict(final)
    except RuntimeError as error:
        raise SpecError(f"the kept solution is of another architecture: {error}") from error
    initial_P = layout_of(model).flatten(_below(_INITIAL, tensors))
    model = model.to(ctx.device).to(memory_format=torch.channels_last).eval()
    return Solution(model=model, initial_P=initial_P.to(ctx.device))


def final_parameters(tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the trained parameters and buffers of a kept solution, by name."""
    return _below(_FINAL, tensors)


def describe(model: nn.Module, initial: Mapping[str, Tensor], images: Images) -> Row:
    """Return the row of a trained network, with its own statistics of batch normalisation."""
    layout = layout_of(model)
    weights_P = layout.flatten(dict(model.named_parameters()))
    count = images.num_statistics
    train_data = ValleyData(test_images=images.train_x[:count], test_labels=images.train_y[:count])
    test: Point = point_of(model, images.valley_data())
    bn_weights = weights_P[layout.mask("bn_weight")] if layout.has_batch_norm else None
    return {
        "train_error": point_of(model, train_data).error,
        "test_error": test.error,
        "test_ce": test.ce,
        "norm": float(weights_P.double().norm()),
        "init_sign_agreement": same_sign_ratio(weights_P, layout.flatten(initial)),
        "sign_gradient_cosine": sign_gradient_cosine(model, train_data),
        "bn_positive_share": None
        if bn_weights is None
        else float((bn_weights > 0).double().mean()),
    }


def sign_gradient_cosine(model: nn.Module, data: ValleyData) -> float:
    """Return the cosine of sign(theta_f) and the gradient of the mean loss (appendix D.1).

    The model is in evaluation mode; its gradients are left as they were.
    """
    parameters = list(model.parameters())
    total = [torch.zeros_like(p) for p in parameters]
    batches = zip(
        data.test_images.split(data.batch_size),
        data.test_labels.split(data.batch_size),
        strict=True,
    )
    for images, labels in batches:
        loss = F.cross_entropy(model(images), labels, reduction="sum")
        for part, grad in zip(total, torch.autograd.grad(loss, parameters), strict=True):
            part += grad
    gradient_P = torch.cat([part.reshape(-1) for part in total]).double()
    weights_P = torch.cat([p.detach().reshape(-1) for p in parameters]).double()
    return float(F.cosine_similarity(sign(weights_P), gradient_P, dim=0))


def settings_of(params: RawParams) -> Settings:
    """Return how a trial's network is trained."""
    optimizer: Any = params["optimizer"]
    return Settings(
        epochs=int(params["epochs"]),
        lr=float(params["lr"]),
        batch_size=int(params["batch_size"]),
        weight_decay=float(params["weight_decay"]),
        optimizer=optimizer,
        augment=bool(params["augment"]),
    )


def generator_of(seed: int) -> torch.Generator:
    """Return a generator on the CPU."""
    return torch.Generator().manual_seed(seed)


def dry_run(params: RawParams) -> DryRun:
    """Build a trial's network on the meta device, count it, and run one step on fake tensors."""
    from torch._subclasses.fake_tensor import FakeCopyMode, FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    from harness.measure.memory import count_bytes

    settings = settings_of(params)
    real = build_net(params, generator=torch.Generator(), device="meta")
    images = min(settings.batch_size, int(params["num_train"]))
    mode = FakeTensorMode()
    # A net of this kind cannot be drawn under the mode: its counters are made as plain tensors.
    with FakeCopyMode(mode):
        model = copy.deepcopy(build_net(params, generator=torch.Generator()))
    with mode, FlopCounterMode(display=False) as counter:
        x_BCHW = torch.zeros(images, *_image_shape(params))
        labels = torch.zeros(images, dtype=torch.long)
        optimizer = build_optimizer(model, settings)
        memory = count_bytes(model, optimizer, lambda: F.cross_entropy(model(x_BCHW), labels))
    steps = -(-int(params["num_train"]) // settings.batch_size) * settings.epochs
    return DryRun(
        num_params=sum(parameter.numel() for parameter in real.parameters()),
        expected_num_params=num_params(params),
        memory_bytes=memory.total,
        step_flops=counter.get_total_flops(),
        num_steps=steps,
    )


def _image_shape(params: RawParams) -> tuple[int, int, int]:
    size = int(params["image_size"])
    return (1 if params["data"] in GREY else 3, size, size)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): value for n, value in tensors.items() if n.startswith(prefix)}


def _row_names() -> tuple[str, ...]:
    return (
        "train_error",
        "test_error",
        "test_ce",
        "norm",
        "init_sign_agreement",
        "sign_gradient_cosine",
        "bn_positive_share",
    )
