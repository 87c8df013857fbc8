"""The letters of a PDF that Chromium printed, page by page, in the order in which it set them."""

from __future__ import annotations

import re
import zlib

OBJECT = re.compile(rb"(\d+) 0 obj\n(.*?)endobj", re.DOTALL)
STREAM = re.compile(rb"stream\r?\n(.*)", re.DOTALL)
TOKEN = re.compile(
    rb"/(\w+) [\d.]+ Tf|/ActualText \((.*?)\) ?>> BDC.*?EMC|<([0-9A-Fa-f]+)> Tj", re.DOTALL
)


def pages_of(data: bytes) -> list[str]:
    """Return the text of each page without any white space."""
    objects = {int(number): body for number, body in OBJECT.findall(data)}
    sheets = [body for body in objects.values() if re.search(rb"/Type /Page\s", body)]
    return [_page(body, objects) for body in sheets]


def _page(body: bytes, objects: dict[int, bytes]) -> str:
    fonts = {
        name: _letters(objects, int(number))
        for name, number in re.findall(rb"/(F\d+) (\d+) 0 R", body)
    }
    (contents,) = re.findall(rb"/Contents (\d+) 0 R", body)
    letters: dict[int, str] = {}
    told = []
    for font, words, glyphs in TOKEN.findall(_stream(objects[int(contents)])):
        if font:
            letters = fonts[font]
        elif words:
            told.append(words.decode("latin-1"))
        else:
            codes = [int(glyphs[at : at + 4], 16) for at in range(0, len(glyphs), 4)]
            told += [letters.get(code, "?") for code in codes]
    return re.sub(r"\s", "", "".join(told))


def _letters(objects: dict[int, bytes], font: int) -> dict[int, str]:
    """Return by a font's glyph what it stands for."""
    found = re.search(rb"/ToUnicode (\d+) 0 R", objects[font])
    if found is None:
        return {}
    table = _stream(objects[int(found[1])])
    letters = {}
    for one, three in re.findall(rb"^<(\w{4})> <(\w{4})>$", table, re.MULTILINE):
        letters[int(one, 16)] = chr(int(three, 16))
    for one, two, three in re.findall(rb"^<(\w+)> <(\w+)> <(\w+)>$", table, re.MULTILINE):
        for step, glyph in enumerate(range(int(one, 16), int(two, 16) + 1)):
            letters[glyph] = chr(int(three, 16) + step)
    return letters


def _stream(body: bytes) -> bytes:
    found = STREAM.search(body)
    # It knows its own end, which may look like a line's.
    return zlib.decompressobj().decompress(found[1]) if found else b""
