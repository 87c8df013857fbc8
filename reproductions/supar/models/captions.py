"""Sentences that the captions of several figures share."""

from __future__ import annotations

SPREAD = "Mean over seeds; bars show its standard error."
CURVES = (
    f"{SPREAD} A ring marks the least mean loss of a line, unless it lies at the line's end; the"
    " vertical line is that of the dense net. Steep ends are cut off."
)
READINGS = "readings of the paper's arXiv v1"
OTHER_LEVEL = "Shapes compare, levels do not."
NOT_PUBLISHED = "The paper's curves are not published as numbers."
