"""A model's pass: other dtypes and outputs than plain tensors, and labels that it lacks."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from harness.errors import SpecError
from reproductions.asymvalley.method.curve import point_of, valley_curve
from reproductions.asymvalley.method.data import ValleyData
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


DATA = small_data()
BEYOND = replace(DATA, test_labels=DATA.test_labels + 1)
BYTES = replace(DATA, test_images=torch.zeros(30, 1, 8, 8, dtype=torch.uint8))


@pytest.mark.parametrize(
    ("model", "data", "said"),
    [
        (Returning(lambda logits: (logits, logits)), DATA, "returns a tuple: need logits"),
        (Returning(lambda logits: logits[:1]), DATA, r"shape \(1, 3\): need \(images, classes\)"),
        (small_net(), BEYOND, "and the model has 3 classes"),
        (small_net(), BYTES, "images of bytes: scale and normalise"),
    ],
)
def test_a_pass_without_plain_logits_is_refused(
    model: nn.Module, data: ValleyData, said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        point_of(model.eval(), data)
