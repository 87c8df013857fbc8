"""results/benchmarks/README.md: goals of speed and memory, and what each machine measured."""

from __future__ import annotations

from collections.abc import Sequence

from harness.measure.goals import FOLDER, Baseline, Measured
from harness.publish.report.text import markdown_cell, markdown_table, number

PAGE = f"{FOLDER}/README.md"
HEAD = """# Performance goals

`repro report` writes this page from the committed measurements beside it; do not edit it.
[docs/speed.md](../../docs/speed.md) says how they are measured, drawn and compared.
"""
COLUMNS = ("benchmark", "goal", "measured", "met", "load average", "cores of others", "setting")


def goals_markdown(baselines: Sequence[Baseline]) -> str:
    """Return the page: a table per machine, and apart from it sums over committed records."""
    parts = [HEAD] if baselines else [HEAD, "No benchmark is committed.\n"]
    for each in baselines:
        for from_records, title in (
            (False, f"Measured on {each.title}"),
            (True, f"Added up from committed records, by {each.title}"),
        ):
            cells = [_cells(i) for i in each.measured() if i.from_records is from_records]
            parts += [f"{title}:\n\n{markdown_table(COLUMNS, cells)}\n"] if cells else []
    return "\n".join(parts)


def goals_line(baselines: Sequence[Baseline]) -> str:
    """Return how many goals each machine meets, with a link to the page."""
    told = []
    for each in baselines:
        met = [item.met for item in each.measured()]
        told.append(f"On {each.title} {sum(met)} of {len(met)} goals are met.")
    return " ".join([*(told or ["No benchmark is committed."]), f"[What was measured]({PAGE})."])


def _cells(item: Measured) -> list[str]:
    """Return a benchmark as text: name, goal, measured, met, load, cores of others, setting."""
    unit = "" if item.goal.unit == "ratio" else f" {item.goal.unit}"
    cells = [
        item.name,
        f"{item.goal.direction.replace('_', ' ')} {number(item.goal.limit)}{unit}",
        f"{number(item.measured)}{unit}",
        "yes" if item.met else "no",
        number(item.load_average),
        number(item.other_cores),
        item.note,
    ]
    return [markdown_cell(cell) for cell in cells]
