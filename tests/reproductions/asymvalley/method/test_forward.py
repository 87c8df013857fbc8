"""A model's pass: other dtypes and outputs than plain tensors, and labels that it lacks."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.asymvalley.method.batch_norm import recalibrate
from reproductions.asymvalley.method.curve import point_of, valley_curve
from reproductions.asymvalley.method.layout import layout_of
from reproductions.asymvalley.method.noise import draw_noise
from tests.reproductions.asymvalley.small import small_data, small_net


class Returning(nn.Module):
    """A net whose logits come in something else."""

    def __init__(self, wrap: Any) -> None:
        super().__init__()
        self.net, self.wrap = small_net(), wrap

    def forward(self, images: Tensor) -> Any:
        return self.wrap(self.net(images))


def test_logits_are_found_where_hugging_face_s_models_have_them() -> None:
    """Its own models are tried in tests/composes."""
    model, data = Returning(lambda logits: SimpleNamespace(logits=logits)).eval(), small_data()
    assert point_of(model, data) == point_of(small_net(), data)


@pytest.mark.parametrize(
    ("wrap", "said"),
    [
        (lambda logits: (logits, logits), "returns a tuple: need logits"),
        (lambda logits: logits[:, :, None], r"of 10 images have shape \(10, 3, 1\)"),
        (lambda logits: logits[:1], r"have shape \(1, 3\): need \(images, classes\)"),
    ],
    ids=["tuple", "axes", "rows"],
)
def test_outputs_without_plain_logits_are_refused(wrap: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        point_of(Returning(wrap).eval(), small_data())


def test_a_label_beyond_the_classes_is_refused() -> None:
    data = small_data()
    labels = data.test_labels.clone()
    labels[29] = 3
    with pytest.raises(SpecError, match="a label is 3, and the model has 3 classes"):
        point_of(small_net(), replace(data, test_labels=labels))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_images_take_the_dtype_of_the_model(dtype: torch.dtype) -> None:
    """Curves of one dtype are those of another but for its rounding."""
    model, data = small_net(), small_data()
    eps = draw_noise("gaussian", layout_of(model).size, seed=0, draw=0)
    curves = [
        valley_curve(m, eps, [0.0, 0.5], scale=1.0, norm="ns", bn_stats="recalibrate", data=data)
        for m in (model, small_net().to(dtype))
    ]
    # Weights of about 1 and logits of about 10 are rounded, a dozen times one after another.
    rel = 30 * max(torch.finfo(dtype).eps, torch.finfo(torch.float32).eps)
    for plain, other in zip(curves[0].points, curves[1].points, strict=True):
        assert other.ce == pytest.approx(plain.ce, rel=rel)


def test_bytes_are_refused_where_the_model_does_not_take_them() -> None:
    data = replace(small_data(), test_images=torch.zeros(30, 1, 8, 8, dtype=torch.uint8))
    with pytest.raises(SpecError, match="images of bytes: scale and normalise"):
        point_of(small_net(), data)
    with pytest.raises(SpecError, match="images of bytes"):
        recalibrate(small_net(), [data.test_images])

    class Scaling(nn.Sequential):
        def forward(self, images: Tensor) -> Tensor:
            return super().forward(images.float() / 255.0)

    assert point_of(Scaling(small_net()).eval(), data).ce > 0.0


def test_another_fault_of_a_model_is_told_as_it_is() -> None:
    wide = replace(small_data(), test_images=torch.zeros(30, 1, 9, 9))
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied"):
        point_of(small_net(), wide)
