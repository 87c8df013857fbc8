"""Resolution, checking and fetching of data sets, on real files, intact and damaged."""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from harness.data import hub
from harness.data import load as datasets
from harness.data.catalogue import Dataset, read_catalogue
from harness.data.codec import hash_arrays
from harness.errors import DataError, SpecError
from tests.harness.staged_folder import FILES, RECORDS, TEXT, local_repo, make_folder, one_sentence

pytestmark = pytest.mark.usefixtures("nothing_outside")
STAGED = os.environ.get("REPRO_DATA", "")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A staged folder of all kinds with its manifest, and a catalogue made from it."""
    root, catalogue = tmp_path / "data", tmp_path / "mine.toml"
    make_folder(root, catalogue)
    monkeypatch.setenv("REPRO_CATALOGUE", str(catalogue))
    monkeypatch.setenv("REPRO_DATA", str(root))
    return root


def test_each_kind_is_decoded_and_hashed_by_its_content(folder: Path) -> None:
    assert datasets.load("verse").text == TEXT
    assert datasets.load("verse").sha256 == hashlib.sha256(TEXT.encode()).hexdigest()
    assert datasets.load("sums").records == RECORDS
    pixels = datasets.load("pixels")
    assert pixels.arrays["x"].shape == (2, 3, 4)
    header = b'["x","|u1",[2,3,4]]\n'
    assert pixels.sha256 == hashlib.sha256(header + bytes(range(24))).hexdigest()
    assert datasets.load("weights").arrays["w"].dtype == np.float32
    assert datasets.load("weights.config").value == {"dim": 64}
    for name in FILES:
        content = datasets.load(name)
        assert (content.name, content.variant) == (name, "staged")
        assert content.sha256 == datasets.data_hash(name)
    with pytest.raises(SpecError, match="not records"):
        _ = datasets.load("verse").records


def test_array_hash_sees_name_dtype_shape_and_bytes() -> None:
    base = {"x": np.zeros((2, 3), np.float32)}
    others = [
        {"y": base["x"]},
        {"x": np.zeros((2, 3), np.int32)},
        {"x": np.zeros((3, 2), np.float32)},
        {"x": np.zeros((2, 3), ">f4")},
        {"x": base["x"] + 1},
        {"x": base["x"], "y": np.zeros(0)},
    ]
    assert len({hash_arrays(arrays) for arrays in [base, *others]}) == 7
    fortran = {"x": np.asfortranarray(np.arange(6).reshape(2, 3))}
    assert hash_arrays(fortran) == hash_arrays({"x": np.arange(6).reshape(2, 3)})


@pytest.mark.parametrize("name", list(FILES))
def test_truncated_file_is_refused(folder: Path, name: str) -> None:
    path = folder / FILES[name]
    intact = path.read_bytes()
    path.write_bytes(intact[: len(intact) // 2])
    with pytest.raises(DataError, match=r"truncated, altered or of another format") as error:
        datasets.load(name)
    assert str(path) in one_sentence(error)
    assert datasets.available(name) == "staged", "existence only"


def test_altered_content_is_refused_with_both_hashes(folder: Path) -> None:
    assert datasets.load("verse").text == TEXT, "a cached value must not hide the change"
    changed = TEXT.replace("question", "answer")
    (folder / FILES["verse"]).write_bytes(gzip.compress(changed.encode()))
    with pytest.raises(DataError, match="holds other content") as error:
        datasets.load("verse")
    assert hashlib.sha256(TEXT.encode()).hexdigest() in one_sentence(error)
    assert hashlib.sha256(changed.encode()).hexdigest() in one_sentence(error)


def test_arrays_are_decoded_once_and_altered_ones_still_noticed(folder: Path) -> None:
    first = datasets.load("pixels")
    assert datasets.load("pixels").arrays["x"] is first.arrays["x"]
    # What a caller adds to its dict is not in the next one's.
    first.arrays["mine"] = np.zeros(1)
    assert set(datasets.load("pixels").arrays) == {"x"}
    changed = first.arrays["x"].copy()
    changed[0, 0, 0] += 1
    np.savez(folder / FILES["pixels"], x=changed)
    with pytest.raises(DataError, match="holds other content"):
        datasets.load("pixels")
    np.savez(folder / FILES["pixels"], x=first.arrays["x"])
    assert datasets.load("pixels").sha256 == first.sha256


def test_pickle_is_never_read(folder: Path) -> None:
    path = folder / FILES["pixels"]
    np.savez(path, x=np.array([{"a": 1}], dtype=object))
    with pytest.raises(DataError, match="not readable as arrays"):
        datasets.load("pixels")
    path.write_bytes(pickle.dumps({"x": 1}))
    with pytest.raises(DataError, match="not readable as arrays"):
        datasets.load("pixels")


def test_missing_data_says_what_and_how(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / FILES["verse"]).unlink()
    with pytest.raises(DataError, match=r"missing \(not in ") as error:
        datasets.load("verse")
    assert "set REPRO_DATA to a folder with text/verse.txt.gz" in one_sentence(error)
    assert datasets.available("verse") is None
    assert datasets.missing_reason("verse") == str(error.value)
    assert datasets.missing_reason("sums") == ""
    monkeypatch.delenv("REPRO_DATA")
    with pytest.raises(DataError, match="REPRO_DATA is not set"):
        datasets.load("sums")
    assert datasets.data_hash("sums"), "the catalogue alone tells the hash"
    with pytest.raises(DataError, match="repro data make tinyshakespeare"):
        datasets.load("tinyshakespeare")


def test_a_folder_variable_that_names_no_folder_is_an_error(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wrong in (folder / "nowhere", folder / "MANIFEST.csv"):
        monkeypatch.setenv("REPRO_DATA", str(wrong))
        with pytest.raises(DataError, match="is not a folder") as error:
            datasets.load("verse")
        assert str(wrong) in one_sentence(error)
        assert datasets.available("verse") is None
        assert "is not a folder" in datasets.missing_reason("verse")
        assert datasets.load("grammar-text").variant == "bundled"


def test_bundled_data_need_nothing() -> None:
    digits = datasets.load("digits")
    assert digits.variant == "bundled"
    assert digits.arrays["x"].shape == (1797, 8, 8)
    assert digits.arrays["x"].max() == 16
    counts = [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # as UCI's description says
    assert np.bincount(digits.arrays["y"]).tolist() == counts
    assert digits.sha256 == datasets.data_hash("digits")
    assert datasets.load("grammar-text").sha256 == datasets.data_hash("grammar-text")


def test_bundled_maker_that_changed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'schema_version = 1\n[[dataset]]\nname = "mine"\nkind = "text"\nlicence = "-"\n'
        f'upstream = "-"\nrule = "-"\nsha256 = "{"0" * 64}"\n'
        'bundled = "grammar_text"\n'
    )
    monkeypatch.setenv("REPRO_CATALOGUE", str(file))
    with pytest.raises(DataError, match=f"expected {'0' * 64}, found ba2300"):
        datasets.load("mine")


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("licence =", "license =", "license"),
        ("staged = ", "stage = ", "stage"),
        ("staged = ", 'bundled = "os:abort"\nstaged = ', "'digits' or 'grammar_text'"),
        ("schema_version = 1", "schema_version = 2", "schema_version"),
        ('kind = "text"', 'kind = "picture"', "kind"),
        ('staged = "text/', 'staged = "../text/', "leaves the data folder"),
        ('name = "sums"', 'name = "tinyshakespeare"', "in the catalogue already"),
        ("[[dataset]]", "[dataset", "is not valid TOML"),
    ],
)
def test_a_wrong_catalogue_is_refused(folder: Path, old: str, new: str, reason: str) -> None:
    file = Path(os.environ["REPRO_CATALOGUE"])
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=reason) as error:
        datasets.catalogue()
    assert str(file) in str(error.value)


def test_staged_folder_wins_over_the_cache_and_its_damage_is_not_hidden(
    folder: Path, tmp_path: Path
) -> None:
    entry = datasets.find("verse").model_dump()
    repo = local_repo(tmp_path / "repo", [TEXT])
    entry["hub"] = {"repo": str(repo), "splits": ["train"], "field": "text"}
    both = Dataset.model_validate(entry)
    hub.fetch(both, datasets.cache_folder())
    source = datasets.locate(both)
    assert source is not None and source.variant == "staged"
    (folder / FILES["verse"]).write_bytes(b"damaged")
    source = datasets.locate(both)
    assert source is not None
    with pytest.raises(DataError):
        datasets.read(both, source)
    (folder / FILES["verse"]).unlink()
    source = datasets.locate(both)
    assert source is not None and source.variant == "hub"
    assert datasets.read(both, source).value == TEXT


@pytest.mark.data
def test_every_staged_file_is_in_the_catalogue_and_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REPRO_DATA", STAGED)
    manifest = Path(STAGED) / "MANIFEST.csv"
    with manifest.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream))
    built_in = {
        d.name: d for d in read_catalogue(Path(datasets.__file__).with_name("catalogue.toml"))
    }
    staged = {row["name"]: row for row in rows if row["name"] in built_in}
    assert set(staged) == {name for name, dataset in built_in.items() if dataset.staged}
    for name, row in staged.items():
        dataset = built_in[name]
        assert (dataset.licence, dataset.rule) == (row["licence"], row["how_derived"])
        assert (dataset.staged, datasets.load(name).variant) == (row["path"], "staged")


def test_catalogue_entry_for_tiny_shakespeare_is_the_known_text() -> None:
    """The hash of karpathy/char-rnn's input.txt, published in many places."""
    known = "86c4e6aa9db7c042ec79f339dcb96d42b0075e16b8fc2e86bf0ca57e2dc565ed"
    assert datasets.data_hash("tinyshakespeare") == known
