"""From parameters to rows, an epoch each."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from harness.data.load import load
from harness.declare import Row, RunContext
from swa.average import WeightAverage
from swa.digits.experiment import Training

NUM_TRAIN, BATCH, LR = 1000, 32, 0.2


def train(training: Training, ctx: RunContext) -> Sequence[Row]:
    """Train a net, and return the accuracy of what each epoch would hand out."""
    digits = load("digits").arrays
    x = torch.as_tensor(digits["x"].copy()).flatten(1) / 16
    y = torch.as_tensor(digits["y"].copy()).long()
    torch.manual_seed(ctx.seed("init"))
    net = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10))
    average = WeightAverage(net)
    batches = torch.Generator().manual_seed(ctx.seed("batches"))
    optimizer = torch.optim.SGD(net.parameters(), LR, momentum=0.9, weight_decay=5e-4)
    averages, rows = training.method == "swa", []
    for epoch in range(training.epochs):
        left = 1 - epoch / training.epochs
        for group in optimizer.param_groups:
            # SWA stays at a quarter of the rate once it averages.
            group["lr"] = LR * max(left, 0.25 if averages else 0.0)
        for batch in torch.randperm(NUM_TRAIN, generator=batches).split(BATCH):
            optimizer.zero_grad()
            F.cross_entropy(net(x[batch]), y[batch]).backward()
            optimizer.step()
        own = given = accuracy(net(x[NUM_TRAIN:]), y[NUM_TRAIN:])
        if averages and left <= 0.25:
            average.update(net)
            given = accuracy(average.apply(net, x[NUM_TRAIN:]), y[NUM_TRAIN:])
        rows.append({"epoch": epoch + 1, "accuracy": given, "net_accuracy": own})
    return rows


def accuracy(logits: Tensor, y: Tensor) -> float:
    """Return the share of images whose largest logit is the right one."""
    return float((logits.argmax(1) == y).double().mean())
