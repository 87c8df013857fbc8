"""Claims that ask the same in another form than they were sealed in: results/restated.json.

A threshold of 1 less a hair became "less than 1", and checks that were one per number became one
for all. Each stands in this list with both bands, and with the samples and verdict that are equal
under both; a test derives it, so that nothing else can be put there.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

from harness.errors import DataError
from harness.provenance.seals import Band, Seal
from harness.strict import Strict, explain
from harness.untrusted import Stamp, UnreadableError, read_bytes, stamp

NAME = "restated.json"
HAIR = 1e-8
"""What stood between a threshold and the strict one that was meant."""
STRICT_FORMS = {
    "at_most": "less_than",
    "at_least": "more_than",
    "ordering": "strict_ordering",
    "monotone": "strict_monotone",
}


class Asked(Strict):
    """What a band asks of a quantity."""

    form: str
    threshold: Any
    tolerance: float = 0.0

    @classmethod
    def of(cls, band: Band) -> Asked:
        return cls(form=band.form, threshold=band.threshold, tolerance=band.tolerance)


class Became(Strict):
    """A claim whose form became strict."""

    claim: str
    """The name of its seal: `lisa/fig03:lisa_below_lora`."""
    was: Asked
    now: Asked
    verdict: str
    samples: list[list[float | str]]
    """Per seed, as sealed; both forms give them the same verdict."""


class Merged(Strict):
    """One check that asks what several asked before."""

    claim: str
    merges: list[str]
    """The names of their seals."""


class Restated(Strict):
    """The list."""

    became: list[Became] = Field(default_factory=list)
    merged: list[Merged] = Field(default_factory=list)

    def translate(self, name: str, seal: Seal) -> Seal:
        """Return a seal as it reads in the claim's form of today, where the list says how.

        name: that of the seal, of any cohort.
        """
        for entry in self.became:
            if entry.claim == name.partition("@")[0] and Asked.of(seal.band) == entry.was:
                band = seal.band.model_copy(update=entry.now.model_dump())
                return seal.model_copy(update={"band": band, "code": f"{seal.code} restated"})
        return seal

    def merged_into(self, name: str) -> Sequence[str]:
        """Return the names of the checks that a check asks together; none for any other claim."""
        return next((entry.merges for entry in self.merged if entry.claim == name), ())

    @property
    def merged_names(self) -> set[str]:
        return {name for entry in self.merged for name in entry.merges}


def is_the_strict_form(was: Asked, now: Asked) -> bool:
    """Say whether a band differs from another one by a hair that stood for strictness.

    >>> is_the_strict_form(Asked(form="at_most", threshold=1 - 1e-9),
    ...                    Asked(form="less_than", threshold=1.0))
    True
    """
    if STRICT_FORMS.get(was.form) != now.form or was.tolerance != now.tolerance:
        return False
    inwards = was.threshold - now.threshold
    if was.form != "at_least":
        inwards = -inwards
    return bool(0.0 < inwards <= HAIR)


def load_restated(root: Path) -> Restated:
    """Read the list of a checkout; an empty one where there is no file.

    Raises DataError for a damaged file.
    """
    path = root / "results" / NAME
    changed = stamp(path)
    return Restated() if changed is None else _load(path, changed)


@functools.lru_cache(maxsize=4)
def _load(path: Path, changed: Stamp) -> Restated:
    try:
        return Restated.model_validate_json(read_bytes(path))
    except UnreadableError as error:
        raise DataError(f"{error}: restore it with git checkout") from error
    except ValidationError as error:
        raise DataError(
            f"{path} is damaged ({explain(error)}): restore it with git checkout"
        ) from error
