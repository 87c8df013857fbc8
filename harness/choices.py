"""What code chose by itself, such as a kernel for a device: said, so that a record can tell it.

Needs nothing but the standard library: methods that run without a harness choose too.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

_LOG = logging.getLogger("repro.choices")
_listening: list[dict[str, str]] = []


def chose(what: str, which: str) -> None:
    """Say that `what` was done by `which`, to the log and to whoever notes choices."""
    _LOG.info("%s by %s", what, which)
    for found in _listening:
        before = found.get(what, which).split(" and ")
        found[what] = " and ".join(dict.fromkeys([*before, which]))


@contextmanager
def noted() -> Iterator[dict[str, str]]:
    """Note what is chosen in this process meanwhile.

    >>> with noted() as choices:
    ...     chose("adamw", "triton")
    >>> choices
    {'adamw': 'triton'}
    """
    found: dict[str, str] = {}
    _listening.append(found)
    try:
        yield found
    finally:
        # By identity: two that noted the same are equal.
        _listening[:] = [each for each in _listening if each is not found]
