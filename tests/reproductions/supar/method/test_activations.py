"""The coordinate check against values computed by hand, and against its theory."""

from __future__ import annotations

import math
from dataclasses import asdict, replace
from typing import Any

import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import FIGURE_5, Parameterization
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.coordinates.table import block_means
from reproductions.supar.coordinates.trial import gpt_blocks, gpt_loss
from reproductions.supar.method.activations import Coordinates, measure_steps
from reproductions.supar.models.text import Batch
from reproductions.supar.models.training import Seeds, build_adamw, build_gpt
from tests.reproductions.supar import small

LAYERS = [f"blocks.{i}.{kind}" for kind in ("attention", "feed_forward") for i in range(2)]


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
    rows = measure_steps(model, optimizer, _batches(), {"watched": model.watched}, loss=gpt_loss)
    assert [(row.step, row.layer) for row in rows] == [(step, "watched") for step in range(3)]
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


class _Sharing(nn.Module):
    """Two layers and the residual stream take one tensor, `right` by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = (nn.Linear(3, 3, bias=False) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + 2.0 * self.left(x) + 3.0 * self.right(input=x)


def test_layers_that_share_an_input_have_a_gradient_each_without_the_residual() -> None:
    model = _Sharing()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    layers = {"left": model.left, "right": model.right}
    x = torch.ones(1, 3, requires_grad=True)
    measured = measure_steps(model, optimizer, [x], layers, loss=lambda net, x: net(x).sum())
    rows = {row.layer: row for row in measured}
    for factor, name in ((2.0, "left"), (3.0, "right")):
        gradient = factor * model.get_parameter(f"{name}.weight").detach().sum(0)
        assert rows[name].grad_x_rms == pytest.approx(float(gradient.square().mean().sqrt()))


def test_attention_takes_one_tensor_three_times() -> None:
    class Attends(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.attention = nn.MultiheadAttention(4, 2, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            return x + self.attention(x, x, x, need_weights=False)[0]

    torch.manual_seed(0)
    model = Attends()
    x = torch.randn(1, 5, 4, requires_grad=True)
    model.attention(x, x, x)[0].square().mean().backward()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    (row,) = measure_steps(
        model, optimizer, [x.detach()], {"attention": model.attention},
        loss=lambda net, batch: (net(batch) - batch).square().mean(),
    )  # fmt: skip
    assert x.grad is not None
    assert row.grad_x_rms == pytest.approx(5 * float(x.grad.square().mean().sqrt()), rel=1e-5)


class _Wrapped(nn.Module):
    """A layer whose output may hold more than its features."""

    def __init__(self, returns: Any = lambda y: y) -> None:
        super().__init__()
        self.returns = returns

    def forward(self, x: Tensor) -> Any:
        return self.returns(4.0 * x)


def _summed(model: nn.Module, x: Tensor) -> Tensor:
    """Return the sum of a tensor, or of the last one of several."""
    found = model(x)
    return (list(found.values())[-1] if isinstance(found, dict) else found).sum()


def test_of_several_outputs_the_first_with_features_counts_as_it_was_then() -> None:
    model = nn.Sequential(
        nn.Linear(3, 3), nn.ReLU(inplace=True), _Wrapped(lambda y: {"loss": y.sum(), "hidden": y})
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    x = torch.ones(1, 3)
    wanted = model[0](x).detach()
    first, several = measure_steps(
        model, optimizer, [x], {"first": model[0], "several": model[2]}, loss=_summed
    )
    assert first.mean_abs_activation == pytest.approx(float(wanted.abs().mean()))
    assert several.mean_abs_activation == pytest.approx(4.0 * float(wanted.relu().mean()))


def test_a_convolution_of_single_pixels_measures_as_the_linear_layer_it_is() -> None:
    torch.manual_seed(0)
    linear, pixels = nn.Linear(3, 5), torch.randn(2, 3, 4, 4)
    convolution = nn.Conv2d(3, 5, 1)
    convolution.weight.data = linear.weight.detach()[:, :, None, None].clone()
    convolution.bias.data = linear.bias.detach().clone()
    found = [
        measure_steps(
            layer, torch.optim.SGD(layer.parameters(), lr=0.1), [x, x], {"it": layer},
            loss=lambda net, x: net(x).square().mean(),
        )
        for layer, x in ((linear, pixels.permute(0, 2, 3, 1)), (convolution, pixels))
    ]  # fmt: skip
    for one, other in zip(*found, strict=True):
        assert asdict(one) == pytest.approx(asdict(other))


def test_what_cannot_be_measured_is_refused() -> None:
    layer, spare = nn.Linear(3, 3), nn.Linear(3, 3)
    for words, after, watched, loss in (
        ("no gradient reaches the input of layer 'it'", _Wrapped(), spare, _summed),
        ("layer 'it' is called twice in a pass", layer, layer, _summed),
        ("layer 'it' returns str without a tensor", last := _Wrapped(lambda y: ""), last, _summed),
        ("the loss is a dict, not one number", _Wrapped(), layer, lambda net, x: {"loss": net(x)}),
        ("the loss is a Tensor, not one number", _Wrapped(), layer, lambda net, x: net(x)),
    ):
        model = nn.Sequential(layer, after)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        with pytest.raises(SpecError, match=words):
            measure_steps(model, optimizer, [torch.ones(1, 3)], {"it": watched}, loss=loss)


def _at_start(scheme: str, density: float) -> dict[str, Coordinates]:
    """Return the sizes of each layer before training, at width 256 over a proxy of 64."""
    table = Parameterization(
        scheme=scheme,  # type: ignore[arg-type]
        width_multiplier=4.0,
        density=density,
        base=FIGURE_5,
    )
    config = replace(small.config(table, width=256), num_layers=2)
    seeds = Seeds(init=0, masks=1)
    model = build_gpt(config, table, seeds, mask_density=density, pattern="bernoulli")
    optimizer = build_adamw(model, table)
    layers = {name: module for part in gpt_blocks(model).values() for name, module in part.items()}
    rows = measure_steps(model, optimizer, small.batches(1), layers, loss=gpt_loss)
    assert [row.layer for row in rows] == LAYERS
    return {row.layer: row for row in rows}


@pytest.mark.parametrize(("scheme", "slope"), [("supar", 0.0), ("mup", 1.0), ("sp", 1.0)])
def test_activations_at_the_start_scale_with_density_as_theory_says(
    scheme: str, slope: float
) -> None:
    # Two masked matrices in series, each giving sqrt(density), which SmuPar undoes.
    sparse, dense = _at_start(scheme, 1 / 4), _at_start(scheme, 1.0)
    for layer in LAYERS:
        ratio = sparse[layer].mean_abs_activation / dense[layer].mean_abs_activation
        assert math.log2(ratio) / math.log2(1 / 4) == pytest.approx(slope, abs=0.3), layer


def test_figure_5_shows_means_over_layers() -> None:
    point = small.points(coordinate_check)[0]
    rows = [dict(row) for row in small.run(coordinate_check, point)]
    frame = pd.DataFrame([point.to_json() | row for row in rows])
    table = block_means({coordinate_check.id: frame})
    assert len(table) == 10 * 2
    for size in ("mean_abs_activation", "delta_y_rms", "grad_x_rms"):
        pair = [row[size] for row in rows if row["step"] == 3 and row["block"] == "attention"]
        row = table[(table["step"] == 3) & (table["block"] == "attention")].iloc[0]
        assert row[size] == pytest.approx(sum(pair) / 2), size
    assert table.loc[table["step"] == 0, "delta_y_rms"].isna().all()
    gone = (frame["step"] == 3) & (frame["layer"] == LAYERS[0])
    frame.loc[gone, "grad_x_rms"] = float("nan")
    table = block_means({coordinate_check.id: frame})
    empty = table[table["grad_x_rms"].isna()]
    assert list(zip(empty["step"], empty["block"], strict=True)) == [(3, "attention")]
