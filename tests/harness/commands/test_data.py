"""`repro data`, as a person or a script calls it."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from harness.commands.data import app
from harness.data import load as datasets
from harness.data.pack import pack
from harness.errors import DataError, RunError, UsageError
from tests.harness.small_disk import SmallDisk, needs_mount
from tests.harness.staged_folder import FILES, TEXT, local_repo, make_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A staged folder, and beside it a catalogue that also has one hub data set."""
    root, catalogue = tmp_path / "data", tmp_path / "mine.toml"
    make_folder(root, catalogue)
    repo = local_repo(tmp_path / "repo", ["a", "b"])
    entry = (
        '\n[[dataset]]\nname = "mini"\nkind = "records"\nlicence = "-"\nupstream = "-"\n'
        'rule = "-"\nsha256 = ""\n'
        f'hub = {{ repo = "{repo}", splits = ["train"], field = "text" }}\n'
    )
    catalogue.write_text(catalogue.read_text(encoding="utf-8") + entry, encoding="utf-8")
    monkeypatch.setenv("REPRO_CATALOGUE", str(catalogue))
    monkeypatch.setenv("REPRO_DATA", str(root))
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    return root


def call(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


def rows_of(result: Result) -> dict[str, dict[str, object]]:
    return {row["name"]: row for row in json.loads(result.stdout)}


def test_list_tells_what_is_here_and_what_is_missing(folder: Path) -> None:
    (folder / FILES["sums"]).unlink()
    rows = rows_of(call("list", "--json"))
    assert rows["verse"]["available"] == "staged"
    assert rows["digits"]["available"] == "bundled"
    assert rows["sums"]["available"] is None
    assert "a folder with eval/sums.jsonl.gz" in str(rows["sums"]["missing"])
    assert rows["mini"]["sha256"] == rows["slimpajama"]["sha256"] == "unfetched"
    plain = call("list")
    assert plain.exit_code == 0
    assert "tinyshakespeare" in plain.stdout


def test_verify_names_what_is_bad_and_fails(folder: Path) -> None:
    names = ["verse", "sums", "grammar-text"]
    good = call("verify", *names, "--json")
    assert good.exit_code == 0
    assert {row["state"] for row in rows_of(good).values()} == {"ok"}
    (folder / FILES["verse"]).write_bytes(gzip.compress(TEXT.upper().encode()))
    (folder / FILES["sums"]).unlink()
    bad = call("verify", *names, "--json")
    assert bad.exit_code == 2
    states = {name: row["state"] for name, row in rows_of(bad).items()}
    assert states == {"verse": "bad", "sums": "missing", "grammar-text": "ok"}
    assert "found" in str(rows_of(bad)["verse"]["reason"])
    assert "2 of 3 not right: verse, sums" in bad.stderr


def test_fetch_fills_the_cache_once(folder: Path, tmp_path: Path) -> None:
    first = call("fetch", "mini")
    assert first.exit_code == 0, first.exception
    assert "this first fetch pins it" in first.stderr
    assert datasets.load("mini").records == [{"text": "a"}, {"text": "b"}]
    local_repo(tmp_path / "repo", ["a", "changed"])
    assert "is here already" in call("fetch", "mini").stderr
    again = call("fetch", "mini", "--again")
    assert isinstance(again.exception, DataError)
    assert datasets.load("mini").records == [{"text": "a"}, {"text": "b"}]


def test_pack_is_a_data_folder_of_its_own(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert call("fetch", "mini").exit_code == 0
    names = ["digits", "mini", "pixels", "verse"]
    hashes = {name: datasets.load(name).sha256 for name in names}
    out = tmp_path / "carry"
    packed = pack(names, out)
    assert {item.name: item.sha256 for item in packed} == hashes
    files = {str(path.relative_to(out)) for path in out.rglob("*") if path.is_file()}
    assert files == {
        "hub/mini.sha256",
        "hub/mini.jsonl.gz",
        FILES["pixels"],
        FILES["verse"],
    }
    # The other machine has neither the folder nor the cache.
    monkeypatch.setenv("REPRO_DATA", str(out))
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "empty"))
    assert {name: datasets.load(name).sha256 for name in names} == hashes
    assert datasets.available("sums") is None


def test_pack_of_what_is_damaged_or_missing_leaves_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / FILES["verse"]).write_bytes(b"damaged")
    for names in (["pixels", "verse"], ["pixels", "slimpajama"]):
        with pytest.raises(DataError):
            pack(names, tmp_path / "carry")
        assert not (tmp_path / "carry").exists()


@needs_mount
def test_pack_that_fills_the_disk_leaves_nothing(folder: Path, small_disk: SmallDisk) -> None:
    out = small_disk.folder / "carry"
    names = ["pixels", "verse"]
    size = sum((folder / FILES[name]).stat().st_size for name in names)
    for room in range(0, size, max(1, size // 4)):
        with small_disk.filled(spare_bytes=room):
            with pytest.raises(RunError, match=r"^the disk is full|^cannot write"):
                pack(names, out)
            assert not out.exists()
    assert len(pack(names, out)) == 2


def test_pack_overwrites_nothing(folder: Path, tmp_path: Path) -> None:
    kept = tmp_path / "carry" / "notes.txt"
    kept.parent.mkdir()
    kept.write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        pack(["verse"], tmp_path / "carry")
    with pytest.raises(UsageError, match="cannot be used"):
        pack(["verse"], kept)
    with pytest.raises(UsageError, match="is not empty"):
        pack(["verse"], folder)
    assert list((tmp_path / "carry").iterdir()) == [kept]
