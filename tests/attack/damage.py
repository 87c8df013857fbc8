"""Ways to damage a file: by its bytes, by what it holds, or by what kind of file it is."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import socket
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Dice = random.Random
Damage = Callable[[Path, Dice], None]

NESTED = 50_000
BOMB_MEMBERS = 96
"""Members of 64 MiB of zeros: 6 GiB from some hundred kB."""
HOSTILE_VALUES: tuple[Any, ...] = (
    None, True, False, -1, 0, 2**63, 10**30, 1e308, "", " ", "\0", "nan", "../../etc/passwd",
    "/dev/zero", "x" * 100_000, "\u202e\x1b[31m", "<script>", [], {}, [[]], {"a": {}}, ["a", 1],
)  # fmt: skip
HOSTILE_CELLS = (
    "", "nan", "inf", "-inf", "1e999", "9" * 400, "0x10", "True", '"', '"a', "=1+1", "\x00", "\r",
    "é" * 1000, "x" * 100_000, "1,2",
)  # fmt: skip


# --- bytes ---


def truncate(path: Path, dice: Dice) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: dice.randrange(len(data) or 1)])


def empty(path: Path, dice: Dice) -> None:
    path.write_bytes(b"")


def flip_bits(path: Path, dice: Dice) -> None:
    data = bytearray(path.read_bytes())
    for _ in range(dice.choice((1, 3, 30))):
        data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
    path.write_bytes(bytes(data))


def insert_bytes(path: Path, dice: Dice) -> None:
    data = path.read_bytes()
    junk = dice.choice((b"\0", b"\xff\xfe", b"\r", b"\n\n", b"\xef\xbb\xbf", dice.randbytes(200)))
    place = dice.choice((0, len(data), dice.randrange(len(data) + 1)))
    path.write_bytes(data[:place] + junk + data[place:])


def swap_lines(path: Path, dice: Dice) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    dice.shuffle(lines)
    path.write_bytes(b"".join(lines))


def repeat_a_line(path: Path, dice: Dice) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    place = dice.randrange(len(lines) or 1)
    path.write_bytes(b"".join(lines[:place] + lines[place : place + 1] * 2 + lines[place + 1 :]))


def drop_a_line(path: Path, dice: Dice) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    place = dice.randrange(len(lines) or 1)
    path.write_bytes(b"".join(lines[:place] + lines[place + 1 :]))


def windows_line_ends(path: Path, dice: Dice) -> None:
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))


def long_line(path: Path, dice: Dice) -> None:
    path.write_bytes(path.read_bytes() + b"a" * 2_000_000 + b"\n")


BYTES: tuple[Damage, ...] = (
    truncate, empty, flip_bits, insert_bytes, swap_lines, repeat_a_line, drop_a_line,
    windows_line_ends, long_line,
)  # fmt: skip


# --- kinds of file ---


def folder(path: Path, dice: Dice) -> None:
    path.unlink()
    path.mkdir()


def fifo(path: Path, dice: Dice) -> None:
    path.unlink()
    os.mkfifo(path)


def dangling_link(path: Path, dice: Dice) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nowhere")


def link_to_itself(path: Path, dice: Dice) -> None:
    path.unlink()
    path.symlink_to(path.name)


def endless_device(path: Path, dice: Dice) -> None:
    path.unlink()
    path.symlink_to("/dev/zero")


def local_socket(path: Path, dice: Dice) -> None:
    path.unlink()
    # A socket's path has at most 107 bytes: bind it by a short one.
    here = os.open(path.parent, os.O_RDONLY)
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(f"/proc/self/fd/{here}/{path.name}")
    os.close(here)


def missing(path: Path, dice: Dice) -> None:
    path.unlink()


KINDS: tuple[Damage, ...] = (
    folder, fifo, dangling_link, link_to_itself, endless_device, local_socket, missing,
)  # fmt: skip


# --- JSON ---


def change_a_value(path: Path, dice: Dice) -> None:
    """Put a hostile value in the place of one of a JSON file's."""
    _rewrite_json(path, dice, lambda text: _with_changed_value(text, dice))


def drop_a_key(path: Path, dice: Dice) -> None:
    def drop(text: str) -> str:
        body = json.loads(text)
        nodes = [node for node in _nodes(body) if isinstance(node, dict) and node]
        node = dice.choice(nodes or [{"": 0}])
        node.pop(dice.choice(list(node)))
        return json.dumps(body)

    _rewrite_json(path, dice, drop)


def add_a_key(path: Path, dice: Dice) -> None:
    def add(text: str) -> str:
        body = json.loads(text)
        nodes = [node for node in _nodes(body) if isinstance(node, dict)]
        dice.choice(nodes or [{}])["unheard_of"] = dice.choice(HOSTILE_VALUES)
        return json.dumps(body)

    _rewrite_json(path, dice, add)


def repeat_a_key(path: Path, dice: Dice) -> None:
    def repeat(text: str) -> str:
        found = re.findall(r'"\w+": ?[\w."]+(?=[,}\n])', text)
        member = dice.choice(found or ['"a": 1'])
        return text.replace(member, f"{member}, {member}", 1)

    _rewrite_json(path, dice, repeat)


def nest_deeply(path: Path, dice: Dice) -> None:
    _rewrite_json(path, dice, lambda text: _raw(text, dice, "[" * NESTED + "]" * NESTED))


