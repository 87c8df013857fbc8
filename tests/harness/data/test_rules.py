"""Each rule gives the known content of its data sets, from files in its upstream's format."""

from __future__ import annotations

import io
import json
import tarfile
from functools import cache
from pathlib import Path

import pytest

from harness.data import load as datasets
from harness.data.catalogue import Dataset, read_catalogue
from harness.data.make import make, parse_source
from harness.data.rules import RULES
from harness.data.rules.files import opened
from tests.harness.data.upstreams import WRITERS

OURS = {
    dataset.name: dataset
    for dataset in read_catalogue(Path(datasets.__file__).with_name("catalogue.toml"))
}
MADE = sorted(name for name, dataset in OURS.items() if dataset.made and dataset.staged)


@cache
def files_of(name: str) -> dict[str, bytes]:
    """Return what the rule of a staged data set reads; some are compressed for seconds."""
    made = OURS[name].made
    assert made is not None
    names = [parse_source(file).name for file in made.files]
    return WRITERS[made.rule.split(":")[1]](datasets.load(name).value, names)


def upstream_of(dataset: Dataset, folder: Path) -> Path:
    """Write what the rule of a staged data set reads; return the folder."""
    for name, data in files_of(dataset.name).items():
        (folder / name).write_bytes(data)
    return folder


@pytest.mark.data
@pytest.mark.parametrize("name", MADE)
def test_rule_gives_the_known_content(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("REPRO_CATALOGUE", raising=False)
    cache, files = tmp_path / "cache", tmp_path / "files"
    files.mkdir()
    dataset = OURS[name]
    assert dataset.made is not None
    path = make(dataset, dataset.made, cache, given=upstream_of(dataset, files))
    monkeypatch.delenv("REPRO_DATA")
    monkeypatch.setenv("REPRO_CACHE", str(cache))
    content = datasets.load(name)
    assert (content.variant, content.sha256) == ("made", dataset.sha256)
    assert [file for file in cache.rglob("*") if file.is_file()] == [path]


def test_every_staged_data_set_has_a_rule() -> None:
    for dataset in OURS.values():
        if dataset.staged:
            assert dataset.made is not None, dataset.name


def test_no_rule_is_without_a_data_set() -> None:
    used = {dataset.made.rule for dataset in OURS.values() if dataset.made}
    assert used == set(RULES)


def test_verses_become_books_in_their_order(tmp_path: Path) -> None:
    verses = [("Ruth", "a"), ("Ruth", "b"), ("Amos", "c")]
    lines = "\n".join(json.dumps({"book": book, "text": text}) for book, text in verses)
    path = tmp_path / "bible-1.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        member = tarfile.TarInfo("bible-1/bible/data/kjv.jsonl")
        member.size = len(lines)
        archive.addfile(member, io.BytesIO(lines.encode()))
    with opened({path.name: path}) as files:
        found = RULES["records:bible"](files)
    assert found == [{"title": "Ruth", "text": "a\nb"}, {"title": "Amos", "text": "c"}]
