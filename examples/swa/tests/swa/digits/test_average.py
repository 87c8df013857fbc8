"""The running mean against torch's own, and claims on tables made by hand."""

from __future__ import annotations

import pandas as pd
import pytest
import torch
from swa import WeightAverage
from swa.digits.tab01 import task
from torch import nn
from torch.optim.swa_utils import AveragedModel

from harness.declare.verdict import Word, evaluate


def test_the_average_is_torch_s() -> None:
    net, x = nn.Linear(3, 2), torch.randn(5, 3)
    ours, theirs = WeightAverage(net), AveragedModel(net)
    for _ in range(4):
        nn.init.normal_(net.weight)
        ours.update(net)
        theirs.update_parameters(net)
    torch.testing.assert_close(ours.apply(net, x), theirs(x))


@pytest.mark.parametrize(
    ("sgd", "swa", "word"),
    [(0.92, 0.95, Word.SUPPORTED), (0.92, 0.91, Word.CONTRADICTED), (0.5, 0.9, Word.UNTESTED)],
)
def test_swa_gains_where_it_is_ahead_of_nets_that_learned(
    sgd: float, swa: float, word: Word
) -> None:
    reached = {"sgd": sgd, "swa": swa}
    rows = [(name, seed, 40, 40, reached[name]) for name in reached for seed in range(5)]
    table = pd.DataFrame(rows, columns=["method", "seed", "epochs", "epoch", "accuracy"])
    assert evaluate(task.claims[0], table, seed="seed", profile="cpu").word == word
