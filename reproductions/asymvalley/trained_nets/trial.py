"""One training of a network, and the row that describes what came of it."""

from __future__ import annotations

from collections.abc import Mapping

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.declare import Outcome, Row, RunContext, Status
from reproductions.asymvalley.method.curve import point_of
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.layout import layout_of, same_sign_ratio
from reproductions.asymvalley.method.noise import sign
from reproductions.asymvalley.models.images import Images, images_of
from reproductions.asymvalley.models.kept_nets import KEPT, generator_of, kept_tensors, start_of
from reproductions.asymvalley.models.pairs import Training
from reproductions.asymvalley.models.training import train

VALUES = (
    "train_error", "test_error", "test_ce", "norm", "init_sign_agreement",
    "sign_gradient_cosine", "bn_positive_share",
)  # fmt: skip
"""What `describe` says of a net."""


def train_net(params: Training, ctx: RunContext) -> Outcome:
    """Train one network and keep it; one row with its errors, norm and signs."""
    images = images_of(params, ctx)
    model = start_of(params, ctx)
    initial = {name: p.detach().clone() for name, p in model.named_parameters()}
    finite = train(
        model,
        images.train_x,
        images.train_y,
        params,
        generator=generator_of(ctx.seed("batches")),
        checkpoint=ctx.checkpoint_path(),
    )
    if not finite:
        row: Row = dict.fromkeys(VALUES)
        return Outcome(rows=[row], status=Status.DIVERGED, note="the loss is not finite")
    ctx.save(KEPT, kept_tensors(model, initial))
    return Outcome(rows=[describe(model, initial, images)])


def describe(model: nn.Module, initial: Mapping[str, Tensor], images: Images) -> Row:
    """Return the row of a trained network, with its own statistics of batch normalisation."""
    layout = layout_of(model)
    weights_P = layout.flatten(dict(model.named_parameters()))
    count = images.num_statistics
    train_data = ValleyData(test_images=images.train_x[:count], test_labels=images.train_y[:count])
    test = point_of(model, images.valley_data())
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
