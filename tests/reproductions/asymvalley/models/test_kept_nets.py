"""A trained network is kept, found again, and described."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from harness.declare.experiment import Status
from reproductions.asymvalley.method.layout import layout_of, parameters_vector
from reproductions.asymvalley.models.image_nets import plan_of
from reproductions.asymvalley.models.images import images_of
from reproductions.asymvalley.models.kept_nets import kept_net, start_of
from reproductions.asymvalley.models.pairs import Training, training_of
from reproductions.asymvalley.trained_nets.experiment import nets
from reproductions.asymvalley.trained_nets.trial import sign_gradient_cosine, train_net
from tests.made_runs import MadeRun

POINT = training_of("smoke", "vgg16_cifar10", seed=0)


def start(point: Training, seed: int = 0) -> Tensor:
    return parameters_vector(start_of(point, MadeRun({"seed": seed})))


def trained(context: MadeRun) -> Any:
    """Train once; return the row, and let the context hand the trial to another one."""
    outcome = train_net(POINT, context)
    assert outcome.status is Status.DONE
    context.kept = SimpleNamespace(rows=outcome.rows, load=context.saved.get)
    return outcome.rows[0]


def test_kept_net_is_found_again_with_its_start() -> None:
    context = MadeRun({"seed": 0})
    row = trained(context)
    found = kept_net(POINT, context, nets)
    assert found is not None and not found.model.training
    assert torch.equal(found.initial_P, start(POINT))
    weights = parameters_vector(found.model)
    assert row["norm"] == pytest.approx(float(weights.double().norm()), rel=1e-9)
    assert not torch.equal(weights, found.initial_P)
    images = images_of(POINT, context)
    with torch.no_grad():
        wrong = found.model(images.test_x).argmax(dim=1) != images.test_y
    assert row["test_error"] == pytest.approx(float(wrong.double().mean()))


def test_recipes_share_their_start_and_seeds_do_not() -> None:
    large = training_of("smoke", "vgg16_cifar10", seed=0, recipe="bs_large")
    assert torch.equal(start(POINT), start(large))
    assert not torch.equal(start(POINT), start(POINT, seed=1))


def test_starts_of_batch_norm_differ_in_its_weights_alone() -> None:
    layout = layout_of(start_of(POINT, MadeRun({"seed": 0})))
    mask = layout.mask("bn_weight")
    ones = start(POINT)
    assert bool((ones[mask] == 1.0).all())
    for name, mean, std in (("uniform", 0.5, 12**-0.5), ("gaussian", 0.0, 0.1)):
        other = start(training_of("smoke", "vgg16_cifar10", seed=0, bn_start=name))  # type: ignore[arg-type]
        assert torch.equal(ones[~mask], other[~mask])
        values = other[mask].double()
        bound = 5 * std / len(values) ** 0.5
        assert float(values.mean()) == pytest.approx(mean, abs=bound)
        assert float(values.std()) == pytest.approx(std, rel=0.3)


def test_cosine_is_that_of_signs_and_gradient() -> None:
    model = plan_of(POINT).net(generator=torch.Generator().manual_seed(0)).eval()
    data = images_of(POINT, MadeRun({"seed": 0})).valley_data()
    loss = F.cross_entropy(model(data.test_images), data.test_labels)
    loss.backward()
    gradient = torch.cat([p.grad.reshape(-1) for p in model.parameters()]).double()  # type: ignore[union-attr]
    weights = parameters_vector(model).double()
    signs = torch.where(weights > 0, 1.0, -1.0).double()
    expected = float(signs @ gradient / signs.norm() / gradient.norm())
    assert sign_gradient_cosine(model, data) == pytest.approx(expected, abs=1e-6)
