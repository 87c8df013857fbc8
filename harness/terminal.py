"""Tables on a terminal or off it, and how a paper's own command ends on an error."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from harness.errors import HarnessError

if TYPE_CHECKING:
    from rich.table import Table


@contextmanager
def exit_on_error() -> Iterator[None]:
    """Say an error of ours on stderr, and end with its exit code."""
    try:
        yield
    except HarnessError as error:
        typer.echo(f"error: {error}", err=True)
        raise typer.Exit(error.exit_code) from error


def print_table(table: Table, *notes: str, width: int) -> None:
    """Print a table and notes on stdout; `width`: columns in a file or pipe, which has none."""
    from rich.console import Console

    console = Console(markup=False)
    if not sys.stdout.isatty():
        console.width = width
    console.print(table, *notes, sep="\n")
