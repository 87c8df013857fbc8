"""Text and tables on a terminal or off it, and how a paper's own command ends on an error."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from harness.errors import HarnessError

if TYPE_CHECKING:
    from rich.table import Table

WIDTH = 80


def wrapped(text: str, indent: int = 0, *, hang: int = 0) -> list[str]:
    """Return text in lines of 80 columns, all but the first `hang` further to the right.

    A word that is longer than a line stays whole: it is to be copied.
    """
    return textwrap.wrap(
        text,
        WIDTH,
        initial_indent=" " * indent,
        subsequent_indent=" " * (indent + hang),
        break_long_words=False,
        break_on_hyphens=False,
    )


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Say an error of ours on stderr, and end with its exit code."""
    try:
        yield
    except HarnessError as error:
        sys.stderr.write(f"error: {error}\n")
        sys.exit(error.exit_code)


def print_table(table: Table, *notes: str, width: int) -> None:
    """Print a table and notes on stdout; `width`: columns in a file or pipe, which has none."""
    from rich.console import Console

    console = Console(markup=False)
    if not sys.stdout.isatty():
        console.width = width
    console.print(table, *notes, sep="\n")
