"""Canonical JSON: one byte sequence per value, so that a hash identifies it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any

from harness.errors import SpecError

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def canonical_json(value: Any) -> str:
    """Encode a JSON value with sorted keys and no blanks; tuples become lists.

    Raises SpecError for a float that is not finite, a key that is not a string, or a type
    JSON does not have: each of them would make equal things hash differently.

    >>> canonical_json({"b": (1, 2.0), "a": None})
    '{"a":null,"b":[1,2.0]}'
    """
    try:
        text = _ENCODER.encode(_plain(value, None))
    except RecursionError as error:
        raise SpecError("a value is nested without end: canonical JSON cannot hold it") from error
    if not text.isascii() and any("\ud800" <= char <= "\udfff" for char in text):
        raise SpecError("a text holds half a surrogate pair: canonical JSON needs whole characters")
    return text


def layered_json(value: Any, depth: int) -> str:
    """Encode a JSON value with one entry per line down to a depth of objects, sorted by key.

    >>> layered_json({"b": [1, 2], "a": {}}, 1)
    '{\\n"a": {},\\n"b": [1, 2]\\n}'
    """
    if not isinstance(value, Mapping) or depth == 0 or not value:
        return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False)
    lines = [f"{json.dumps(k)}: {layered_json(value[k], depth - 1)}" for k in sorted(value)]
    return "{\n" + ",\n".join(lines) + "\n}"


def digest(value: Any) -> str:
    """Return the SHA-256 of the canonical JSON, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical_json(value).encode()).hexdigest()


AS_THEY_ARE = {str, int, bool, type(None)}
"""Types that JSON takes as they are: most values have one of them, and need no call."""
_Place = tuple["_Place", str | int] | None
"""Where a value stands: where its container stands, and its key in there; None for the whole."""


def _plain(value: Any, place: _Place) -> Any:
    if type(value) in AS_THEY_ARE or isinstance(value, str):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise SpecError(f"{_told(place)} is {value}: canonical JSON holds finite numbers only")
        # -0.0 equals 0.0, so it must not hash differently.
        return value + 0.0
    if isinstance(value, (list, tuple)):
        return [
            item if type(item) in AS_THEY_ARE else _plain(item, (place, index))
            for index, item in enumerate(value)
        ]
    # A dictionary first: to ask for a mapping takes long.
    if isinstance(value, (dict, Mapping)):
        for key in value:
            if not isinstance(key, str):
                raise SpecError(
                    f"{_told(place)} has the key {key!r}: canonical JSON needs string keys"
                )
        return {
            key: item if type(item) in AS_THEY_ARE else _plain(item, (place, key))
            for key, item in value.items()
        }
    raise SpecError(f"{_told(place)} is a {type(value).__name__}: canonical JSON has no such type")


def _told(place: _Place) -> str:
    """Say where a value stands: put together only where something is wrong."""
    if place is None:
        return "$"
    above, key = place
    return f"{_told(above)}{f'[{key}]' if isinstance(key, int) else f'.{key}'}"
