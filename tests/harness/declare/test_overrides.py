"""Overrides: one value whatever the order, and a command line that says it again."""

from __future__ import annotations

import shlex

from hypothesis import given
from hypothesis import strategies as st

from harness.commands.common import parse_overrides
from harness.declare.overrides import Overrides

NAMES = st.text(st.sampled_from("abcdef_"), min_size=1, max_size=5)
TEXTS = st.text(st.sampled_from("ab01.-+e[]{}\"' \\=$\n"), max_size=6)
VALUES = st.one_of(
    st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), TEXTS
)


@given(values=st.dictionaries(NAMES, VALUES, max_size=4), count=st.integers(1, 99))
def test_options_read_back_as_what_they_were_written_from(
    values: dict[str, bool | int | float | str], count: int
) -> None:
    asked = Overrides(values | {"seeds": count})
    words = shlex.split(asked.options)
    settings = [words[i + 1] for i, word in enumerate(words) if word == "--set"]
    again = parse_overrides(settings, int(words[words.index("--seeds") + 1]))
    assert (again.name, again) == (asked.name, asked)


@given(values=st.dictionaries(NAMES, VALUES, min_size=1, max_size=4))
def test_the_order_of_overrides_is_no_part_of_them(
    values: dict[str, bool | int | float | str],
) -> None:
    one, other = Overrides(values), Overrides(dict(reversed(values.items())))
    assert (one.name, one.label, hash(one), one) == (other.name, other.label, hash(other), other)


def test_another_value_is_another_variant() -> None:
    texts = ({"x": 1}, {"x": True}, {"x": "1"}, {"x": 1.5}, {"y": 1}, {})
    assert len({Overrides(values).name for values in texts}) == len(texts)  # type: ignore[arg-type]
    assert not Overrides().name