def long_number(path: Path, dice: Dice) -> None:
    _rewrite_json(path, dice, lambda text: _raw(text, dice, "9" * 6_000))


def not_a_number(path: Path, dice: Dice) -> None:
    _rewrite_json(
        path, dice, lambda text: _raw(text, dice, dice.choice(("NaN", "-Infinity", "1e999")))
    )


JSON: tuple[Damage, ...] = (
    change_a_value, drop_a_key, add_a_key, repeat_a_key, nest_deeply, long_number, not_a_number,
)  # fmt: skip


def _rewrite_json(path: Path, dice: Dice, change: Callable[[str], str]) -> None:
    """Change a JSON file, or one line of a file of JSON lines, packed or not."""
    packed = path.suffix == ".gz"
    data = path.read_bytes()
    text = (gzip.decompress(data) if packed else data).decode()
    if ".jsonl" in path.name:
        lines = text.splitlines()
        place = dice.randrange(len(lines))
        lines[place] = change(lines[place])
        text = "\n".join(lines) + "\n"
    else:
        text = change(text)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())


def _nodes(body: Any) -> list[Any]:
    found, pending = [], [body]
    while pending:
        node = pending.pop()
        found.append(node)
        pending += (
            node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
        )
    return found


def _with_changed_value(text: str, dice: Dice) -> str:
    body = json.loads(text)
    nodes = [node for node in _nodes(body) if isinstance(node, (dict, list)) and node]
    node = dice.choice(nodes)
    key = dice.choice(list(node) if isinstance(node, dict) else range(len(node)))
    node[key] = dice.choice(HOSTILE_VALUES)
    return json.dumps(body)


def _raw(text: str, dice: Dice, value: str) -> str:
    """Put text in the place of a number, or of everything."""
    places = list(re.finditer(r"(?<=[:\[,] )-?\d+(\.\d+)?(?=[,\]}\n])", text))
    if not places or dice.random() < 0.2:
        return value
    place = dice.choice(places)
    return text[: place.start()] + value + text[place.end() :]


# --- tables, TOML, archives, packed files ---


def change_a_cell(path: Path, dice: Dice) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    place = dice.randrange(len(lines))
    cells = lines[place].split(",")
    cells[dice.randrange(len(cells))] = dice.choice(HOSTILE_CELLS)
    lines[place] = ",".join(cells)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")


def change_a_toml_value(path: Path, dice: Dice) -> None:
    values = ("[" * NESTED, "9" * 6_000, "nan", "{}", "[]", "true", '""', '"""', "1979-05-27",
              '"' + "x" * 100_000 + '"', "'\u202e'", "{a = {b = 1}}")  # fmt: skip
    lines = path.read_text(encoding="utf-8").splitlines()
    places = [n for n, line in enumerate(lines) if " = " in line]
    place = dice.choice(places)
    lines[place] = lines[place].partition(" = ")[0] + " = " + dice.choice(values)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def add_toml(path: Path, dice: Dice) -> None:
    extra = dice.choice(
        ("[zz]\nb = 1", "zz = [", "[[item]]", "[[deviation]]", "[[dataset]]", "a.b.c = 1")
    )
    path.write_text(path.read_text(encoding="utf-8") + f"\n{extra}\n", encoding="utf-8")


def bomb(path: Path, dice: Dice) -> None:
    """Write a small packed file that unpacks to 6 GiB."""
    member = gzip.compress(bytes(64 * 2**20), compresslevel=9)
    path.write_bytes(member * BOMB_MEMBERS)


def sparse_member(path: Path, dice: Dice) -> None:
    """Write an archive whose member says that it has a terabyte."""
    info = tarfile.TarInfo("records.jsonl.gz")
    info.size = 2**40
    path.write_bytes(gzip.compress(info.tobuf(tarfile.PAX_FORMAT) + bytes(1024)))


def strange_member(path: Path, dice: Dice) -> None:
    """Add a member to an archive that leads out of it, or that is no file."""
    plain = io.BytesIO(gzip.decompress(path.read_bytes()))
    info = tarfile.TarInfo(dice.choice((
        "../outside", "/outside-of-attack", "artifacts/../../outside", "records.jsonl.gz",
        "a" * 300, "artifacts/x/y", "new\nline", "\u202e",
    )))  # fmt: skip
    info.type = dice.choice((tarfile.REGTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE,
                             tarfile.FIFOTYPE, tarfile.DIRTYPE))  # fmt: skip
    info.linkname = "/etc/passwd"
    with tarfile.open(fileobj=plain, mode="a") as tar:
        tar.addfile(info)
    path.write_bytes(gzip.compress(plain.getvalue()))


def another_file(path: Path, dice: Dice) -> None:
    """Put a file of another kind in its place."""
    path.write_bytes(
        dice.choice((b"\x89PNG\r\n", b"PK\x03\x04", b"\x80\x04\x95", b"<html>", b"%PDF")) * 40
    )


TABLE: tuple[Damage, ...] = (change_a_cell,)
TOML: tuple[Damage, ...] = (change_a_toml_value, add_toml)
PACKED: tuple[Damage, ...] = (bomb, another_file)
ARCHIVE: tuple[Damage, ...] = (sparse_member, strange_member, *PACKED)
