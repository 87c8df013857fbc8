"""Image data sets from a hub repository: pixels kept, labels kept, damage named by its record."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from harness.data import hub
from harness.data import load as datasets
from harness.data.catalogue import Dataset
from harness.errors import DataError
from tests.harness.data.test_hub import one_sentence
from tests.harness.staged_folder import local_image_repo


@pytest.fixture(autouse=True)
def _no_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep the tests away from this machine's data and cache."""
    monkeypatch.delenv("REPRO_DATA", raising=False)
    monkeypatch.delenv("REPRO_CATALOGUE", raising=False)
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))


def noise(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, shape, np.uint8)


def png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def hub_images(repo: Path, **changes: object) -> Dataset:
    variant = {"repo": str(repo), "splits": ["train", "test"], "field": "img", "label": "label"}
    entry = {"name": "mini", "kind": "arrays", "licence": "-", "upstream": "-", "rule": "-"}
    return Dataset.model_validate({**entry, "sha256": "", "hub": {**variant, **changes}})


def test_images_and_labels_of_both_splits_come_back_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train, test = noise(3, 6, 5, 3, seed=1), noise(2, 6, 5, 3, seed=2)
    repo = local_image_repo(
        tmp_path / "repo",
        [(png(image), label) for image, label in zip(train, (7, 0, 255), strict=True)],
        [(png(image), label) for image, label in zip(test, (1, 7), strict=True)],
    )
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema_version = 1\n[[dataset]]\nname = "mini"\nkind = "arrays"\nlicence = "-"\n'
        'upstream = "-"\nrule = "-"\nsha256 = ""\n[dataset.hub]\n'
        f'repo = "{repo}"\nsplits = ["train", "test"]\nfield = "img"\nlabel = "label"\n'
    )
    monkeypatch.setenv("REPRO_CATALOGUE", str(file))
    fetched = hub.fetch(datasets.find("mini"), datasets.cache_folder())
    assert (fetched.num_records, fetched.path) == (5, "hub/mini.npz")
    arrays = datasets.load("mini").arrays
    assert {array.dtype for array in arrays.values()} == {np.dtype(np.uint8)}
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "x_train": train.tolist(),
        "y_train": [7, 0, 255],
        "x_test": test.tolist(),
        "y_test": [1, 7],
    }
    assert datasets.data_hash("mini") == fetched.sha256
    assert hub.fetch(datasets.find("mini"), datasets.cache_folder()) == fetched
    # One pixel is another data set.
    train[0, 0, 0, 0] ^= 1
    items = [(png(image), label) for image, label in zip(train, (7, 0, 255), strict=True)]
    local_image_repo(repo, items, [(png(image), 1) for image in test])
    with pytest.raises(DataError, match="than the first fetch says"):
        hub.fetch(datasets.find("mini"), datasets.cache_folder())


def test_image_size_is_a_centred_square_crop_and_a_resize(tmp_path: Path) -> None:
    wide = np.zeros((8, 24, 3), np.uint8)
    wide[:, 8:16] = 200
    tall = np.zeros((40, 10, 3), np.uint8)
    tall[15:25] = 100
    repo = local_image_repo(tmp_path / "repo", [(png(wide), 0)], [(png(tall), 1)])
    hub.fetch(hub_images(repo, image_size=4), tmp_path / "cache")
    with np.load(tmp_path / "cache/hub/mini.npz") as arrays:
        assert (arrays["x_train"] == 200).all() and arrays["x_train"].shape == (1, 4, 4, 3)
        assert (arrays["x_test"] == 100).all() and arrays["x_test"].shape == (1, 4, 4, 3)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            {"field": "image"},
            "record 0 of .* has no image .* in the field 'image', only img, label",
        ),
        ({"field": "label"}, "has no image .* in the field 'label'"),
        ({"label": "class"}, "no class from 0 to 255 in the field 'class', found None among img"),
        ({"label": "img"}, "no class from 0 to 255 in the field 'img'"),
    ],
)
def test_a_column_that_does_not_fit_is_one_sentence(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    item = (png(noise(4, 4, 3)), 0)
    repo = local_image_repo(tmp_path / "repo", [item], [item])
    with pytest.raises(DataError, match=reason) as error:
        hub.fetch(hub_images(repo, **change), tmp_path / "cache")
    one_sentence(error)
    assert not (tmp_path / "cache").exists()
