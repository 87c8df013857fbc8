"""The tool that makes catalogues writes where it is told, and ours only when it is meant."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from harness.data import load as datasets
from tests.checkout import ROOT
from tests.harness.inline_lab import tree
from tests.harness.staged_folder import make_folder
from tools import make_catalogue


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the folder with our own catalogue, which the tool takes for it."""
    copy = tmp_path / "ours"
    copy.mkdir()
    for path in make_catalogue.HERE.glob("*.toml"):
        shutil.copy(path, copy)
    monkeypatch.setattr(make_catalogue, "HERE", copy)
    return copy


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder of somebody's own data with its manifest."""
    make_folder(tmp_path / "data", tmp_path / "unused.toml")
    return tmp_path / "data"


def test_the_page_s_command_makes_a_catalogue_of_one_s_own_and_says_how_to_use_it(
    ours: Path, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    before = tree(ours)
    page = (ROOT / "docs" / "data.md").read_text(encoding="utf-8")
    command = re.search(r"`python -m tools\.make_catalogue (.+?)`", page)
    assert command is not None
    capsys.readouterr()
    assert make_catalogue.main(command[1].replace("FOLDER", str(folder)).split()) == 0
    assert tree(ours) == before
    exports = dict(re.findall(r"^export (\w+)=(.+)$", capsys.readouterr().out, re.MULTILINE))
    assert exports == {
        "REPRO_DATA": str(folder),
        "REPRO_CATALOGUE": str(folder / "catalogue.toml"),
    }
    for name, value in exports.items():
        monkeypatch.setenv(name, value)
    assert datasets.load("verse").variant == "staged"


def test_a_catalogue_that_cannot_be_used_replaces_none(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_catalogue.main([str(folder), "--no-base"]) == 0
    manifest = folder / "MANIFEST.csv"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("\nverse,", "\nNo Name,"), encoding="utf-8")
    before = tree(folder)
    assert make_catalogue.main([str(folder), "--no-base"]) == 2
    assert "dataset[0].name" in capsys.readouterr().err
    assert tree(folder) == before


def test_our_own_catalogue_is_made_without_a_word_more(ours: Path, folder: Path) -> None:
    (ours / "catalogue_base.toml").write_text(
        '[[made]]\nname = "verse"\nrule = "records:text"\nfiles = ["https://example.org/verse.txt"]\n'
    )
    assert make_catalogue.main([str(folder)]) == 0
    made = (ours / "catalogue.toml").read_text(encoding="utf-8")
    assert re.findall(r'^name = "(.+)"', made, re.MULTILINE) == ["verse"]


def test_a_manifest_without_a_column_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "MANIFEST.csv").write_text("name,bytes\na,1\n")
    assert make_catalogue.main([str(tmp_path), "--no-base"]) == 2
    assert "has no column" in capsys.readouterr().err
