"""The coordinate check of a user's model: closed forms, a sound net, and broken ones."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.supar import (
    BaseHyperparameters,
    Parameterization,
    Scheme,
    infer_roles,
    param_groups,
    sparsify,
)
from reproductions.supar.method.coordinate_check import (
    EXPECTED,
    CheckedModel,
    coordinate_check,
    hidden_layers,
)
from reproductions.supar.method.coordinate_report import CoordinateReport
from reproductions.supar.method.slopes import Slope

BASE = BaseHyperparameters(init_std=0.18, lr=0.004, input_multiplier=1.0, output_multiplier=1.0)
HIDDEN = ["hidden.0", "hidden.1"]


class _Mlp(nn.Module):
    """First layer, two hidden matrices, readout of features that are scaled before it."""

    def __init__(self, width: int, scale: float) -> None:
        super().__init__()
        self.enter = nn.Linear(8, width, bias=False)
        self.hidden = nn.ModuleList(nn.Linear(width, width, bias=False) for _ in range(2))
        self.leave = nn.Linear(width, 3, bias=False)
        self.scale = scale

    def forward(self, x: Tensor) -> Tensor:
        x = self.enter(x)
        for layer in self.hidden:
            x = torch.tanh(layer(x))
        return self.leave(x * self.scale)


def _batches(seed: int, count: int) -> list[tuple[Tensor, Tensor]]:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(count, 32, 8, generator=generator)
    return [(x, x[:, :3].argmax(-1)) for x in inputs]


def _cross_entropy(model: nn.Module, batch: tuple[Tensor, Tensor]) -> Tensor:
    return nn.functional.cross_entropy(model(batch[0]), batch[1])


def _mlp(scheme: Scheme) -> Callable[..., CheckedModel]:
    """Return what builds an MLP of a scheme over a dense proxy of width 32."""

    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        table = Parameterization(
            scheme=scheme, width_multiplier=width / 32, density=density, base=BASE
        )
        model = _Mlp(width, table.logit_multiplier)
        generator = torch.Generator().manual_seed(seed)
        sparsify(model, layers=HIDDEN, density=density, generator=generator)
        roles = infer_roles(model, HIDDEN)
        table.initialize(model, roles, torch.Generator().manual_seed(seed))
        groups = param_groups(model, table, roles, weight_decay=0.0, decay="coupled")
        return CheckedModel(
            model=model,
            optimizer=torch.optim.AdamW(groups),
            loss=_cross_entropy,
            batches=_batches(seed, 3),
        )

    return make


def _check(scheme: Scheme, **options: Any) -> CoordinateReport:
    return coordinate_check(_mlp(scheme), (64, 128, 256), (1, 1 / 2, 1 / 4), num_steps=2, **options)


def test_an_mlp_under_smupar_passes() -> None:
    report = _check("supar")
    assert report.passed, str(report)
    # 2 layers, 2 directions, 2 sizes before training and 3 after updates.
    assert len(report.slopes) == 2 * 2 * (2 + 3)
    assert {row.layer for row in report.slopes} == set(HIDDEN)
    assert report.sizes["grad_x_rms"].shape == (2, 5, 3, 3, 3)


@pytest.mark.parametrize(
    ("scheme", "start", "change"),
    [
        ("mup", {"width": {"pass"}, "density": {"fail"}}, {"width": {"pass"}, "density": {"fail"}}),
        ("sp", {"width": {"fail"}, "density": {"fail"}}, {"width": {"fail"}, "density": {"fail"}}),
        # Right start, too small updates: what activations alone do not show.
        ("mup_init_only", {"density": {"pass"}}, {"density": {"fail", "undecided"}}),
    ],
)
def test_other_schemes_fail_where_their_rules_fall_short(
    scheme: Scheme, start: dict[str, set[str]], change: dict[str, set[str]]
) -> None:
    report = _check(scheme, num_seeds=3)
    assert report.verdict == "fail"
    for size, wanted in (("mean_abs_activation", start), ("delta_y_rms", change)):
        for along, words in wanted.items():
            assert {row.verdict for row in _rows(report, size=size, along=along)} == words


@pytest.mark.parametrize(
    ("layer", "activation", "gradient"), [("leave", -0.5, 0.0), ("enter", 0.0, -0.5)]
)
def test_layers_with_one_growing_side_follow_their_own_laws(
    layer: str, activation: float, gradient: float
) -> None:
    slopes = {
        ("mean_abs_activation", "width", "start"): activation,
        ("grad_x_rms", "width", "start"): gradient,
    }
    report = coordinate_check(
        _mlp("mup"), (64, 256, 1024), (1,), layers=[layer], num_steps=1,
        expected={**EXPECTED, ("grad_x_rms", "width"): 0.0, **slopes},
    )  # fmt: skip
    # After updates Y of the readout, and the gradient at the first layer, are on their way from
    # one law to another.
    start, change = _rows(report, phase="start"), _rows(report, size="delta_y_rms")
    assert [row.verdict for row in [*start, *change]] == ["pass"] * 3, str(report)


class _Linear(nn.Module):
    """Copies of the data up to the width, then shifts of the features, scaled by powers."""

    def __init__(self, width: int, scale: float) -> None:
        super().__init__()
        shift = torch.eye(width, dtype=torch.float64).roll(1, 0)
        self.first = nn.Linear(width, width, bias=False, dtype=torch.float64)
        self.second = nn.Linear(width, width, bias=False, dtype=torch.float64)
        for layer in (self.first, self.second):
            layer.weight.data = scale * shift

    def forward(self, x: Tensor) -> Tensor:
        copies = x.repeat(1, self.first.in_features // x.shape[1]).requires_grad_()
        return self.second(self.first(copies))


def _mean(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).mean()


def test_a_linear_net_has_the_slopes_of_its_closed_form() -> None:
    # Weights are c = width ** a * density ** b times a shift, the loss is the mean output, and
    # the data repeat themselves. So |Y| = c^l, the gradient is c^(2 - l) / width at the input of
    # layer l = 0, 1, and a step of SGD moves the first layer by c / width * |x|^2 = c.
    a, b = 0.3, -0.2

    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        model = _Linear(width, width**a * density**b)
        x = torch.ones(2, 4, dtype=torch.float64)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        return CheckedModel(model=model, optimizer=optimizer, loss=_mean, batches=[x, x])

    report = coordinate_check(make, (8, 16, 64), (1, 1 / 2), num_steps=1, num_seeds=3)
    found = {(row.layer, row.size, row.phase, row.along): row for row in report.slopes}
    expected = {
        ("first", "mean_abs_activation", "start", "width"): a,
        ("second", "mean_abs_activation", "start", "width"): 2 * a,
        ("first", "grad_x_rms", "start", "width"): 2 * a - 1,
        ("second", "grad_x_rms", "start", "width"): a - 1,
        ("first", "delta_y_rms", "trained", "width"): a,
        ("second", "mean_abs_activation", "start", "density"): 2 * b,
        ("first", "grad_x_rms", "start", "density"): 2 * b,
        ("first", "delta_y_rms", "trained", "density"): b,
    }
    for key, slope in expected.items():
        assert found[key].slope == pytest.approx(slope), key
    # Every seed has the same slope a, to the last bit. But (a + a + a) / 3 is a for some last bits
    # and not for others, and these are the processor's.
    for row in report.slopes:
        assert (row.low, row.high) == pytest.approx((row.slope, row.slope), rel=1e-12, abs=1e-12)
    assert {row.verdict for row in report.slopes} == {"pass", "fail"}


def _rows(report: CoordinateReport, **fields: str) -> list[Slope]:
    return [row for row in report.slopes if all(getattr(row, n) == v for n, v in fields.items())]


def test_a_size_of_zero_is_undecided_and_a_diverged_one_fails() -> None:
    def start(value: float) -> Callable[..., CheckedModel]:
        def make(*, width: int, density: float, seed: int) -> CheckedModel:
            checked = _mlp("mup")(width=width, density=density, seed=seed)
            nn.init.constant_(checked.model.get_parameter("leave.weight"), value)
            return checked

        return make

    report = coordinate_check(start(0.0), (64, 128), (1,), num_steps=1, num_seeds=3)
    for row in _rows(report, size="grad_x_rms", phase="start"):
        assert (row.verdict, row.reason) == ("undecided", "a size is 0, which has no logarithm")
    report = coordinate_check(start(float("nan")), (64, 128), (1,), num_steps=1, num_seeds=3)
    assert report.verdict == "fail"
    assert "a size is not finite: the model diverged" in {row.reason for row in report.slopes}


def test_one_width_checks_the_first_layer_on_data_and_the_readout_too() -> None:
    report = coordinate_check(_mlp("supar"), (128,), (1, 0.5, 0.25), num_steps=1)
    assert report.grid.layers == ("enter", *HIDDEN, "leave")
    # Three outputs before training are too few signs for five seeds.
    noisy = {"layer": "leave", "size": "mean_abs_activation", "phase": "start"}
    assert [row for row in report.slopes if row.verdict != "pass"] == _rows(report, **noisy)


@pytest.mark.parametrize(
    ("widths", "densities", "options", "words"),
    [
        ((64,), (1,), {}, "need two of either"),
        ((64, 64), (1,), {}, "need positive numbers, each once"),
        ((64, 128), (2,), {}, "need 0 < density <= 1"),
        ((64, 128), (1,), {"num_steps": 3}, "3 batches for 3 updates"),
        ((64, 128), (1,), {"num_seeds": 0}, "need at least one step and seed"),
        ((64, 128), (1,), {"layers": ["hidden.7"]}, "'hidden.7': no such module"),
        ((64, 128), (1,), {"layers": []}, "no layer to check"),
        ((64, 128), (1,), {"expected": {}}, "expected lacks"),
        ((64, 128), (1,), {"expected": {**EXPECTED, ("grad_x_rms",): 0.0}}, "expected has"),
    ],
)
def test_bad_input_is_said(
    widths: tuple[int, ...], densities: tuple[float, ...], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(SpecError, match=re.escape(words)):
        coordinate_check(_mlp("mup"), widths, densities, **{"num_steps": 1, **options})


def test_a_layer_that_the_optimizer_leaves_alone_is_refused() -> None:
    def make(**place: Any) -> CheckedModel:
        checked = _mlp("mup")(**place)
        return replace(checked, optimizer=torch.optim.AdamW(checked.model.leave.parameters()))

    with pytest.raises(SpecError, match=re.escape(f"does not train {HIDDEN[0]}.weight")):
        coordinate_check(make, (64, 128), (1,), num_steps=1)


class _Fused(nn.Module):
    """Experts in one stack of matrices, as transformers keeps them."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.zeros(4, 2 * width, width))
        self.act = nn.ReLU()


def test_hidden_layers_are_those_with_a_matrix_that_grows_on_both_sides() -> None:
    def build(width: int) -> nn.Module:
        return nn.ModuleDict(
            {
                "tokens": nn.Embedding(2 * width, width),
                "enter": nn.Linear(8, width),
                "block": nn.TransformerEncoderLayer(width, 2, 4 * width),
                "experts": _Fused(width),
                "mix": nn.Conv1d(width, width, 3),
            }
        )

    inner = ["block.self_attn", "block.linear1", "block.linear2", "experts"]
    assert hidden_layers(build(8), build(16)) == inner
    assert hidden_layers(build(8), build(8)) == ["enter", *inner]
