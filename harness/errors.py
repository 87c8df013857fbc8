"""Errors, named after who must act.

Every message says what is wrong, where, and what to do, in one sentence. The CLI prints it
without a traceback; anything that is not a `HarnessError` is a bug and keeps its traceback.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class HarnessError(Exception):
    """Base of everything the harness raises on purpose."""

    exit_code = 3


class UsageError(HarnessError):
    """The caller named something that does not exist or asked for the impossible."""

    exit_code = 2


class SpecError(HarnessError, ValueError):
    """The author of a task, experiment or method declared something inconsistent."""

    exit_code = 2


class DataError(HarnessError):
    """A data set or a stored file is missing, truncated or altered."""

    exit_code = 2


class EnvError(HarnessError):
    """This machine lacks something: a GPU, a package, root, a program."""

    exit_code = 2


class RunError(HarnessError):
    """A run could not go on: the disk is full, a worker died, a trial failed."""

    exit_code = 3


class NothingRan(HarnessError):
    """Nothing of what was asked for can run here, and nothing of it is stored."""

    exit_code = 4


class Interrupted(HarnessError):
    """The person at the keyboard ended it."""

    exit_code = 130


def nearest(name: str, known: Iterable[str]) -> str:
    """Return a hint that names the closest known names, or an empty string.

    >>> nearest("supar/fig6", ["supar/fig06", "lisa/tab01"])
    "; did you mean 'supar/fig06'?"
    """
    # By what a name is whatever its case: SUPAR/FIG06 resembles nothing here letter by letter.
    names = {each.casefold(): each for each in known}
    found = difflib.get_close_matches(name.casefold(), list(names), n=3, cutoff=0.5)
    close = [names[each] for each in found]
    return f"; did you mean {' or '.join(map(repr, close))}?" if close else ""


def one_of(name: str, known: Sequence[Any], what: str) -> Any:
    """Return the name. Raises UsageError that names the nearest one unless it is known."""
    if name not in known:
        raise UsageError(
            f"no {what} is called {name!r}{nearest(name, known)} (there are {', '.join(known)})"
        )
    return name
