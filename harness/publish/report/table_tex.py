"""Tables in LaTeX: a `table*` that is as wide as the page at most."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from harness.publish.report.printed import Printed, PrintedTable
from harness.publish.report.text import PLUS_MINUS, TEX_SIGNS

NEEDS = "% needs \\usepackage{booktabs,graphicx}"
WIDE = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}"
LONG = r"\resizebox{!}{0.85\textheight}"
"""Of what no page holds at its own size."""
ON_PAGE = 45
"""Rows."""

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    PLUS_MINUS: r"$\pm$", "<": r"$<$", ">": r"$>$",
    **{sign: f"${name}$" for sign, name in TEX_SIGNS.items()},
}  # fmt: skip


def as_latex(content: Printed, *, name: str, where: str) -> str:
    """Return a task's tables as LaTeX with booktabs; name: the task's id; where it was run."""
    lines = [NEEDS]
    for number, table in enumerate(content.tables):
        title = ": ".join(filter(None, [content.title, table.title]))
        label = f"{name}-{number + 1}" if number else name
        cells = [[_cell(*cell) for cell in row] for row in table.cells()]
        rows = [
            (head.group, [head.text, *row]) for head, row in zip(table.rows, cells, strict=True)
        ]
        heads = [_groups(table), " & ".join(["", *(tex(head.text) for head in table.columns)])]
        lines += _float(heads, rows, caption=f"{tex(title)} ({tex(where)}).", label=label,
                        notes=tex(" ".join(table.notes)))  # fmt: skip
    lines += [f"% not in a cell: {' '.join(row.split())}" for row in content.others]
    return "\n".join(lines) + "\n"


def long_latex(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, name: str, title: str
) -> str:
    """Return a table's long form as LaTeX."""
    body = [("", [row[0], *map(tex, row[1:])]) for row in rows]
    lines = _float(["", " & ".join(map(tex, header))], body, caption=f"{tex(title)}.", label=name)
    return "\n".join([NEEDS, *lines]) + "\n"


def _float(
    heads: Sequence[str],
    rows: Sequence[tuple[str, Sequence[str]]],
    *,
    caption: str,
    label: str,
    notes: str = "",
) -> list[str]:
    """Return a float; rows: each with its group's head, its own head, and cells in TeX."""
    count = len(rows[0][1]) - 1
    body = []
    for group, run in groupby(rows, key=lambda row: row[0]):
        if group:
            body.append(f"\\multicolumn{{{count + 1}}}{{@{{}}l}}{{\\emph{{{tex(group)}}}}} \\\\")
        body += [f"{tex(cells[0])} & {' & '.join(cells[1:])} \\\\" for _, cells in run]
    longest = max(map(len, body))
    return [
        "\\begin{table*}",
        f"  \\centering\\footnotesize\\caption{{{caption}}}"
        f"\\label{{tab:{re.sub('[^a-z0-9]', '-', label)}}}",
        f"  {LONG if len(body) > max(ON_PAGE, longest / 3) else WIDE}{{%",
        f"  \\begin{{tabular}}{{@{{}}l{'r' * count}@{{}}}}",
        "    \\toprule",
        *(f"    {line}" for line in [heads[0], f"{heads[1]} \\\\"] if line),
        "    \\midrule",
        *(f"    {line}" for line in body),
        "    \\bottomrule",
        "  \\end{tabular}}",
        *([f"  \\par\\smallskip {{\\raggedright {notes}\\par}}"] if notes else []),
        "\\end{table*}",
    ]


def _groups(table: PrintedTable) -> str:
    """Return the line of the groups' heads, and the rules below them; nothing without groups."""
    cells, rules, place = [], [], 2  # column 1 is that of the rows' heads
    for group, count in table.column_groups():
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{tex(group)}}}")
        rules += [f"\\cmidrule(lr){{{place}-{place + count - 1}}}"] if group else []
        place += count
    return f"& {' & '.join(cells)} \\\\ {' '.join(rules)}" if rules else ""


def _cell(text: str, mark: str) -> str:
    return tex(text) + (f"\\textsuperscript{{{mark}}}" if mark else "")


def tex(text: str) -> str:
    """Return text with every character that LaTeX would read as a command made plain.

    >>> tex("train_loss, 5 %")
    'train\\\\_loss, 5 \\\\%'
    """
    return "".join(_TEX.get(char, char) for char in text)
