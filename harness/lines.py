"""Text in lines of a terminal's width."""

from __future__ import annotations

import textwrap

WIDTH = 80


def wrapped(text: str, indent: int = 0, *, hang: int = 0, width: int = WIDTH) -> list[str]:
    """Return text in lines of so many columns, all but the first `hang` further to the right.

    A word that is longer than a line stays whole: it is to be copied.
    """
    return textwrap.wrap(
        text,
        width,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=False,
        break_on_hyphens=False,
    )
