"""Each rule gives the known content of its data sets, from files in its upstream's format."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from harness.data import load as datasets
from harness.data.catalogue import Dataset, read_catalogue
from harness.data.make import make
from harness.data.rules import RULES
from harness.data.sources import parse_source
from harness.errors import DataError
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


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("mnist", "t10k-images-idx3-ubyte.gz"),
        ("cifar10_more_10k", "cifar-10-binary.tar.gz"),
        ("squad_docs", "dev.json"),
        ("stories260k", "stories260K.bin"),
        ("babyllama_tok105.tokenizer", "tok105.model"),
        ("resnet20_cifar10", "resnet20-12fca82f.th"),
    ],
)
def test_cut_file_makes_nothing(name: str, file: str, tmp_path: Path) -> None:
    dataset, cache = OURS[name], tmp_path / "cache"
    assert dataset.made is not None
    folder = upstream_of(dataset, tmp_path)
    whole = (folder / file).read_bytes()
    (folder / file).write_bytes(whole[: len(whole) - len(whole) // 3 - 1])
    with pytest.raises(DataError, match=r"cannot read|no archive") as error:
        make(dataset, dataset.made, cache, given=folder)
    assert "\n" not in str(error.value)
    assert not cache.exists()


def test_every_staged_data_set_has_a_rule_or_a_reason() -> None:
    for dataset in OURS.values():
        if dataset.staged:
            assert (dataset.made is None) == bool(dataset.unobtainable), dataset.name


def test_no_rule_is_without_a_data_set() -> None:
    used = {dataset.made.rule for dataset in OURS.values() if dataset.made}
    assert used == set(RULES)


def test_sources_are_those_of_the_manifest_at_their_commits() -> None:
    """But for MNIST and CIFAR-10, whose training images come from where they were published."""
    for name in MADE:
        dataset = OURS[name]
        assert dataset.made is not None
        for file in dataset.made.files:
            address = parse_source(file).address
            if "toronto.edu" in address or "/mnist/" in address:
                continue
            owner, repository, *rest = address.removeprefix("https://").split("/")[1:]
            commit = rest[1].removesuffix(".zip") if rest[0] == "archive" else rest[0]
            upstreams = dataset.upstream, OURS["squad_docs"].upstream, OURS["xquad_en"].upstream
            known = upstreams if name == "squad_single" else upstreams[:1]
            assert any(f"{owner}/{repository} @ {commit}" in each for each in known), file
