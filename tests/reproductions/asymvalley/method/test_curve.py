"""Valley curves against the model itself, functional calls, and full-data statistics."""

from __future__ import annotations

import copy
import math
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from harness.errors import SpecError
from reproductions.asymvalley import asymmetry_interval, sides
from reproductions.asymvalley.method.curve import Point, ValleyCurve, Walk, point_of, valley_curve
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.method.noise import draw_noise
from tests.reproductions.asymvalley.small import small_data, small_net, state_of
from tests.reproductions.nets.closures import Bound, Captured, Closed, seeded

LAMBDAS = [-1.0, -0.5, 0.0, 0.5, 1.0]


def noise_for(model: nn.Module) -> torch.Tensor:
    return draw_noise("gaussian", layout_of(model).size, seed=0, draw=0)


def valley(model: nn.Module, eps: torch.Tensor | None = None, **told: Any) -> ValleyCurve:
    """Return the curve of a model, norm-scaled and with frozen statistics unless told otherwise."""
    usual = {"scale": 1.0, "norm": "ns", "bn_stats": "frozen", "data": small_data()}
    places = told.pop("places", LAMBDAS)
    return valley_curve(model, noise_for(model) if eps is None else eps, places, **usual | told)


def test_the_model_is_never_changed() -> None:
    model = small_net()
    before = state_of(model)
    modes = [module.training for module in model.modules()]
    valley(model, bn_stats="recalibrate")
    for name, value in model.state_dict().items():
        assert torch.equal(value, before[name]), name
    assert [module.training for module in model.modules()] == modes
    assert all(parameter.requires_grad for parameter in model.parameters())


@pytest.mark.parametrize("batch_norm", [True, False])
def test_lambda_zero_is_the_model_s_own_error_to_the_bit(batch_norm: bool) -> None:
    model, data = small_net(batch_norm=batch_norm), small_data()
    curve = valley(model, scale=2.0, bn_stats="frozen" if batch_norm else "none")
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
    curve = valley(model, eps, scale=0.2, norm="raw", bn_stats="none")
    double = copy.deepcopy(model).double()
    theta = {name: p.detach() for name, p in double.named_parameters()}
    steps = layout_of(model).split(eps.double())
    for place, point in zip(LAMBDAS, curve.points, strict=True):
        moved = {name: theta[name] + place * 0.2 * steps[name] for name in theta}
        logits = functional_call(double, moved, (data.test_images.double(),))
        assert point.ce == pytest.approx(float(F.cross_entropy(logits, data.test_labels)), rel=1e-5)


def test_cross_entropy_is_a_mean_over_images_and_not_over_batches() -> None:
    model, data = small_net(), small_data(num_test=21)  # 10, 10 and 1
    with torch.no_grad():
        ce_N = F.cross_entropy(model(data.test_images), data.test_labels, reduction="none")
    of_batches = float(torch.stack([part.mean() for part in ce_N.split(10)]).mean())
    found = point_of(model, data).ce
    assert found == pytest.approx(float(ce_N.double().mean()), rel=1e-6)
    assert found != pytest.approx(of_batches, rel=1e-2)


def test_statistics_are_those_of_their_images_and_of_no_test_image() -> None:
    data, other = small_data(), small_data(num_statistics=20)
    walks = [
        Walk(small_net(), each, bn_stats="recalibrate")
        for each in (data, replace(data, test_images=data.test_images + 1.0), other)
    ]
    first, elsewhere, fewer = (
        torch.cat([b.flatten() for b in w.moved(w.weights_P).buffers()]) for w in walks
    )
    assert torch.equal(first, elsewhere)
    assert not torch.equal(first, fewer)


def test_channels_last_models_keep_their_weights() -> None:
    model, last = small_net(), small_net().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert torch.equal(layout_of(last).flatten(last.state_dict()), parameters_vector(model))
    assert valley(model).errors == pytest.approx(valley(last).errors, abs=1 / 30 + 1e-9)


def test_numbers_that_are_not_finite_count_as_wrong() -> None:
    model, data = small_net(batch_norm=False), small_data()
    with torch.no_grad():
        model[-1].bias.fill_(float("nan"))
    assert point_of(model, data).error == 1.0


def diverged() -> nn.Module:
    """Return a net with a channel of infinite variance."""
    model = small_net()
    model[1].running_var[0] = math.inf
    return model


def of_two_dtypes() -> nn.Module:
    model = small_net()
    model[0].half()
    return model


