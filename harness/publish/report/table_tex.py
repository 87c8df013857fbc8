"""Printed tables in LaTeX: a `table*` that no line of two columns overflows."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import groupby

from harness.publish.labels import TEX_SIGNS
from harness.publish.report.printed import Printed, PrintedTable
from harness.publish.report.table_text import (
    Panel,
    other_text,
    others_head,
    panels,
    row_heads,
    shown_rows,
    wrapped,
)
from harness.publish.report.text import PLUS_MINUS

ROOM, GAP = 450.0, 4.0
"""Points that `points` may say of a line, and those between columns. An article in two columns has
410 across both; a test sets every table, as that is an estimate."""
HEIGHT = 46
"""How many lines of it a page holds, below the caption and above the notes."""

_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    PLUS_MINUS: r"$\pm$", "<": r"$<$", ">": r"$>$",
    **{sign: f"${name}$" for sign, name in TEX_SIGNS.items()},
}  # fmt: skip

_WIDTHS = {
    **dict.fromkeys("0123456789aeovx", 4.3), **dict.fromkeys("ijl.,:;'! ", 2.6),
    **dict.fromkeys("frst()-[]", 3.4), **dict.fromkeys("mwMW", 8.0), **dict.fromkeys("=+<>", 6.7),
    PLUS_MINUS: 6.7, "/": 7.0,
}  # fmt: skip
"""Points, by character."""


def as_latex(content: Printed, *, name: str, where: str) -> str:
    """Return a task's tables as LaTeX with booktabs; name: the task's id; where it was run."""
    lines = ["% needs \\usepackage{booktabs}"]
    plain = re.sub("[^a-z0-9]", "-", name)
    for number, table in enumerate(content.tables):
        title = ": ".join(filter(None, [content.title, table.title]))
        caption = f"{tex(title)} ({tex(where)})."
        label = f"\\label{{tab:{plain}{f'-{number + 1}' if number else ''}}}"
        notes = table.notes
        if content.others and number == len(content.tables) - 1:
            notes = (*notes, f"{others_head(content)[:-1]}: see the source of this table.")
        floats = _floats(table)
        for place, parts in enumerate(floats):
            lines += _float(
                table,
                parts,
                caption=f"{{{caption} Continued.}}" if place else f"{{{caption}}}{label}",
                notes=notes if place == len(floats) - 1 else (),
            )
    if content.others:
        lines += [f"% {others_head(content)}"]
        lines += [f"% - {' '.join(other_text(row).split())}" for row in content.others]
    return "\n".join(lines) + "\n"


def _floats(table: PrintedTable) -> list[list[Panel]]:
    """Return, page by page, the panels that stand on it."""
    lines = sum(map(len, row_heads(table))) + len({head.group for head in table.rows})
    every = panels(table, ROOM, points, GAP)
    deepest = max(
        len(wrapped(table.columns[index].text, width))
        for panel in every
        for index, width in zip(panel.columns, panel.widths, strict=True)
    )
    on_page = max(1, HEIGHT // (lines + deepest + 3))
    return [every[start : start + on_page] for start in range(0, len(every), on_page)]


def _float(
    table: PrintedTable, parts: Sequence[Panel], *, caption: str, notes: Sequence[str]
) -> list[str]:
    tabulars = [_tabular(table, panel) for panel in parts]
    joined = [line for body in tabulars for line in (*body, "  \\par\\medskip")][:-1]
    below = f"  \\par\\smallskip {{\\raggedright {tex(' '.join(notes))}\\par}}"
    return [
        "\\begin{table*}",
        f"  \\centering\\footnotesize\\setlength{{\\tabcolsep}}{{{GAP / 2:g}pt}}",
        f"  \\caption{caption}",
        *joined,
        *([below] if notes else []),
        "\\end{table*}",
    ]


def _tabular(table: PrintedTable, panel: Panel) -> list[str]:
    count = len(panel.columns)
    lines = [f"  \\begin{{tabular}}{{@{{}}l{'r' * count}@{{}}}}", "    \\toprule"]
    lines += _group_heads(table, panel)
    sized = zip(panel.columns, panel.widths, strict=True)
    heads = [_stack(wrapped(table.columns[index].text, width), "c") for index, width in sized]
    lines += [f"    & {' & '.join(heads)} \\\\", "    \\midrule"]
    rows, stubs, cells = shown_rows(table, panel), row_heads(table), table.cells()
    for number, (group, run) in enumerate(groupby(rows, key=lambda row: table.rows[row].group)):
        if group:
            lines += ["    \\addlinespace[1pt]"] if number else []
            lines.append(
                f"    \\multicolumn{{{count + 1}}}{{@{{}}l}}{{\\emph{{{tex(group)}}}}} \\\\"
            )
        for row in run:
            texts = [_cell(*cells[row][index]) for index in panel.columns]
            lines.append(f"    {_stack(stubs[row], 'l')} & {' & '.join(texts)} \\\\")
    return [*lines, "    \\bottomrule", "  \\end{tabular}"]


def _group_heads(table: PrintedTable, panel: Panel) -> list[str]:
    """Return the line of the groups' heads, and the rules below them."""
    spans = panel.spans(table.columns)
    if not any(group for group, _ in spans):
        return []
    cells, rules = [], []
    for group, places in spans:
        head = _stack(wrapped(group, panel.width(places)), "c")
        cells.append(f"\\multicolumn{{{len(places)}}}{{c}}{{{head}}}")
        # Column 1 is that of the rows' heads.
        rules += [f"\\cmidrule(lr){{{places[0] + 2}-{places[-1] + 2}}}"] if group else []
    return [f"    & {' & '.join(cells)} \\\\", f"    {' '.join(rules)}"]


def _cell(text: str, mark: str) -> str:
    plain = tex(text).replace(" / ", r"\,/\,")
    return plain + (f"\\textsuperscript{{{mark}}}" if mark else "")


def points(text: str) -> float:
    """Return about how wide a text is in Computer Modern at 8 points, a tenth too much or more."""
    tight = text.replace(" / ", "/")
    return sum(_WIDTHS.get(char, 6.4 if char.isupper() else 4.5) for char in tight)


def _stack(lines: Sequence[str], align: str) -> str:
    """Return the lines of a head, one above the other."""
    text = r"\\".join(tex(line) for line in lines)
    return text if len(lines) == 1 else f"\\shortstack[{align}]{{{text}}}"


def tex(text: str) -> str:
    """Return text with every character that LaTeX would read as a command made plain.

    >>> tex("train_loss, 5 %")
    'train\\\\_loss, 5 \\\\%'
    """
    return "".join(_TEX.get(char, char) for char in text)
