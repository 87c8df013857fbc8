"""How much nets err, beside what their pairs may and beside their curves.

Every quantity takes the table of one seed. No torch, no pandas at import.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from harness.declare import Cell, Layout, Line, MissingRows
from harness.declare.layout import Where
from reproductions.asymvalley.models.curves import AT_ZERO

if TYPE_CHECKING:
    import pandas as pd


def excess_at_centre(
    table: pd.DataFrame, *, bounds: Mapping[str, float], by: Sequence[str] = (), x: str = "lambda"
) -> list[float]:
    """Return the test error at lambda = 0 less its bound, of each net of some pairs.

    by: the columns that tell a pair's nets apart. A table of a single pair may not name it.
    """
    rows = table[table["part"] == "curve"] if "part" in table else table
    centres = rows[rows[x].abs() <= AT_ZERO]
    found: list[float] = []
    for pair, bound in bounds.items():
        own = centres[centres["pair"] == pair] if "pair" in centres else centres
        if own.empty:
            raise MissingRows(f"the table has no curve of {pair} with lambda = 0")
        errors = own.groupby(list(by))["error"].mean() if by else [own["error"].mean()]
        found += [float(error) - bound for error in errors]
    return found


def excess_at_ends(table: pd.DataFrame, *, bound: float) -> list[float]:
    """Return the test error at both ends of the line between two nets less their bound."""
    line = table[table["part"] == "line"]
    ends = [line.loc[(line["x"] - place).abs() <= AT_ZERO, "error"] for place in (0.0, 1.0)]
    if any(end.empty for end in ends):
        raise MissingRows("the table has no line between two nets")
    return [float(end.mean()) - bound for end in ends]


def excess_of_nets(table: pd.DataFrame, *, bounds: Mapping[str, float]) -> list[float]:
    """Return each trained net's test error less the bound of its pair."""
    if table.empty:
        raise MissingRows("the table has no trained net")
    named = table.sort_values(["pair", "recipe", "bn_start"])
    pairs = zip(named["pair"], named["test_error"], strict=True)
    return [float(error) - bounds[pair] for pair, error in pairs]


def errors_of(
    nets: Mapping[str, Where], *, x: str = "lambda", **where: str | float | bool
) -> Layout:
    """Return the table of some nets' test errors at the centre of a curve.

    nets: their names, and which rows of the table are theirs. where: which curve is taken; all
    of a net's have one error there.
    """
    return Layout(
        rows=tuple(Line(name, where={x: 0.0, **own}) for name, own in nets.items()),
        columns=(Line("test error"),),
        cell=Cell("error", unit="%", scale=0.01, digits=1),
        where=where,
        title="Test error of the net" if len(nets) == 1 else "Test errors of the nets",
        ours=True,
    )
