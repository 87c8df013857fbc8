"""Fetching from a hub repository: recorded once, matched ever after, one sentence on failure."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import PIL.Image
import pytest

from harness.data import hub
from harness.data import load as datasets
from harness.data.catalogue import Dataset
from harness.errors import DataError, EnvError
from tests.harness.staged_folder import local_image_repo, local_repo, one_sentence

pytestmark = pytest.mark.usefixtures("nothing_outside")


def hub_dataset(repo: str, **changes: object) -> Dataset:
    entry = {
        "name": "mini",
        "kind": "records",
        "licence": "CC0",
        "upstream": "us",
        "rule": "as it is",
        "sha256": "",
        "hub": {"repo": repo, "splits": ["train"], "field": "text"},
    }
    return Dataset.model_validate({**entry, **changes})


def test_first_fetch_is_recorded_and_later_ones_must_match(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = local_repo(tmp_path / "repo", ["one", "two\nlines", "drei \u00e4"])
    dataset = hub_dataset(str(repo))
    cache = datasets.cache_folder()
    fetched = hub.fetch(dataset, cache)
    plain = gzip.decompress((cache / "hub/mini.jsonl.gz").read_bytes())
    assert [json.loads(line)["text"] for line in plain.split(b"\n")[:-1]] == [
        "one",
        "two\nlines",
        "drei \u00e4",
    ]
    assert fetched == hashlib.sha256(plain).hexdigest()
    assert hub.fetch(dataset, cache) == fetched
    # The record outlives the file.
    (cache / "hub/mini.jsonl.gz").unlink()
    local_repo(repo, ["one", "two\nlines", "drei"])
    with pytest.raises(DataError, match="than the first fetch says") as error:
        hub.fetch(dataset, cache)
    assert fetched in one_sentence(error)
    assert not (cache / "hub/mini.jsonl.gz").exists()
    assert hub.pinned(dataset, cache) == fetched


def test_fetched_content_must_be_what_the_catalogue_says(tmp_path: Path) -> None:
    repo = local_repo(tmp_path / "repo", ["To be, "], ["or not"])
    wanted = hashlib.sha256(b"To be, or not").hexdigest()
    hub_variant = {"repo": str(repo), "splits": ["train", "validation"], "field": "text"}
    right = hub_dataset(str(repo), kind="text", sha256=wanted, hub=hub_variant)
    assert hub.fetch(right, tmp_path / "a") == wanted
    other = hub_dataset(str(repo), kind="text", sha256="0" * 64, hub=hub_variant)
    with pytest.raises(DataError, match=f"the catalogue says, expected {'0' * 64}, found {wanted}"):
        hub.fetch(other, tmp_path / "b")
    assert not (tmp_path / "b").exists()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"field": "words"}, "KeyError: 'words'"),
        ({"splits": ["nosplit"]}, "nosplit"),
        ({"repo": "/nowhere/at/all"}, "/nowhere/at/all"),
        ({"num_records": 2}, "has 1 records in train, the catalogue wants 2"),
    ],
)
def test_a_hub_entry_that_does_not_fit_is_one_sentence(
    tmp_path: Path, change: dict[str, object], reason: str
) -> None:
    repo = local_repo(tmp_path / "repo", ["a"])
    variant = {"repo": str(repo), "splits": ["train"], "field": "text", **change}
    with pytest.raises((EnvError, DataError), match=reason) as error:
        hub.fetch(hub_dataset("", hub=variant), tmp_path / "cache")
    one_sentence(error)
    assert not (tmp_path / "cache").exists()


def test_no_network_is_one_sentence_and_quick() -> None:
    code = (
        "import harness.data.hub as h, harness.data.load as d, harness.errors as e\n"
        "try: h.fetch(d.find('cifar10'), d.cache_folder())\n"
        "except e.EnvError as error: print(error)\n"
    )
    # Nothing listens on port 9, so this fails alike with and without a network.
    env = {**os.environ, "HF_ENDPOINT": "http://127.0.0.1:9"}
    # A client that tries again and again would take longer.
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True,
        timeout=30,
    )  # fmt: skip
    assert out.stdout.startswith("cannot fetch cifar10 from uoft-cs/cifar10")
    assert out.stdout.count("\n") == 1


def test_fetched_data_are_found_in_the_cache_and_in_a_carried_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repo = local_repo(tmp_path / "repo", ["a", "b"])
    file = tmp_path / "mine.toml"
    catalogue_of(file, str(repo))
    monkeypatch.setenv("REPRO_CATALOGUE", str(file))
    assert datasets.data_hash("mini") == "unfetched"
    assert datasets.available("mini") is None
    fetched = hub.fetch(datasets.find("mini"), datasets.cache_folder())
    content = datasets.load("mini")
    assert (content.variant, content.sha256) == ("hub", fetched)
    assert content.records == [{"text": "a"}, {"text": "b"}]
    assert datasets.data_hash("mini") == fetched
    carried = tmp_path / "carried"
    shutil.copytree(datasets.cache_folder(), carried)
    shutil.rmtree(datasets.cache_folder())
    assert datasets.available("mini") is None
    monkeypatch.setenv("REPRO_DATA", str(carried))
    assert datasets.load("mini") == content
    # The hash, too, may be damaged.
    (carried / "hub/mini.sha256").write_text("0" * 63)
    assert datasets.available("mini") is None
    assert datasets.data_hash("mini") == "unfetched"
    with pytest.raises(DataError, match="holds no hash"):
        datasets.load("mini")


def catalogue_of(file: Path, repo: str) -> None:
    file.write_text(
        'schema_version = 1\n[[dataset]]\nname = "mini"\nkind = "records"\nlicence = "-"\n'
        'upstream = "-"\nrule = "-"\nsha256 = ""\n'
        f'hub = {{ repo = "{repo}", splits = ["train"], field = "text" }}\n'
    )


# Images


def png(pixels: np.ndarray) -> bytes:
    buffer = io.BytesIO()
    PIL.Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


def hub_images(repo: Path, **changes: object) -> Dataset:
    variant = {"repo": str(repo), "splits": ["train", "test"], "field": "img", "label": "label"}
    return hub_dataset("", kind="arrays", hub={**variant, **changes})


def test_images_and_labels_of_both_splits_come_back_as_they_were(tmp_path: Path) -> None:
    cache, draw = datasets.cache_folder(), np.random.default_rng(1)
    images = draw.integers(0, 256, (5, 6, 5, 3), np.uint8)
    items = [(png(each), label) for each, label in zip(images, (7, 0, 255, 1, 7), strict=True)]
    repo = local_image_repo(tmp_path / "repo", items[:3], items[3:])
    hub.fetch(hub_images(repo), cache)
    with np.load(cache / "hub/mini.npz") as arrays:
        assert {array.dtype for array in arrays.values()} == {np.dtype(np.uint8)}
        assert np.array_equal(arrays["x_train"], images[:3])
        assert np.array_equal(arrays["x_test"], images[3:])
        assert arrays["y_train"].tolist() == [7, 0, 255] and arrays["y_test"].tolist() == [1, 7]
    # One pixel is another data set.
    images[0, 0, 0, 0] ^= 1
    local_image_repo(repo, [(png(images[0]), 7), *items[1:3]], items[3:])
    with pytest.raises(DataError, match="than the first fetch says"):
        hub.fetch(hub_images(repo), cache)


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


@pytest.mark.parametrize("change", [{"field": "label"}, {"label": "img"}])
def test_a_column_that_does_not_fit_is_one_sentence(
    tmp_path: Path, change: dict[str, object]
) -> None:
    item = (png(np.zeros((4, 4, 3), np.uint8)), 0)
    repo = local_image_repo(tmp_path / "repo", [item], [item])
    with pytest.raises(EnvError, match="the fields that the catalogue names") as error:
        hub.fetch(hub_images(repo, **change), tmp_path / "cache")
    one_sentence(error)
    assert not (tmp_path / "cache").exists()
