"""The coordinate check against values computed by hand, and against its theory."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import FIGURE_5, Parameterization
from reproductions.supar.coordinates.experiment import coordinate_check
from reproductions.supar.coordinates.table import BLOCK_MEANS, block_means
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


def _measure(model: _Tiny, optimizer: torch.optim.Optimizer) -> list[Coordinates]:
    return measure_steps(model, optimizer, _batches(), {"watched": model.watched}, loss=gpt_loss)


def test_sizes_equal_those_worked_out_by_hand() -> None:
    model = _Tiny()
    shapes = (model.embed, model.watched.weight, model.read)
    embed, weight, read = (parameter.detach().clone() for parameter in shapes)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    rows = _measure(model, optimizer)
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


def test_data_have_a_gradient_at_the_layer_that_takes_them() -> None:
    model, twin = _Tiny(), _Tiny()
    model.embed.requires_grad_(False)
    optimizer = torch.optim.SGD([model.watched.weight, model.read], lr=0.0)
    rows = _measure(model, optimizer)
    assert rows == _measure(twin, torch.optim.SGD(twin.parameters(), lr=0.0))
    assert not model.embed.requires_grad


def test_an_input_without_gradient_is_refused() -> None:
    model = _Tiny()
    layers = {"spare": nn.Linear(2, 2)}
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    with pytest.raises(SpecError, match="no gradient reaches the input of layer 'spare'"):
        measure_steps(model, optimizer, _batches(), layers, loss=gpt_loss)


class _Sharing(nn.Module):
    """Two layers and the residual stream take one tensor, `right` by its name."""

    def __init__(self) -> None:
        super().__init__()
        self.left, self.right = (nn.Linear(3, 3, bias=False) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        return x + 2.0 * self.left(x) + 3.0 * self.right(input=x)


class _Wrapped(nn.Module):
    """A layer whose output may hold more than its features."""

    def __init__(self, returns: Any) -> None:
        super().__init__()
        self.returns = returns

    def forward(self, x: Tensor) -> Any:
        return self.returns(4.0 * x)


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


@pytest.mark.parametrize(
    "returns",
    [lambda y: (None, y.sum(), y), lambda y: {"loss": y.sum(), "hidden": y}],
    ids=["tuple", "mapping"],
)
def test_of_several_outputs_the_first_with_features_counts(returns: Any) -> None:
    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = nn.Linear(3, 3)
            self.several = _Wrapped(returns)

        def forward(self, x: Tensor) -> Tensor:
            found = self.several(self.first(x))
            return (found["hidden"] if isinstance(found, dict) else found[-1]).sum()

    model = Model()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    rows = measure_steps(
        model, optimizer, [torch.ones(1, 3)] * 2, {"first": model.first, "several": model.several},
        loss=lambda net, batch: net(batch),
    )  # fmt: skip
    for first, several in (rows[:2], rows[2:]):
        assert several.mean_abs_activation == pytest.approx(4.0 * first.mean_abs_activation)


@pytest.mark.parametrize(
    ("returns", "words"),
    [(lambda y: "none", "returns str without a tensor"), (lambda y: None, "returns NoneType")],
)
def test_an_output_without_features_is_named(returns: Any, words: str) -> None:
    model = nn.Sequential(nn.Linear(3, 3), _Wrapped(returns))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(SpecError, match=f"layer '1' {words}"):
        measure_steps(model, optimizer, [torch.ones(1, 3)], {"1": model[1]}, loss=_whole)


def _whole(model: nn.Module, batch: Any) -> Any:
    return model(batch)


def test_a_loss_that_is_an_output_is_named() -> None:
    class Output(dict[str, Tensor]):
        pass

    model = nn.Linear(3, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for loss, words in (
        (lambda net, x: Output(loss=net(x).sum()), "the loss is a Output, not one number"),
        (lambda net, x: net(x), "the loss is a Tensor, not one number with a gradient"),
    ):
        with pytest.raises(SpecError, match=words):
            measure_steps(model, optimizer, [torch.ones(1, 3)], {"": model}, loss=loss)


def test_a_layer_called_twice_is_refused() -> None:
    layer = nn.Linear(3, 3)
    model = nn.Sequential(layer, layer)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with pytest.raises(SpecError, match="layer '0' is called twice in a pass"):
        measure_steps(
            model, optimizer, [torch.ones(1, 3)], {"0": layer}, loss=lambda net, x: net(x).sum()
        )


def test_what_follows_in_place_does_not_change_an_output() -> None:
    def mean_abs(inplace: bool) -> float:
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(inplace=inplace))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        (row,) = measure_steps(
            model, optimizer, [torch.ones(1, 3)], {"0": model[0]},
            loss=lambda net, x: net(x).sum(),
        )  # fmt: skip
        return row.mean_abs_activation

    assert mean_abs(True) == mean_abs(False) > 0.0


def test_gradients_left_by_the_caller_do_not_enter_the_first_step() -> None:
    model, twin = _Tiny(), _Tiny()
    rows = _measure(model, torch.optim.SGD(model.parameters(), lr=0.5))
    gpt_loss(twin, _batches()[2]).backward()
    assert _measure(twin, torch.optim.SGD(twin.parameters(), lr=0.5)) == rows


def test_watching_changes_no_step_of_training() -> None:
    watched, plain = _Tiny(), _Tiny()
    _measure(watched, torch.optim.AdamW(watched.parameters(), lr=0.01))
    optimizer = torch.optim.AdamW(plain.parameters(), lr=0.01)
    for batch in _batches()[:-1]:
        optimizer.zero_grad()
        gpt_loss(plain, batch).backward()
        optimizer.step()
    for name, parameter in plain.named_parameters():
        assert torch.equal(parameter, watched.get_parameter(name)), name


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


def _smoke_rows() -> tuple[dict[str, Any], list[dict[str, Any]]]:
    point = small.points(coordinate_check)[0]
    return point.to_json(), [dict(row) for row in small.run(coordinate_check, point)]


def test_figure_5_shows_means_over_layers() -> None:
    params, rows = _smoke_rows()
    frame = pd.DataFrame([params | row for row in rows])
    table = block_means({coordinate_check.id: frame})
    assert set(table.columns) == set(BLOCK_MEANS.names)
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
