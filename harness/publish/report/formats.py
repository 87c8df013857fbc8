"""What a task prints, in each format: text of 80 columns, Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io
import re
import textwrap
from collections.abc import Sequence
from string import Template

from harness.publish.report.printed import Printed, PrintedTable
from harness.publish.report.text import PLUS_MINUS, TEX_SIGNS, markdown_cell, markdown_table
from harness.terminal import WIDTH, wrapped

WIDE = r"\resizebox{\ifdim\width>\textwidth\textwidth\else\width\fi}{!}"
LONG = r"\resizebox{!}{0.85\textheight}"
"""Of what no page holds at its own size."""
ON_PAGE = 45
"""Rows."""
FLOAT = Template(r"""\begin{table*}
  \centering\footnotesize\caption{$caption}\label{tab:$label}
  $fit{%
  \begin{tabular}{@{}l$columns@{}}
    \toprule
    $heads
    \midrule
    $body
    \bottomrule
  \end{tabular}}
$notes\end{table*}""")
_TEX = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#",
    "%": r"\%", "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
    PLUS_MINUS: r"$\pm$", "<": r"$<$", ">": r"$>$",
    **{sign: f"${name}$" for sign, name in TEX_SIGNS.items()},
}  # fmt: skip


def as_text(content: Printed) -> str:
    """Return the tables as text that a terminal of 80 columns holds."""
    parts = [textwrap.fill(content.head, WIDTH)]
    for table in content.tables:
        notes = "\n".join(textwrap.fill(note, WIDTH) for note in table.notes)
        parts += [textwrap.fill(table.title, WIDTH), _side_by_side(table), notes]
    return "\n\n".join(filter(None, [*parts, _listed(content.others)])) + "\n"


def _side_by_side(table: PrintedTable) -> str:
    """Return a table's cells, columns below one another where they do not fit beside."""
    import pandas as pd

    heads, rows, groups = list[str](), list[Sequence[str]](), list[str]()
    for group, run in table.row_groups():
        if group:
            # Its words may be longer than the heads of its rows: they get a line of their own.
            heads.append(f"<{len(groups)}>")
            rows.append([""] * len(table.columns))
            groups.append(group)
        heads += [f"  {head}" if group else head for head, _ in run]
        rows += [cells for _, cells in run]
    frame = pd.DataFrame(rows, index=heads, columns=[head.text for head in table.columns])
    if any(head.group for head in table.columns):
        names = [(head.group, head.text) for head in table.columns]
        frame.columns = pd.MultiIndex.from_tuples(names)
    if table.corner:
        frame = frame.reset_index(names=table.corner)
    lines = [
        line.removesuffix("\\").rstrip() for line in frame.to_string(line_width=WIDTH).splitlines()
    ]
    return re.sub(
        r"^<(\d+)>$",
        lambda found: "\n".join(wrapped(groups[int(found[1])])),
        "\n".join(lines),
        flags=re.MULTILINE,
    )


def _listed(others: Sequence[str]) -> str:
    """Return the list of the paper's values that stand in no cell, in 80 columns; or nothing."""
    lines = [line for row in others for line in wrapped(f"- {row}", hang=2)]
    return "\n".join(["Published values that stand in no cell:", *lines]) if lines else ""


def as_markdown(content: Printed) -> str:
    """Return the tables as Markdown, with the paper's values that stand in no cell."""
    parts = [markdown_cell(content.head), markdown_tables(content), _listed(content.others)]
    return "\n\n".join(filter(None, parts)) + "\n"


def markdown_tables(content: Printed) -> str:
    """Return the tables alone, as a page shows them."""
    parts = []
    for table in content.tables:
        rows = []
        for group, lines in table.row_groups():
            if group:
                rows.append([f"**{markdown_cell(group)}**", *([""] * len(table.columns))])
            rows += [[markdown_cell(text) for text in (head, *texts)] for head, texts in lines]
        heads = [markdown_cell(str(head)) for head in (table.corner, *table.columns)]
        title = f"**{markdown_cell(table.title)}**" if table.title else ""
        parts += [title, markdown_table(heads, rows), markdown_cell(" ".join(table.notes))]
    return "\n\n".join(filter(None, parts))


def as_csv(content: Printed) -> str:
    """Return the printed cells, an empty line between tables; what marks say is not in it."""
    tables = []
    for table in content.tables:
        aside = f"({content.aside})" if content.aside else ""
        title = table.corner or " ".join(filter(None, [table.title, aside]))
        stream = io.StringIO()
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow([title, *table.columns])
        writer.writerows(
            [head, *cells] for head, cells in zip(table.rows, table.texts(), strict=True)
        )
        tables.append(stream.getvalue())
    return "\n".join(tables)


def as_latex(content: Printed) -> str:
    """Return the tables as LaTeX with booktabs, each at most as wide as the page."""
    parts = ["% needs \\usepackage{booktabs,graphicx}"]
    for number, table in enumerate(content.tables):
        title = ": ".join(filter(None, [content.title, table.title]))
        label = f"{content.name}-{number + 1}" if number else content.name
        notes, body = tex(" ".join(table.notes)), _tex_body(table)
        is_long = len(body) > max(ON_PAGE, max(map(len, body)) / 3)
        parts.append(
            FLOAT.substitute(
                caption=f"{tex(title)} ({tex(content.where)}).",
                label=re.sub("[^a-z0-9]", "-", label),
                fit=LONG if is_long else WIDE,
                columns="r" * len(table.columns),
                heads="\n    ".join(_tex_heads(table)),
                body="\n    ".join(body),
                notes=f"  \\par\\smallskip {{\\raggedright {notes}\\par}}\n" if notes else "",
            )
        )
    parts += [f"% not in a cell: {' '.join(row.split())}" for row in content.others]
    return "\n".join(parts) + "\n"


def _tex_heads(table: PrintedTable) -> list[str]:
    """Return the line of the groups' heads with the rules below them, if any; and of the heads."""
    cells, rules, place = [], [], 2  # column 1 is that of the rows' heads
    for group, count in table.column_groups():
        cells.append(f"\\multicolumn{{{count}}}{{c}}{{{tex(group)}}}")
        rules += [f"\\cmidrule(lr){{{place}-{place + count - 1}}}"] if group else []
        place += count
    groups = [f"& {' & '.join(cells)} \\\\ {' '.join(rules)}"] if rules else []
    heads = [table.corner, *(head.text for head in table.columns)]
    return [*groups, f"{' & '.join(map(tex, heads))} \\\\"]


def _tex_body(table: PrintedTable) -> list[str]:
    lines = []
    for group, run in table.row_groups(_tex_cell):
        if group:
            count = len(table.columns) + 1
            lines.append(f"\\multicolumn{{{count}}}{{@{{}}l}}{{\\emph{{{tex(group)}}}}} \\\\")
        lines += [f"{tex(head)} & {' & '.join(cells)} \\\\" for head, cells in run]
    return lines


def _tex_cell(text: str, mark: str) -> str:
    return tex(text) + (f"\\textsuperscript{{{mark}}}" if mark else "")


def tex(text: str) -> str:
    """Return text with every character that LaTeX would read as a command made plain.

    >>> tex("train_loss, 5 %")
    'train\\\\_loss, 5 \\\\%'
    """
    return "".join(_TEX.get(char, char) for char in text)
