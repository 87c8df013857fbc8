"""What a valley is measured on: what is taken, and what is refused in a sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.utils.data import DataLoader, TensorDataset

from harness.errors import SpecError
from reproductions.asymvalley.method.data import ValleyData
from tests.reproductions.asymvalley.small import small_data

DATA = small_data()
IMAGES, LABELS = DATA.test_images, DATA.test_labels


def labelled(labels: Any, images: Any = IMAGES) -> ValleyData:
    return ValleyData(test_images=images, test_labels=labels)


@pytest.mark.parametrize(
    "given",
    [
        LABELS.int(),
        LABELS.to(torch.uint8),
        LABELS.numpy(),
        LABELS.numpy().astype(np.uint16),
        torch.nn.functional.one_hot(LABELS),
        torch.nn.functional.one_hot(LABELS).float().numpy(),
        torch.nn.functional.one_hot(LABELS, 7).bool(),
    ],
    ids=["int32", "uint8", "numpy", "uint16", "one_hot", "one_hot_float", "one_hot_bool"],
)
def test_labels_of_every_kind_are_class_numbers(given: Any) -> None:
    data = labelled(given)
    assert data.test_labels.dtype is torch.int64
    assert torch.equal(data.test_labels, LABELS)
    assert data.num_classes == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (LABELS.float(), r"shape \(30,\) and torch\.float32: need whole numbers"),
        (torch.full((30, 3), 1 / 3), r"shape \(30, 3\) and torch\.float32"),
        (torch.ones(30, 3, dtype=torch.int64), r"or one-hot rows"),
        (LABELS[:, None], r"shape \(30, 1\)"),
        (LABELS.index_fill(0, torch.tensor([4]), -100), "hold -100: classes count from 0"),
        (LABELS.tolist(), "test_labels: list found"),
        (np.array(["cat"] * 30), "test_labels: ndarray found"),
    ],
    ids=["float", "soft", "several", "column", "negative", "list", "words"],
)
def test_labels_without_a_plain_meaning_are_refused(given: Any, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        labelled(given)


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


def test_images_without_labels_are_refused() -> None:
    with pytest.raises(SpecError, match="2 test images with 3 labels"):
        labelled(LABELS[:3], IMAGES[:2])
    with pytest.raises(SpecError, match="0 test images with 0 labels"):
        labelled(LABELS[:0], IMAGES[:0])
    with pytest.raises(SpecError, match="batch_size=0"):
        ValleyData(test_images=IMAGES, test_labels=LABELS, batch_size=0)


def loader(images: Tensor = IMAGES, labels: Tensor = LABELS) -> DataLoader[Any]:
    return DataLoader(TensorDataset(images, labels), batch_size=8)


def test_a_loader_in_the_place_of_images_is_told_where_to_go() -> None:
    with pytest.raises(SpecError, match=r"test_images: DataLoader found.*from_loaders"):
        labelled(LABELS, loader())
    with pytest.raises(SpecError, match=r"statistics_images: DataLoader found.*from_loaders"):
        ValleyData(test_images=IMAGES, test_labels=LABELS, statistics_images=loader())  # type: ignore[arg-type]


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


def test_a_shuffled_loader_is_read_once() -> None:
    shuffled = DataLoader(TensorDataset(IMAGES, LABELS), batch_size=8, shuffle=True)
    data = ValleyData.from_loaders(shuffled)
    assert data.statistics_images is None
    found = {image.numpy().tobytes(): int(label) for image, label in _pairs(data)}
    assert found == {x.numpy().tobytes(): int(y) for x, y in zip(IMAGES, LABELS, strict=True)}


def _pairs(data: ValleyData) -> Any:
    return zip(data.test_images, data.test_labels, strict=True)


@pytest.mark.parametrize(
    ("batches", "said"),
    [
        ([IMAGES], "images without labels"),
        ([(IMAGES, LABELS, LABELS)], "a batch is a tuple: need images"),
        ([{"input_ids": IMAGES, "attention_mask": IMAGES, "labels": LABELS}], "a batch is a dict"),
        (["images"], "a batch is a str"),
        ([], "gives no batch"),
    ],
)
def test_batches_without_a_plain_meaning_are_refused(batches: list[Any], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        ValleyData.from_loaders(batches)
