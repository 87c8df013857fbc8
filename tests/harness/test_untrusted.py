"""Hostile files: each kind is one sentence that names the file, in bounded time and memory."""

from __future__ import annotations

import gzip
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.untrusted import (
    UnreadableError,
    is_there,
    parse_json,
    read_bytes,
    read_text,
    read_toml,
    unzip,
)
from tests.harness.hostile import ODD_FILES


@pytest.mark.parametrize(("make", "word"), ODD_FILES.values(), ids=ODD_FILES)
def test_what_is_no_file_is_one_sentence_at_once(
    tmp_path: Path, make: Callable[[Path], object], word: str
) -> None:
    path = tmp_path / "it"
    make(path)
    with pytest.raises(UnreadableError, match=word) as caught:
        read_bytes(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)
    assert is_there(path)


def test_absence_is_told_from_damage(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_bytes(tmp_path / "none")
    assert not is_there(tmp_path / "none")


def test_file_is_read_as_it_is_also_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\r\n\x00")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert read_bytes(tmp_path / "b") == b"one\r\n\x00"
    assert read_text(tmp_path / "a") == "one\r\n\x00"


def test_sparse_file_beyond_the_limit_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as stream:
        os.truncate(stream.fileno(), 2**40)
    with pytest.raises(UnreadableError, match="too large: more than 256 MiB"):
        read_bytes(tmp_path / "sparse")
    (tmp_path / "exact").write_bytes(b"x" * 100)
    assert len(read_bytes(tmp_path / "exact", limit=100)) == 100
    with pytest.raises(UnreadableError, match="too large"):
        read_bytes(tmp_path / "exact", limit=99)


def test_gzip_bomb_ends_at_its_limit() -> None:
    bomb = gzip.compress(bytes(2**24))
    assert len(bomb) < 2**15
    with pytest.raises(UnreadableError, match="it is too large"):
        unzip(bomb * 100, where="it", limit=2**22)
    assert unzip(bomb, where="it") == bytes(2**24)
    with pytest.raises(UnreadableError, match="it is truncated or altered"):
        unzip(bomb[:-3], where="it")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("[" * 100_000, "foreign: maximum recursion"),
        ("9" * 5000, "foreign: Exceeds the limit"),
        ('{"a"', "it is torn: it is not complete JSON"),
        ('{"a": 1, "a": 1}', "the key 'a' stands twice"),
    ],
)
def test_json_without_end_is_refused(text: str, word: str) -> None:
    with pytest.raises(UnreadableError, match=word):
        parse_json(text, where="it")


@pytest.mark.parametrize("text", ["a = " + "[" * 5000, "a = " + "9" * 5000, "a = 1\na = 2"])
def test_toml_without_end_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "it.toml"
    path.write_text(text)
    with pytest.raises(UnreadableError, match=r"it\.toml is not valid TOML"):
        read_toml(path)
