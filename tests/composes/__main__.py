"""Try what methods compose with: `python -m tests.composes [--write] [--costs] [METHOD ...]`.

Prints tables; with --write the pages of docs/ get them. Tests hold pages to what is tried.
"""

from __future__ import annotations

import argparse

from harness.publish.report.readme import update_block

from harness.atomic import write_text
from tests.composes.costs import costs_block
from tests.composes.pages import (
    COMPOSES,
    COSTS,
    NAMES,
    REFUSES,
    composes_block,
    page_of,
    refuses_block,
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    parser.add_argument("--costs", action="store_true", help="try nothing: costs alone")
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(NAMES)}")
    asked = parser.parse_args()
    makers = {COSTS: costs_block}
    if not asked.costs:
        makers |= {COMPOSES: composes_block, REFUSES: refuses_block}
    for name in asked.methods or NAMES:
        text = page_of(name).read_text(encoding="utf-8")
        for marks, make in makers.items():
            print(block := make(name))
            text = update_block(text, block, marks)
        if asked.write:
            write_text(page_of(name), text)


if __name__ == "__main__":
    main()
