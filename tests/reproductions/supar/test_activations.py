"""The coordinate check against values computed by hand, and against its theory."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import FIGURE_5, Parameterization
from reproductions.supar.activations import Coordinates, coordinate_check, gpt_kinds
from reproductions.supar.experiments import coordinate_check as experiment_module
from reproductions.supar.text import Batch
from reproductions.supar.training import Seeds, build_adamw, build_gpt
from tests.reproductions.supar import small


class _Tiny(nn.Module):
    """Embed, one watched matrix, read out."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.embed = nn.Parameter(torch.randn(5, 3, generator=generator, dtype=torch.float64))
        self.watched = nn.Linear(3, 4, bias=False, dtype=torch.float64)
        self.watched.weight.data.normal_(generator=generator)
        self.read = nn.Parameter(torch.randn(5, 4, generator=generator, dtype=torch.float64))

    def forward(self, tokens_BT: Tensor) -> Tensor:
        return self.watched(self.embed[tokens_BT]) @ self.read.T


def _batches() -> list[Batch]:
    generator = torch.Generator().manual_seed(1)
    pairs = [torch.randint(5, (2, 2, 3), generator=generator) for _ in range(3)]
    return [Batch(tokens_BT=pair[0], targets_BT=pair[1]) for pair in pairs]


def test_sizes_equal_those_worked_out_by_hand() -> None:
    model = _Tiny()
    shapes = (model.embed, model.watched.weight, model.read)
    embed, weight, read = (parameter.detach().clone() for parameter in shapes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    rows = coordinate_check(model, optimizer, _batches(), {"linear": [model.watched]})
    assert [row.step for row in rows] == [0, 1, 2]
    expected_change = None
    for row, batch in zip(rows, _batches(), strict=True):
        x = embed[batch.tokens_BT].flatten(0, 1)
        y = x @ weight.T
        # d(mean cross-entropy)/d logits = (softmax - onehot) / N.
        slope = (y @ read.T).softmax(-1) - F.one_hot(batch.targets_BT.flatten(), 5)
        grad_y = slope @ read / len(x)
        assert row.mean_abs_activation == pytest.approx(float(y.abs().mean()))
        gradient = float((len(x) * grad_y @ weight).square().mean().sqrt())
        assert row.grad_x_rms == pytest.approx(gradient)
        assert row.delta_y_rms == (expected_change and pytest.approx(expected_change))
        grad_embed = torch.zeros_like(embed).index_add_(
            0, batch.tokens_BT.flatten(), grad_y @ weight
        )
        grads = (grad_embed, grad_y.T @ x, slope.T @ y / len(x))
        embed, weight, read = (
            p - 0.5 * g for p, g in zip((embed, weight, read), grads, strict=True)
        )
        change = embed[batch.tokens_BT].flatten(0, 1) @ weight.T - y
        expected_change = float(change.square().mean().sqrt())


def test_hooks_are_gone_afterwards_even_after_an_error() -> None:
    model = _Tiny()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    coordinate_check(model, optimizer, _batches(), {"linear": [model.watched]})
    bad = Batch(tokens_BT=torch.tensor([[99]]), targets_BT=torch.tensor([[0]]))
    with pytest.raises(IndexError):
        coordinate_check(model, optimizer, [bad], {"linear": [model.watched]})
    assert not model.watched._forward_hooks


def test_an_input_without_gradient_is_refused() -> None:
    model = _Tiny()
    model.embed.requires_grad_(False)
    optimizer = torch.optim.SGD(model.watched.parameters(), lr=0.5)
    with pytest.raises(SpecError, match="no gradient reaches"):
        coordinate_check(model, optimizer, _batches(), {"linear": [model.watched]})


def _at_start(scheme: str, density: float) -> dict[str, Coordinates]:
    """Return the sizes before training, at width 256 over a proxy of 64."""
    table = Parameterization(
        scheme=scheme,  # type: ignore[arg-type]
        width_multiplier=4.0,
        density=density,
        base=FIGURE_5,
    )
    config = replace(small.config(table, width=256), num_layers=2)
    model = build_gpt(config, table, Seeds(init=0, masks=1), pattern="bernoulli")
    optimizer = build_adamw(model, table, small.SETTINGS)
    rows = coordinate_check(model, optimizer, small.batches(1), gpt_kinds(model))
    return {row.block: row for row in rows}


@pytest.mark.parametrize("block", ["attention", "feed_forward"])
@pytest.mark.parametrize(("scheme", "slope"), [("supar", 0.0), ("mup", 1.0), ("sp", 1.0)])
def test_activations_at_the_start_scale_with_density_as_theory_says(
    scheme: str, slope: float, block: str
) -> None:
    # Two masked matrices in series, each giving sqrt(density), which SmuPar undoes.
    sparse, dense = _at_start(scheme, 1 / 4)[block], _at_start(scheme, 1.0)[block]
    ratio = sparse.mean_abs_activation / dense.mean_abs_activation
    assert math.log2(ratio) / math.log2(1 / 4) == pytest.approx(slope, abs=0.3)


def test_a_trial_has_a_row_per_step_and_block() -> None:
    params = dict(next(iter(experiment_module.smoke_grid())))
    context = small.Context(experiment_module.experiment, params)
    rows = experiment_module.run(params, context)
    assert [(row["step"], row["block"]) for row in rows] == [
        (step, block) for step in range(10) for block in ("attention", "feed_forward")
    ]
    for row in rows:
        assert (row["delta_y_rms"] is None) == (row["step"] == 0)
        assert all(v > 0.0 for k, v in row.items() if k not in ("step", "block") and v is not None)
    assert rows == experiment_module.run(params, context)