BARE = ValleyData(test_images=small_data().test_images, test_labels=small_data().test_labels)
WITHOUT_NORM = {"model": small_net(batch_norm=False), "bn_stats": "recalibrate"}
EPS = noise_for(small_net())
CLOSED = {"model": seeded(Closed, num_in=64), "bn_stats": "none"}
CAPTURED = {"model": seeded(Captured, num_in=64), "bn_stats": "none"}


@pytest.mark.parametrize(
    ("told", "said"),
    [
        (WITHOUT_NORM, "'recalibrate' for a model without batch normalisation"),
        ({"bn_stats": "none"}, "'none' for a model with batch normalisation"),
        ({"bn_stats": "recalibrate", "data": BARE}, "needs statistics_images"),
        ({"model": diverged()}, r"1\.running_var.*not finite"),
        ({"model": of_two_dtypes()}, r"are torch\.float16 on cpu and torch\.float32 on cpu"),
        ({"model": nn.DataParallel(small_net())}, "one of several ranks' or devices'"),
        ({"eps": torch.ones(7)}, "flatten it with this model's layout"),
        ({"eps": EPS * math.nan}, "not finite"),
        ({"eps": EPS.numpy()}, "not a ndarray"),
        ({"mask": layout_of(small_net()).mask("bn")}, "outside of the mask"),
        ({"scale": math.inf}, "scale=inf: need a finite number"),
        ({"places": []}, "need at least one place, finite numbers all"),
        ({"places": [0.0, math.nan]}, "need at least one place, finite numbers all"),
        # Their copies move and their outputs do not: the curve would be flat, or half of one.
        (CLOSED, "that a function inside it holds on to"),
        (CAPTURED, "that a function inside it holds on to"),
    ],
)
def test_what_would_give_a_curve_without_a_meaning_is_refused(
    told: dict[str, Any], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        valley(**{"model": small_net()} | told)


def test_a_model_that_holds_its_own_methods_walks_with_its_copy() -> None:
    model = seeded(Bound, num_in=64)
    curve, moved = valley(model, bn_stats="none"), copy.deepcopy(model)
    walk = Walk(model, small_data(), bn_stats="none")
    place = walk.weights_P - walk.step(noise_for(model), scale=1.0, norm="ns")
    nn.utils.vector_to_parameters(place, moved.parameters())
    assert curve.points[0] == point_of(moved, small_data())


def test_a_mask_of_infinities_may_stay_as_it_is() -> None:
    model = small_net()
    model.register_buffer("mask", torch.full((2, 2), -math.inf).triu(1))
    assert valley(model) == valley(small_net())


POINTS = (Point(0.9, 3.0), Point(0.2, 1.0), Point(0.4, 2.5))
CURVE = ValleyCurve(lambdas=(-1.0, 0.0, 1.0), points=POINTS)


def test_a_curve_is_a_table_and_is_drawn_on_new_axes_or_on_given_ones() -> None:
    from matplotlib import pyplot

    expected = {"lambda": [-1.0, 0.0, 1.0], "error": [0.9, 0.2, 0.4], "ce": [3.0, 1.0, 2.5]}
    assert CURVE.to_frame().to_dict("list") == expected
    ax = CURVE.plot(label="raw")
    assert CURVE.plot(ax, value="ce") is ax
    drawn = [line.get_ydata().tolist() for line in ax.lines]
    assert drawn == [expected["error"], expected["ce"]]
    assert CURVE.plot().figure is not ax.figure
    pyplot.close("all")


def test_sides_leave_the_middle_out() -> None:
    found = sides([-1.0, -0.5, 0.0, 0.5, 1.0], [0.9, 0.7, 100.0, 0.2, 0.4])
    assert found.minus == pytest.approx(0.8)
    assert found.plus == pytest.approx(0.3)
    assert found.asymmetry == pytest.approx(0.5)
    with pytest.raises(SpecError, match="both sides"):
        sides([0.0, 1.0], [1.0, 1.0])


def test_interval_of_the_asymmetry_is_over_draws() -> None:
    curves = [([-1.0, 1.0], [value, 0.0]) for value in (0.4, 0.5, 0.6)]
    interval = asymmetry_interval(curves)
    assert interval.mean == pytest.approx(0.5)
    # Student's t with two degrees of freedom: 4.302652...
    assert interval.high - interval.mean == pytest.approx(4.302652 * 0.1 / 3**0.5, rel=1e-5)
