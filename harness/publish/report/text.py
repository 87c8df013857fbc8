"""How numbers, thresholds and intervals read, in every page and table alike."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.publish.check_row import CheckRow

PLUS_MINUS = "\u00b1"
TEX_SIGNS = {"\u03bc": r"\mu", "\u03c1": r"\rho", "\u0394": r"\Delta", "\u2207": r"\nabla"}
"""Signs of figures and tables that not every LaTeX knows as text, by their names in mathematics."""
DIGITS = 4
"""Significant digits of a number that has no standard error."""


def number(value: float | None) -> str:
    """Return a number with four significant digits, or nothing for None and NaN.

    >>> number(0.123456), number(12130000000), number(-0.0), number(None)
    ('0.1235', '1.213e+10', '0', '')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "no bound"
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


def fixed(value: float, digits: int) -> str:
    """Return a number with so many digits after the point, unless they would make it zero.

    >>> fixed(12.345, 1), fixed(0.00003, 2), fixed(0.0, 2)
    ('12.3', '3e-05', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text if float(text) or not value else f"{value:.1g}"


def cut(value: float, decimals: int) -> str:
    """Return a number with so many decimals, with four significant digits for fewer than none."""
    return number(value) if decimals < 0 else f"{value:.{decimals}f}"


def mean_sem(mean: float, sem: float, *, decimals: int = 0) -> str:
    """Return a mean with its standard error, cut where the error's second digit stands.

    decimals: at least so many.

    >>> mean_sem(2.34567, 0.0123).replace(PLUS_MINUS, "+-")
    '2.346 +- 0.012'
    >>> mean_sem(2.5, 0.0)
    '2.5'
    """
    if math.isnan(mean):
        return ""
    if not sem > 0:
        return number(mean)
    size = abs(mean) if mean else sem
    if not 1e-4 <= size < 1e6:
        return f"{mean:.3e} {PLUS_MINUS} {sem:.1e}"
    decimals = max(decimals, min(1 - math.floor(math.log10(sem)), 8), 0)
    return f"{mean:.{decimals}f} {PLUS_MINUS} {sem:.{decimals}f}"


def interval(row: CheckRow) -> str:
    """Return the 95 % interval of a verdict, or nothing where it has none.

    Both ends are cut where the second digit of half its width stands, or further on where that
    would carry an end over the threshold.
    """
    if row.low is None or row.high is None or row.low == row.high:
        return ""
    decimals = decimals_of(row)
    return f"{cut(row.low, decimals)} to {cut(row.high, decimals)}"


def decimals_of(row: CheckRow) -> int:
    """Return how many decimals an interval's ends need, -1 where they are better written else.

    Rounded, they and what was measured lie on the side of each bound on which they lie.
    """
    low, high = row.low, row.high
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return -1
    if not 1e-4 <= max(abs(low), abs(high)) < 1e6:
        return -1
    bounds = row.threshold if isinstance(row.threshold, (list, tuple)) else [row.threshold]
    known = [float(bound) for bound in bounds if bound is not None]
    decimals = min(max(0, 1 - math.floor(math.log10((high - low) / 2))), 8)
    while decimals < 8 and any(
        (end > bound) != (round(end, decimals) > bound) or (round(end, decimals) == bound != end)
        for end in (low, high, *([] if row.measured is None else [row.measured]))
        for bound in known
    ):
        decimals += 1
    return decimals


def threshold(form: str, value: Any) -> str:
    """Say in words what a claim's threshold asks of its quantity.

    >>> threshold("at_most", 1.0), threshold("within", [0.7, 1.4]), threshold("ratio", ["-inf", 2])
    ('at most 1', '0.7 to 1.4', 'at most 2')
    """
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        low, high = (float(bound) for bound in value)
        if math.isinf(high):
            return f"at least {number(low)}"
        return f"at most {number(high)}" if math.isinf(low) else f"{number(low)} to {number(high)}"
    bound = float(value)
    match form:
        case "equal":
            return f"equal to {number(bound)}"
        case "strict_ordering" | "strict_monotone":
            return "every step strictly up" if bound == 0 else f"{_steps(bound)}, strictly"
        case "ordering" | "monotone":
            return _steps(bound)
        case _:
            return f"{form.replace('_', ' ')} {number(bound)}"


def _steps(slack: float) -> str:
    if slack == 0:
        return "every step up"
    if slack < 0:
        return f"every step up by {number(-slack)} or more"
    return f"every step up, slack {number(slack)}"


def markdown_cell(text: str) -> str:
    """Return text that cannot break out of a cell of a Markdown table, nor be read as HTML.

    Paired backticks stay: authors mark code with them.
    """
    flat = " ".join(text.split()).replace("<", "&lt;")
    special = r"([\\|*\[\]])" if flat.count("`") % 2 == 0 else r"([\\|*`\[\]])"
    return re.sub(special, r"\\\1", flat)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the caller has escaped its cells."""
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
