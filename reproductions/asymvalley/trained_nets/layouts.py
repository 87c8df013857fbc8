"""The test error of every net, as it stands beside its curves."""

from __future__ import annotations

from collections.abc import Mapping

from harness.declare import Cell, Layout, Line
from harness.declare.layout import Where


def errors_of(
    nets: Mapping[str, Where], *, x: str = "lambda", **where: str | float | bool
) -> Layout:
    """Return the table of some nets' errors at the centre of a curve.

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
