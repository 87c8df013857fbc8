"""Overrides: what `--set` and `--seeds` put in the place of what grids say."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping

from harness.canonical import digest
from harness.declare.params import Scalar

SEEDS = "seeds"
"""What repeats a grid for the seeds 0 to N-1; no parameter."""
EXACT = 2**53
"""From here on a float of whole value may stand for another one."""


class Overrides(dict[str, Scalar]):
    """Values of parameters that all points of a grid get: a variant, the same in any order.

    >>> print(Overrides({"x": 9.0, "seeds": 4}))
    seeds=4, x=9
    >>> Overrides({"x": 9, "seeds": 4}).options
    ' --set x=9 --seeds 4'
    """

    def __init__(self, values: Mapping[str, Scalar] | None = None) -> None:
        super().__init__({name: _plain(each) for name, each in sorted((values or {}).items())})

    def __hash__(self) -> int:  # type: ignore[override]  # nobody changes one
        return hash(frozenset(self.items()))

    def __str__(self) -> str:
        return ", ".join(f"{name}={_written(value)}" for name, value in self.items())

    @property
    def name(self) -> str:
        """The name of the variant's folder; empty where nothing is overridden."""
        return f"set-{digest(self)[:12]}" if self else ""

    @property
    def label(self) -> str:
        """What a title or a footnote says of a variant; empty where nothing is overridden."""
        return f"variant {self}" if self else ""

    @property
    def options(self) -> str:
        """The options of a command that ask for them, with a blank before each."""
        return "".join(
            f" --seeds {value}"
            if name == SEEDS
            else f" --set {shlex.quote(f'{name}={_written(value)}')}"
            for name, value in sorted(self.items(), key=lambda pair: pair[0] == SEEDS)
        )


def _plain(value: Scalar) -> Scalar:
    """Return a value as it is written most shortly: 9.0 for a float is 9, and asks the same."""
    is_whole = type(value) is float and value.is_integer() and abs(value) < EXACT
    return int(value) if is_whole else value


def _written(value: Scalar) -> str:
    """Return a value as `--set` reads it: a text as it is, unless it would be read as JSON."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value)
