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

    with gzip.open(_shipped("sklearn", DIGITS), "rt") as lines:
        rows = np.loadtxt(lines, delimiter=",").astype(np.uint8)
    return {"x": rows[:, :-1].reshape(-1, 8, 8), "y": rows[:, -1]}


def _shipped(package: str, name: str) -> Path:
    """Return a file of an installed package, which is not imported: sklearn takes 1.5 seconds."""
    spec = importlib.util.find_spec(package)
    folders = list(spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        if (path := Path(folder) / name).is_file():
            return path
    raise EnvError(f"{package} does not hold {name}: install scikit-learn as the README says")


def grammar_text() -> str:
    """Return 250 kB of English-like text whose entropy is known (`harness.data.grammar_text`)."""
    from harness.data.grammar_text import generate_text

    return generate_text(min_chars=GRAMMAR_TEXT_MIN_CHARS, seed=GRAMMAR_TEXT_SEED)


MAKERS: dict[str, Callable[[], Any]] = {"digits": digits, "grammar_text": grammar_text}
"""All that a catalogue may name: one that is not ours runs no code."""
