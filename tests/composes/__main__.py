"""Try what methods compose with: `python -m tests.composes [--write] [--costs] [METHOD ...]`.

Prints tables; with --write the pages of docs/ get them. Tests hold pages to what is tried.
"""

from __future__ import annotations

import argparse

from harness.publish.report.write import update_block
from tests.composes.costs import costs_block
from tests.composes.pages import NAMES, composes_block, page_of, refuses_block


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/")
    parser.add_argument("--costs", action="store_true", help="try nothing: costs alone")
    parser.add_argument("methods", nargs="*", metavar="METHOD", help=f"of {', '.join(NAMES)}")
    asked = parser.parse_args()
    makers = {"costs": costs_block}
    if not asked.costs:
        makers |= {"composes": composes_block, "refuses": refuses_block}
    for name in asked.methods or NAMES:
        for block, make in makers.items():
            print(text := make(name))
            if asked.write:
                update_block(page_of(name), block, text)


if __name__ == "__main__":
    main()
