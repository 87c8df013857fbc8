"""A toy paper with a figure, and how what is run of a variant of it is looked at."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.harness.conftest import Done
from tests.harness.toy_paper import ToyPaper

INLINE = ("--executor", "inline")
VARIANT = ("--set", "x=9", "--seeds", "4")
LABEL = "variant seeds=4, x=9"
FIGURE = """
def squares(ctx):
    figure, (ax,) = ctx.subplots()
    ax.plot(ctx.table["x"], ctx.table["square"], "o")
    return figure
"""
DRAWN = 'figure="figures:squares", alt="Dots.",'


def told(done: Done) -> Any:
    assert done.code == 0, done.err
    return json.loads(done.out)


def tree(*folders: Path) -> dict[Path, bytes]:
    return {p: p.read_bytes() for f in folders for p in sorted(f.rglob("*")) if p.is_file()}


def folder(toy: ToyPaper) -> Path:
    (found,) = (toy.root / "runs" / "output").glob("set-*")
    return found
