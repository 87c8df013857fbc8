"""Strategies: the rule, its reasons, and what is refused."""

from __future__ import annotations

import pytest

from harness.errors import SpecError
from reproductions.paro.method.strategy import (
    Strategy,
    effective_of,
    strategy_of,
)


@pytest.mark.parametrize(
    ("letters", "kept", "coarser"),
    [
        ("NGI", "NGG", ("gradients",)),
        ("GNI", "GNG", ("parameters",)),
        ("GGN", "GGG", ("parameters", "gradients")),
        ("GIN", "GIG", ("parameters", "gradients")),
        ("IIG", "IIG", ()),
    ],
)
def test_what_is_left_out_has_a_reason_and_another_in_its_place(
    letters: str, kept: str, coarser: tuple[str, ...]
) -> None:
    found = strategy_of(letters)
    assert (found.kept.letters, found.coarser_states) == (kept, coarser)
    assert all(name in found.reason for name in coarser)


@pytest.mark.parametrize(
    ("letters", "said"),
    [
        ("NGI", r"NGI is none of the 14.*coarser than gradients.*section 3\.1\.1;.*take NGG"),
        ("iig", "three of the letters N, I, G"),
        ("IIGG", "three of the letters N, I, G"),
    ],
)
def test_what_is_none_of_the_14_names_the_rule(letters: str, said: str) -> None:
    with pytest.raises(SpecError, match=said):
        effective_of(letters)


def test_a_copy_between_passes_is_coarser() -> None:
    hpz = Strategy(params="G", grads="G", states="G", between="I")
    assert (hpz.backward_params, str(hpz)) == ("I", "GGG (I between passes)")
    with pytest.raises(SpecError, match="coarser"):
        Strategy(params="I", grads="I", states="I", between="G")
