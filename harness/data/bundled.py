"""Data sets that need no file: what `bundled` variants of the catalogue name."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

GRAMMAR_TEXT_SEED = 0
GRAMMAR_TEXT_MIN_CHARS = 250_000


def digits() -> dict[str, np.ndarray[Any, Any]]:
    """Return scikit-learn's copy of the UCI digits: 1797 images of 8 x 8, grey 0 to 16.

    `x` has shape (1797, 8, 8), uint8; `y` has shape (1797,), uint8, the digit.
    """
    import numpy as np
    from sklearn.datasets import load_digits

    bunch = load_digits()
    return {"x": bunch.images.astype(np.uint8), "y": bunch.target.astype(np.uint8)}


def grammar_text() -> str:
    """Return 250 kB of English-like text whose entropy is known (`harness.data.grammar_text`)."""
    from harness.data.grammar_text import generate_text

    return generate_text(min_chars=GRAMMAR_TEXT_MIN_CHARS, seed=GRAMMAR_TEXT_SEED)


MAKERS: dict[str, Callable[[], Any]] = {
    f"{each.__module__}:{each.__name__}": each for each in (digits, grammar_text)
}
"""All that a catalogue may name, by `module:function`: one that is not ours runs no code."""
