"""The coordinate check of a user's model: closed forms, a sound net, and broken ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
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
from reproductions.supar.models.coordinate_check import (
    EXPECTED,
    CheckedModel,
    CoordinateReport,
    coordinate_check,
)

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
    assert report.passed, report.slopes[report.slopes["verdict"] != "pass"].to_string()
    # 2 layers, 3 lines of either direction, 3 sizes at 3 steps but the change at the first.
    assert len(report.slopes) == 2 * (3 + 3) * (3 * 3 - 1)
    assert len(report.table) == 5 * 3 * 3 * 3 * 2
    assert list(report.by_layer.index) == HIDDEN
    assert (report.by_layer == "pass").all(axis=None)


def _verdicts(report: CoordinateReport) -> dict[tuple[str, str], set[str]]:
    return report.slopes.groupby(["along", "size"])["verdict"].agg(set).to_dict()


def test_mup_fails_over_density_and_not_over_width() -> None:
    report = _check("mup", num_seeds=3)
    assert report.verdict == "fail"
    verdicts = _verdicts(report)
    for size in ("mean_abs_activation", "delta_y_rms"):
        assert verdicts["width", size] == {"pass"}, size
        assert verdicts["density", size] == {"fail"}, size


def test_standard_parameterization_fails_over_both() -> None:
    report = _check("sp", num_seeds=3)
    assert not report.passed
    verdicts = _verdicts(report)
    for along in ("width", "density"):
        assert verdicts[along, "delta_y_rms"] == {"fail"}
        assert verdicts[along, "mean_abs_activation"] == {"fail"}


def test_half_a_correction_is_caught() -> None:
    # Right start, too small updates: what activations alone do not show.
    verdicts = _verdicts(_check("mup_init_only", num_seeds=3))
    assert verdicts["density", "mean_abs_activation"] == {"pass"}
    assert "fail" in verdicts["density", "delta_y_rms"]
    assert "pass" not in verdicts["density", "delta_y_rms"]


@pytest.mark.parametrize(
    ("layer", "activation", "gradient"), [("leave", -0.5, 0.0), ("enter", 0.0, -0.5)]
)
def test_layers_with_one_growing_side_follow_their_own_laws(
    layer: str, activation: float, gradient: float
) -> None:
    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        checked = _mlp("mup")(width=width, density=density, seed=seed)
        for x, _ in checked.batches:
            x.requires_grad_()
        return checked

    slopes = {("mean_abs_activation", "width"): activation, ("grad_x_rms", "width"): gradient}
    report = coordinate_check(
        make, (64, 256, 1024), (1,), layers=[layer], num_steps=1, expected={**EXPECTED, **slopes}
    )
    start = report.slopes[report.slopes["step"] == 0]
    assert list(start["verdict"]) == ["pass"] * 2, start.to_string()
    change = report.slopes[report.slopes["size"] == "delta_y_rms"]
    assert list(change["verdict"]) == ["pass"], change.to_string()


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
    found = report.slopes.set_index(["layer", "size", "step", "along", "at"])["slope"]
    for at in (0.5, 1.0):
        assert found["first", "mean_abs_activation", 0, "width", at] == pytest.approx(a)
        assert found["second", "mean_abs_activation", 0, "width", at] == pytest.approx(2 * a)
        assert found["first", "grad_x_rms", 0, "width", at] == pytest.approx(2 * a - 1)
        assert found["second", "grad_x_rms", 0, "width", at] == pytest.approx(a - 1)
        assert found["first", "delta_y_rms", 1, "width", at] == pytest.approx(a)
    for at in (8.0, 16.0, 64.0):
        assert found["second", "mean_abs_activation", 0, "density", at] == pytest.approx(2 * b)
        assert found["first", "grad_x_rms", 0, "density", at] == pytest.approx(2 * b)
        assert found["first", "delta_y_rms", 1, "density", at] == pytest.approx(b)
    # Every seed builds the same net.
    assert np.allclose(report.slopes["low"], report.slopes["high"])


def test_the_interval_is_that_of_the_slopes_of_the_seeds() -> None:
    from scipy import stats

    report = coordinate_check(_mlp("mup"), (64, 128), (1,), num_steps=1, num_seeds=4)
    row = report.slopes.query("layer == 'hidden.1' and size == 'delta_y_rms'").iloc[0]
    sizes = report.table.query("layer == 'hidden.1' and step == 1").pivot(
        index="seed", columns="width", values="delta_y_rms"
    )
    slopes = np.log2(sizes[128] / sizes[64])
    low, high = stats.t.interval(0.95, 3, loc=slopes.mean(), scale=stats.sem(slopes))
    assert (row["slope"], row["low"], row["high"]) == pytest.approx((slopes.mean(), low, high))


def test_few_seeds_decide_nothing() -> None:
    report = _check("supar", num_seeds=2)
    assert report.verdict == "undecided"
    assert set(report.slopes["reason"]) == {"2 seed(s), need at least 3"}


def test_the_users_tolerance_decides() -> None:
    assert _check("mup", num_seeds=3, tolerance=3.0).passed
    assert not _check("supar", num_seeds=3, tolerance=1e-6).passed


def test_a_size_of_zero_is_undecided_and_a_diverged_one_fails() -> None:
    def start(value: float) -> Callable[..., CheckedModel]:
        def make(*, width: int, density: float, seed: int) -> CheckedModel:
            checked = _mlp("mup")(width=width, density=density, seed=seed)
            nn.init.constant_(checked.model.get_parameter("leave.weight"), value)
            return checked

        return make

    report = coordinate_check(start(0.0), (64, 128), (1,), num_steps=1, num_seeds=3)
    gradient = report.slopes.query("size == 'grad_x_rms' and step == 0")
    assert set(gradient["verdict"]) == {"undecided"}
    assert all("is 0: it has no logarithm" in reason for reason in gradient["reason"])
    report = coordinate_check(start(float("nan")), (64, 128), (1,), num_steps=1, num_seeds=3)
    assert report.verdict == "fail"
    assert "a size is not finite: the model diverged" in set(report.slopes["reason"])


def test_an_unused_layer_is_named() -> None:
    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        checked = _mlp("mup")(width=width, density=density, seed=seed)
        checked.model.spare = nn.Linear(width, width)
        return checked

    with pytest.raises(SpecError, match="no gradient reaches the input of layer 'spare'"):
        coordinate_check(make, (32, 64), (1,), num_steps=1, num_seeds=1)


def test_a_first_layer_on_data_is_named() -> None:
    with pytest.raises(SpecError, match="no gradient reaches the input of layer 'enter'"):
        coordinate_check(_mlp("mup"), (32,), (1, 0.5), num_steps=1, num_seeds=1)


def test_the_users_hooks_and_only_they_are_left() -> None:
    models = []
    calls = []

    def make(*, width: int, density: float, seed: int) -> CheckedModel:
        checked = _mlp("supar")(width=width, density=density, seed=seed)
        checked.model.hidden[0].register_forward_hook(lambda *_: calls.append(width))
        models.append(checked.model)
        return checked

    coordinate_check(make, (32, 64), (1, 0.5), num_steps=1, num_seeds=1)
    for model in models:
        assert [len(layer._forward_hooks) for layer in model.hidden] == [1, 0]
        assert all(parameter.grad is None for parameter in model.parameters())
    assert set(calls) == {32, 64}


@pytest.mark.parametrize(
    ("widths", "densities", "options", "words"),
    [
        ((64,), (1,), {}, "need two of either"),
        ((), (1, 0.5), {}, "widths=[]: need positive numbers"),
        ((64, 64), (1,), {}, "each once"),
        ((64, 128), (2,), {}, "need 0 < density <= 1"),
        ((64, 128), (1,), {"num_steps": 3}, "3 batches for 3 updates"),
        ((64, 128), (1,), {"num_seeds": 0}, "need at least one step and seed"),
        ((64, 128), (1,), {"layers": ["hidden.7"]}, "'hidden.7': no such module"),
        ((64, 128), (1,), {"layers": []}, "no layer to check"),
        ((64, 128), (1,), {"expected": {}}, "expected lacks"),
    ],
)
def test_bad_input_is_said(
    widths: tuple[int, ...], densities: tuple[float, ...], options: dict[str, Any], words: str
) -> None:
    with pytest.raises(SpecError) as error:
        coordinate_check(_mlp("mup"), widths, densities, **{"num_steps": 1, **options})
    assert words in str(error.value)


def test_a_factory_of_bare_models_is_refused() -> None:
    def make(*, width: int, density: float, seed: int) -> Any:
        return _Mlp(width, 1.0)

    with pytest.raises(SpecError, match="model_factory returned _Mlp: need a CheckedModel"):
        coordinate_check(make, (32, 64), (1,))


def test_the_figure_has_a_row_a_size_and_a_line_a_layer(capsys: pytest.CaptureFixture[str]) -> None:
    report = coordinate_check(_mlp("supar"), (32, 64), (1, 0.5), num_steps=1, num_seeds=2)
    figure = report.figure()
    assert len(figure.axes) == 3 * 2
    assert all(len(ax.containers) == len(HIDDEN) for ax in figure.axes)
    assert len(report.figure(step=0).axes) == 2 * 2
    with pytest.raises(SpecError, match="1 updates were measured"):
        report.figure(step=9)
    assert capsys.readouterr() == ("", "")
