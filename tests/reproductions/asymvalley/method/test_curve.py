"""Valley curves against the model itself, functional calls, and full-data statistics."""

from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from harness.errors import SpecError
from reproductions.asymvalley import asymmetry_interval, sides
from reproductions.asymvalley.method.batch_norm import recalibrate
from reproductions.asymvalley.method.curve import ValleyData, Walk, point_of, valley_curve
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
from tests.reproductions.asymvalley.small import small_data, small_net, state_of

LAMBDAS = [-1.0, -0.5, 0.0, 0.5, 1.0]


def noise_for(model: nn.Module) -> torch.Tensor:
    return draw_noise("gaussian", layout_of(model).size, seed=0, draw=0)


@pytest.mark.parametrize("bn_stats", ["frozen", "recalibrate"])
def test_the_model_is_never_changed(bn_stats: str) -> None:
    model, data = small_net(), small_data()
    before = state_of(model)
    modes = [module.training for module in model.modules()]
    valley_curve(
        model,
        noise_for(model),
        LAMBDAS,
        scale=1.0,
        norm="ns",
        bn_stats=bn_stats,
        data=data,  # type: ignore[arg-type]
    )
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert [module.training for module in model.modules()] == modes
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("batch_norm", [True, False])
def test_lambda_zero_is_the_model_s_own_error_to_the_bit(batch_norm: bool) -> None:
    model, data = small_net(batch_norm=batch_norm), small_data()
    mode = "frozen" if batch_norm else "none"
    curve = valley_curve(
        model,
        noise_for(model),
        LAMBDAS,
        scale=2.0,
        norm="ns",
        bn_stats=mode,
        data=data,  # type: ignore[arg-type]
    )
    own = point_of(model, data)
    assert curve.points[2] == own
    with torch.no_grad():
        logits = model(data.test_images)
    wrong = logits.argmax(dim=1) != data.test_labels
    assert own.error == float(wrong.double().mean())
    assert own.ce == pytest.approx(float(F.cross_entropy(logits, data.test_labels)), rel=1e-6)


def test_points_equal_a_functional_call_in_float64() -> None:
    model, data = small_net(batch_norm=False), small_data()
    eps = noise_for(model)
    curve = valley_curve(model, eps, LAMBDAS, scale=0.2, norm="raw", bn_stats="none", data=data)
    double = copy.deepcopy(model).double()
    theta = {name: p.detach() for name, p in double.named_parameters()}
    steps = layout_of(model).split(eps.double())
    for place, point in zip(LAMBDAS, curve.points, strict=True):
        moved = {name: theta[name] + place * 0.2 * steps[name] for name in theta}
        logits = functional_call(double, moved, (data.test_images.double(),))
        assert point.ce == pytest.approx(float(F.cross_entropy(logits, data.test_labels)), rel=1e-5)


