"""Valley curves against the model itself, functional calls, and full-data statistics."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.func import functional_call

from harness.errors import EnvError, SpecError
from reproductions.asymvalley import Sides, asymmetry_interval, sides
from reproductions.asymvalley.method.curve import Point, ValleyCurve, Walk, point_of, valley_curve
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.interpolation import interpolation_curve
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.method.noise import draw_noise, sign_consistent
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


@pytest.mark.parametrize("bn_stats", ["frozen", "recalibrate"])
def test_the_model_is_never_changed(bn_stats: str) -> None:
    model = small_net()
    before = state_of(model)
    modes = [module.training for module in model.modules()]
    valley(model, bn_stats=bn_stats)
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


def test_curves_of_one_walk_equal_curves_of_their_own() -> None:
    model, data = small_net(), small_data()
    walk = Walk(model, data, bn_stats="recalibrate")
    for draw in range(2):
        eps = draw_noise("uniform", walk.layout.size, seed=0, draw=draw)
        own = valley(model, eps, bn_stats="recalibrate")
        assert walk.curve(walk.step(eps, scale=1.0, norm="ns"), LAMBDAS) == own


def test_channels_last_models_keep_their_weights() -> None:
    model, last = small_net(), small_net().to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    assert torch.equal(layout_of(last).flatten(last.state_dict()), parameters_vector(model))
    assert valley(model).errors == pytest.approx(valley(last).errors, abs=1 / 30 + 1e-9)


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


def test_what_would_give_a_curve_without_a_meaning_is_refused() -> None:
    model = small_net()
    eps = noise_for(model)
    bn = layout_of(model).mask("bn")
    broken = eps.clone()
    broken[3] = float("nan")
    refused: list[tuple[str, Any, dict[str, Any]]] = [
        ("flatten it with this model's layout", torch.ones(7), {}),
        ("not finite", broken, {}),
        ("scale=inf: need a finite number", eps, {"scale": float("inf")}),
        ("outside of the mask", eps, {"mask": bn}),
        ("not a ndarray", eps.numpy(), {}),
    ]
    for said, direction, told in refused:
        with pytest.raises(SpecError, match=said):
            valley(model, direction, **told)
    valley(model, eps * bn, mask=bn)
    with pytest.raises(SpecError, match="noise of shape"):
        sign_consistent(eps[:1], eps)


@pytest.mark.parametrize("places", [[], [0.0, float("nan")]], ids=["none", "nan"])
def test_places_that_make_no_curve_are_refused(places: list[float]) -> None:
    model, data = small_net(), small_data()
    walk, state = Walk(model, data, bn_stats="frozen"), model.state_dict()
    makers: tuple[Callable[[], object], ...] = (
        lambda: walk.curve(torch.ones(walk.layout.size), iter(places)),
        lambda: valley(model, places=iter(places)),
        lambda: interpolation_curve(
            model, state, state, iter(places), bn_stats="frozen", data=data
        ),
    )
    for make in makers:
        with pytest.raises(SpecError, match="need at least one place, finite numbers all"):
            make()


def test_places_may_be_numbers_of_any_kind() -> None:
    model, data = small_net(), small_data()
    walk = Walk(model, data, bn_stats="frozen")
    step = walk.step(noise_for(model), scale=1.0, norm="ns")
    expected = walk.curve(step, LAMBDAS)
    for places in (np.linspace(-1, 1, 5), torch.linspace(-1, 1, 5), (k / 2 for k in range(-2, 3))):
        assert walk.curve(step, places) == expected


def test_parameters_of_two_dtypes_are_refused() -> None:
    model = small_net()
    model[0].half()
    with pytest.raises(SpecError, match=r"are torch\.float16 on cpu and torch\.float32 on cpu"):
        Walk(model, small_data(), bn_stats="frozen")


def test_a_model_that_answers_to_other_devices_is_refused() -> None:
    """Those of ranks are tried on two of them, in tests/composes."""
    net = nn.DataParallel(small_net(batch_norm=True))
    with pytest.raises(SpecError, match="one of several ranks' or devices'"):
        Walk(net, small_data(), bn_stats="recalibrate")


def test_progress_is_told_after_each_point() -> None:
    model, told = small_net(), []
    state = model.state_dict()

    def progress(done: int, total: int) -> None:
        told.append((done, total))

    valley(model, progress=progress)
    interpolation_curve(
        model, state, state, [0.0, 1.0], bn_stats="frozen", data=small_data(), progress=progress
    )
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5), (1, 2), (2, 2)]


POINTS = (Point(0.9, 3.0), Point(0.2, 1.0), Point(0.4, 2.5))
CURVE = ValleyCurve(lambdas=(-1.0, 0.0, 1.0), points=POINTS)


def test_a_curve_has_its_sides() -> None:
    assert CURVE.sides() == Sides(plus=0.4, minus=0.9)
    assert CURVE.sides("ce").asymmetry == 0.5
    with pytest.raises(SpecError, match="value='loss': need one of error, ce"):
        CURVE.sides("loss")  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="both sides"):
        ValleyCurve(lambdas=(0.0,), points=POINTS[:1]).sides()


def test_a_curve_is_a_table() -> None:
    expected = {"lambda": [-1.0, 0.0, 1.0], "error": [0.9, 0.2, 0.4], "ce": [3.0, 1.0, 2.5]}
    assert CURVE.to_frame().to_dict("list") == expected


def test_a_curve_is_drawn_on_new_axes_or_on_given_ones() -> None:
    from matplotlib import pyplot

    ax = CURVE.plot(label="raw")
    assert CURVE.plot(ax, value="ce") is ax
    try:
        drawn = [line.get_xydata().tolist() for line in ax.lines]
        assert drawn == [[[-1.0, 0.9], [0.0, 0.2], [1.0, 0.4]], [[-1.0, 3.0], [0, 1], [1, 2.5]]]
        assert [text.get_text() for text in ax.get_legend().get_texts()] == ["raw"]
        assert ax.get_ylabel() == "cross-entropy (nats)"
        other = CURVE.plot()
        assert other.figure is not ax.figure
        assert (other.get_ylabel(), other.get_legend()) == ("test error", None)
    finally:
        pyplot.close("all")


def test_without_pandas_or_matplotlib_a_curve_says_what_is_absent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(EnvError, match="needs pandas, which is absent: pip install pandas"):
        CURVE.to_frame()
    with pytest.raises(EnvError, match="needs matplotlib, which is absent"):
        CURVE.plot()


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


@pytest.mark.parametrize("kind", [Closed, Captured])
def test_a_model_that_computes_with_what_it_closed_over_is_refused(kind: type[Closed]) -> None:
    """Its copy moves and its output does not: the curve would be flat, or half of one."""
    model = seeded(kind, num_in=64)
    with pytest.raises(SpecError, match="that a function inside it holds on to"):
        valley_curve(
            model,
            noise_for(model),
            LAMBDAS,
            scale=1.0,
            norm="ns",
            bn_stats="none",
            data=small_data(),
        )


def test_a_model_that_holds_its_own_methods_walks_with_its_copy() -> None:
    model, data = seeded(Bound, num_in=64), small_data()
    curve = valley_curve(
        model, noise_for(model), LAMBDAS, scale=1.0, norm="ns", bn_stats="none", data=data
    )
    moved = copy.deepcopy(model)
    walk = Walk(model, data, bn_stats="none")
    place = walk.weights_P - walk.step(noise_for(model), scale=1.0, norm="ns")
    nn.utils.vector_to_parameters(place, moved.parameters())
    assert curve.points[0] == point_of(moved, data)


def test_statistics_that_are_not_finite_are_refused_where_they_are_kept() -> None:
    """A channel of infinite variance is its bias: the curve would be of another net."""
    model = small_net()
    model[1].running_var[0] = math.inf
    with pytest.raises(SpecError, match=r"1\.running_var.*not finite"):
        Walk(model, small_data(), bn_stats="frozen")
    Walk(model, small_data(), bn_stats="recalibrate")
