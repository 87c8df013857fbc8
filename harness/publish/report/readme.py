"""What `repro report` writes between the markers of a paper's README."""

from __future__ import annotations

import re
from dataclasses import replace

from harness.errors import SpecError
from harness.publish.report.load import Paper
from harness.publish.report.printed import print_run
from harness.publish.report.table_text import as_markdown
from harness.publish.report.text import with_minus

BEGIN, END = "<!-- verdicts:begin -->", "<!-- verdicts:end -->"
PAPERS = ("<!-- papers:begin -->", "<!-- papers:end -->")
FOUND = ("<!-- found:begin -->", "<!-- found:end -->")
TABLE_END = "<!-- table:end -->"
TABLE = re.compile(rf"(<!-- table (\w+) (\w+) (\d+):begin -->\n).*?({TABLE_END})", re.DOTALL)
"""An item's word, a profile, and which of its printed tables, from 1."""


def update_block(text: str, block: str, marks: tuple[str, str] = (BEGIN, END)) -> str:
    """Return a README with the text between two markers replaced.

    Raises SpecError unless the text has each marker once, in order.
    """
    first, last = marks
    begin, end = text.find(first), text.find(last)
    if text.count(first) != 1 or text.count(last) != 1 or begin > end:
        raise SpecError(f"a README needs {first} and, after it, {last}, each once: put them back")
    return f"{text[: begin + len(first)]}\n{block.strip()}\n{text[end:]}"


def update_tables(text: str, paper: Paper) -> str:
    """Return a README with the tables that it asks for, as they are printed.

    `<!-- table tab01 cpu 1:begin -->`, and below `<!-- table:end -->`, ask for the first one of an
    item at a profile. Raises SpecError where there is none.
    """
    if text.count(TABLE_END) != len(TABLE.findall(text)):
        raise SpecError(
            f"a README has {TABLE_END} without `<!-- table ITEM PROFILE NUMBER:begin -->` above it:"
            " put that back"
        )
    return TABLE.sub(lambda asked: f"{asked[1]}\n{_table(asked, paper)}\n{asked[5]}", text)


def _table(asked: re.Match[str], paper: Paper) -> str:
    _, item, profile, place, _ = asked.groups()
    for entry in paper.entries:
        for run in entry.runs:
            if (entry.item.id, run.profile) == (item, profile):
                printed = print_run(entry, run)
                if printed is not None and 0 < int(place) <= len(printed.tables):
                    one = printed.tables[int(place) - 1]
                    return with_minus(as_markdown(replace(printed, tables=(one,), others=())))
    raise SpecError(
        f"the README of {paper.meta.id} asks for table {place} of {item} at {profile}, which is not"
        " among its results: run that, or ask for another"
    )