def test_statistics_of_one_batch_are_those_of_all_images() -> None:
    model, images = small_net(), small_data().statistics_images
    assert images is not None
    recalibrate(model, [images])
    first = model[0](images).double()
    mean, var = first.mean(dim=(0, 2, 3)), first.var(dim=(0, 2, 3), unbiased=True)
    torch.testing.assert_close(model[1].running_mean.double(), mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(model[1].running_var.double(), var, rtol=1e-5, atol=1e-6)
    second = model[4](torch.relu((first - mean[None, :, None, None])
        / (first.var(dim=(0, 2, 3), unbiased=False) + model[1].eps).sqrt()[None, :, None, None]
        * model[1].weight.double()[None, :, None, None]
        + model[1].bias.double()[None, :, None, None]).float()).double()  # fmt: skip
    expected = second.mean(dim=(0, 2, 3))
    torch.testing.assert_close(model[5].running_mean.double(), expected, rtol=1e-4, atol=1e-5)


def test_uneven_batches_weigh_as_many_images_as_they_have() -> None:
    model, images = small_net(), small_data(num_statistics=24).statistics_images
    assert images is not None
    recalibrate(model, images.split(10))  # 10, 10 and 4
    first = model[0](images).double()
    mean = first.mean(dim=(0, 2, 3))
    torch.testing.assert_close(model[1].running_mean.double(), mean, rtol=1e-5, atol=1e-6)
    parts = [part.var(dim=(0, 2, 3)) * len(part) / 24 for part in first.split(10)]
    expected = torch.stack(parts).sum(dim=0)
    torch.testing.assert_close(model[1].running_var.double(), expected, rtol=1e-5, atol=1e-6)
    assert int(model[1].num_batches_tracked) == 3
    assert model[1].momentum == nn.BatchNorm2d(1).momentum
    assert not model.training
    assert not model[1].training


def test_dropout_is_off_while_statistics_are_estimated() -> None:
    with_dropout, without = small_net(dropout=0.5), small_net()
    images = small_data().statistics_images
    assert images is not None
    for model in (with_dropout, without):
        recalibrate(model, [images])
    assert torch.equal(with_dropout[5].running_mean, without[5].running_mean)


def test_curves_of_one_walk_equal_curves_of_their_own() -> None:
    model, data = small_net(), small_data()
    walk = Walk(model, data, bn_stats="recalibrate")
    for draw in range(2):
        eps = draw_noise("uniform", walk.layout.size, seed=0, draw=draw)
        own = valley_curve(
            model, eps, LAMBDAS, scale=1.0, norm="ns", bn_stats="recalibrate", data=data
        )
        assert walk.curve(walk.step(eps, scale=1.0, norm="ns"), LAMBDAS) == own


def test_channels_last_models_keep_their_weights() -> None:
    model, data = small_net(), small_data()
    curve = valley_curve(
        model, noise_for(model), LAMBDAS, scale=1.0, norm="ns", bn_stats="frozen", data=data
    )
    last = small_net().to(memory_format=torch.channels_last)
    assert torch.equal(layout_of(last).flatten(last.state_dict()), parameters_vector(model))
    other = valley_curve(
        last, noise_for(last), LAMBDAS, scale=1.0, norm="ns", bn_stats="frozen", data=data
    )
    assert curve.errors == pytest.approx(other.errors, abs=1 / 30 + 1e-9)


def test_numbers_that_are_not_finite_count_as_wrong() -> None:
    model, data = small_net(batch_norm=False), small_data()
    with torch.no_grad():
        model[-1].bias.fill_(float("nan"))
    assert point_of(model, data).error == 1.0


def test_statistics_that_do_not_fit_are_refused() -> None:
    data = small_data()
    with pytest.raises(SpecError, match="'recalibrate' for a model without batch normalisation"):
        Walk(small_net(batch_norm=False), data, bn_stats="recalibrate")
    with pytest.raises(SpecError, match="'none' for a model with batch normalisation"):
        Walk(small_net(), data, bn_stats="none")
    with pytest.raises(SpecError, match="bn_stats='all'"):
        Walk(small_net(), data, bn_stats="all")  # type: ignore[arg-type]
    bare = ValleyData(test_images=data.test_images, test_labels=data.test_labels)
    with pytest.raises(SpecError, match="needs statistics_images"):
        Walk(small_net(), bare, bn_stats="recalibrate")


def test_direction_of_another_shape_is_refused() -> None:
    model = small_net()
    with pytest.raises(SpecError, match="flatten it with this model's layout"):
        valley_curve(
            model, torch.ones(7), LAMBDAS, scale=1.0, norm="raw", bn_stats="frozen",
            data=small_data(),
        )  # fmt: skip


def test_what_would_give_a_curve_without_a_meaning_is_refused() -> None:
    model, data = small_net(), small_data()
    eps = noise_for(model)
    bn = layout_of(model).mask("bn")
    broken = eps.clone()
    broken[3] = float("nan")

    def walk(direction: torch.Tensor, **told: object) -> None:
        given = {"scale": 1.0, "norm": "ns", "bn_stats": "frozen", "data": data, **told}
        valley_curve(model, direction, LAMBDAS, **given)  # type: ignore[arg-type]

    with pytest.raises(SpecError, match="not finite"):
        walk(broken)
    with pytest.raises(SpecError, match="need finite numbers"):
        walk(eps, scale=float("inf"))
    with pytest.raises(SpecError, match="outside of the mask"):
        walk(eps, mask=bn)
    walk(eps * bn, mask=bn)
    with pytest.raises(SpecError, match="not a ndarray"):
        walk(eps.numpy())  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="noise of shape"):
        sign_consistent(eps[:1], eps)


def test_no_images_to_estimate_statistics_from_are_refused() -> None:
    with pytest.raises(SpecError, match="no images"):
        recalibrate(small_net(), [torch.zeros(0, 1, 8, 8)])
    images = torch.zeros(2, 1)
    with pytest.raises(SpecError, match="batch_size=0"):
        ValleyData(test_images=images, test_labels=torch.zeros(2, dtype=torch.long), batch_size=0)


def test_images_without_labels_are_refused() -> None:
    with pytest.raises(SpecError, match="2 test images with 3 labels"):
        ValleyData(test_images=torch.zeros(2, 1), test_labels=torch.zeros(3, dtype=torch.long))


def test_sides_leave_the_middle_out() -> None:
    found = sides([-1.0, -0.5, 0.0, 0.5, 1.0], [0.9, 0.7, 100.0, 0.2, 0.4])
    assert found.minus == pytest.approx(0.8)
    assert found.plus == pytest.approx(0.3)
    assert found.asymmetry == pytest.approx(0.5)
    assert found.relative(0.1) == pytest.approx(0.5 / 0.9, rel=1e-5)
    with pytest.raises(SpecError, match="both sides"):
        sides([0.0, 1.0], [1.0, 1.0])


def test_interval_of_the_asymmetry_is_over_draws() -> None:
    curves = [([-1.0, 1.0], [value, 0.0]) for value in (0.4, 0.5, 0.6)]
    interval = asymmetry_interval(curves)
    assert interval.mean == pytest.approx(0.5)
    # Student's t with two degrees of freedom: 4.302652...
    assert interval.high - interval.mean == pytest.approx(4.302652 * 0.1 / 3**0.5, rel=1e-5)
