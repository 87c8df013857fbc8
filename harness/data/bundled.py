"""Data sets that need no file: what `bundled` variants of the catalogue name."""

from __future__ import annotations

import gzip
import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import EnvError

if TYPE_CHECKING:
    import numpy as np

DIGITS = "datasets/data/digits.csv.gz"
GRAMMAR_TEXT_SEED = 0
GRAMMAR_TEXT_MIN_CHARS = 250_000


def digits() -> dict[str, np.ndarray[Any, Any]]:
    """Return scikit-learn's copy of the UCI digits: 1797 images of 8 x 8, grey 0 to 16.

    `x` has shape (1797, 8, 8), uint8; `y` has shape (1797,), uint8, the digit.
    """
    import numpy as np

    # The package is not imported: that takes 1.5 seconds.
    spec = importlib.util.find_spec("sklearn")
    if spec is None or spec.origin is None:
        raise EnvError("the digits come with scikit-learn: install it as the README says")
    with gzip.open(Path(spec.origin).parent / DIGITS, "rt") as lines:
        rows = np.loadtxt(lines, delimiter=",").astype(np.uint8)
    return {"x": rows[:, :-1].reshape(-1, 8, 8), "y": rows[:, -1]}


def grammar_text() -> str:
    """Return 250 kB of English-like text whose entropy is known (`harness.data.grammar_text`)."""
    from harness.data.grammar_text import generate_text

    return generate_text(min_chars=GRAMMAR_TEXT_MIN_CHARS, seed=GRAMMAR_TEXT_SEED)


MAKERS: dict[str, Callable[[], Any]] = {"digits": digits, "grammar_text": grammar_text}
"""All that a catalogue may name: one that is not ours runs no code."""
