"""What a valley is measured on: images, labels and models that are taken, and those refused."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn
from torch.utils.data import DataLoader, TensorDataset

from harness.errors import SpecError
from reproductions.asymvalley.method.curve import point_of, valley_curve
from reproductions.asymvalley.method.data import ValleyData
from reproductions.asymvalley.method.layout import layout_of
from reproductions.asymvalley.method.noise import draw_noise
from tests.reproductions.asymvalley.small import small_data, small_net

DATA = small_data()
IMAGES, LABELS = DATA.test_images, DATA.test_labels


def labelled(labels: Any, images: Any = IMAGES) -> ValleyData:
    return ValleyData(test_images=images, test_labels=labels)


def test_numpy_images_are_taken_as_they_are_and_not_written_to() -> None:
    images = IMAGES.numpy().copy()
    images.flags.writeable = False
    data = ValleyData(
        test_images=images[::-1],  # type: ignore[arg-type]
        test_labels=LABELS,
        statistics_images=images,  # type: ignore[arg-type]
    )
    assert torch.equal(data.test_images, IMAGES.flip(0))
    assert data.statistics_images is not None
    assert torch.equal(data.statistics_images, IMAGES)


def loader(images: Tensor = IMAGES, labels: Tensor = LABELS) -> DataLoader[Any]:
    return DataLoader(TensorDataset(images, labels), batch_size=8)


def mappings() -> list[dict[str, Tensor]]:
    """Return batches as Hugging Face collates them."""
    return [{"pixel_values": x, "labels": y} for x, y in loader()]


@pytest.mark.parametrize("with_labels", [True, False])
@pytest.mark.parametrize("test", [loader(), mappings()], ids=["pairs", "mappings"])
def test_loaders_are_read_image_by_image(test: Any, with_labels: bool) -> None:
    images = DATA.statistics_images
    assert images is not None
    parts = (images, LABELS[: len(images)]) if with_labels else (images,)
    statistics = DataLoader(TensorDataset(*parts), batch_size=7)
    data = ValleyData.from_loaders(test, statistics=statistics, batch_size=10)
    assert torch.equal(data.test_images, IMAGES)
    assert torch.equal(data.test_labels, LABELS)
    assert data.statistics_images is not None
    assert torch.equal(data.statistics_images, images)
    assert data.batch_size == 10


ONE_HOT = torch.nn.functional.one_hot(LABELS)


@pytest.mark.parametrize("given", [LABELS.numpy().astype(np.uint16), ONE_HOT, ONE_HOT.bool()])
def test_labels_of_every_kind_are_class_numbers(given: Any) -> None:
    data = labelled(given)
    assert data.test_labels.dtype is torch.int64
    assert torch.equal(data.test_labels, LABELS)
    assert data.num_classes == 3


@pytest.mark.parametrize(
    ("labels", "images", "said"),
    [
        (LABELS.float(), IMAGES, r"shape \(30,\) and torch\.float32: need whole numbers"),
        (torch.full((30, 3), 1 / 3), IMAGES, r"shape \(30, 3\) and torch\.float32"),
        (torch.ones(30, 3, dtype=torch.int64), IMAGES, r"or one-hot rows"),
        (LABELS[:, None], IMAGES, r"shape \(30, 1\)"),
        (LABELS - 100, IMAGES, "hold -100: classes count from 0"),
        (LABELS.tolist(), IMAGES, "test_labels: list found"),
        (LABELS[:3], IMAGES[:2], "2 test images with 3 labels"),
        (LABELS, loader(), r"test_images: DataLoader found.*from_loaders"),
    ],
)
def test_data_without_a_plain_meaning_are_refused(labels: Any, images: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        labelled(labels, images)


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([IMAGES], "images without labels"),
        ([{"input_ids": IMAGES, "attention_mask": IMAGES, "labels": LABELS}], "a batch is a dict"),
        ([], "gives no batch"),
    ],
)
def test_batches_without_a_plain_meaning_are_refused(batches: list[Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        ValleyData.from_loaders(batches)


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
