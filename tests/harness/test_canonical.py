"""Canonical JSON: equal values give equal text, different values different text."""

from __future__ import annotations

import hashlib
import json
import math
from collections import OrderedDict
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.canonical import canonical_json, digest
from harness.errors import SpecError

FINITE = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers(-(2**70), 2**70) | FINITE | st.text()
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def same(left: Any, right: Any) -> bool:
    """Compare as JSON does: 1, 1.0 and true differ, -0.0 and 0.0 do not."""
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(left[k], right[k]) for k in left)
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(same, left, right))
    return type(left) is type(right) and left == right


@given(JSON)
def test_round_trip(value: Any) -> None:
    assert same(json.loads(canonical_json(value)), value)


@given(st.dictionaries(st.text(), JSON, max_size=6), st.randoms(use_true_random=False))
def test_order_of_keys_does_not_count(value: dict[str, Any], random: Any) -> None:
    names = list(value)
    random.shuffle(names)
    assert canonical_json(OrderedDict((name, value[name]) for name in names)) == canonical_json(
        value
    )


@given(JSON, JSON)
def test_distinct_values_have_distinct_text(left: Any, right: Any) -> None:
    assert (canonical_json(left) == canonical_json(right)) == same(left, right)


def test_tuples_are_lists_and_numpy_floats_are_floats() -> None:
    assert canonical_json({"a": (1, np.float64(0.1))}) == '{"a":[1,0.1]}'


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_number_that_is_not_finite_is_refused_with_its_place(value: float) -> None:
    with pytest.raises(SpecError, match=r"\$\.lr\[1\]"):
        canonical_json({"lr": [0.0, value]})


@pytest.mark.parametrize(
    "value", [{1: 2}, {None: 1}, b"bytes", {1, 2}, Decimal("1"), Path("a"), np.int64(3), object()]
)
def test_what_json_does_not_have_is_refused(value: Any) -> None:
    with pytest.raises(SpecError, match="canonical JSON"):
        canonical_json([value])


def test_digest_is_sha256_of_the_text() -> None:
    text = b'{"a":1,"b":[true,null]}'
    assert digest({"b": (True, None), "a": 1}) == hashlib.sha256(text).hexdigest()
