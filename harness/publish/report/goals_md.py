"""results/benchmarks/README.md: goals of speed and memory, and what each machine measured."""

from __future__ import annotations

from collections.abc import Sequence

from harness.measure.goals import Baseline, Measured, machine_title
from harness.publish.report.text import markdown_cell, markdown_table, number

PAGE = "results/benchmarks/README.md"
HEAD = """# Performance goals

`repro report` writes this page from the committed measurements beside it; do not edit it.
[docs/speed.md](../../docs/speed.md) says how they are measured and compared.
"""
COLUMNS = ("benchmark", "goal", "measured", "met", "load average", "cores of others", "setting")


def goals_markdown(baselines: Sequence[Baseline]) -> str:
    """Return the page: a table per machine, and apart from it sums over committed records."""
    parts = [HEAD] if baselines else [HEAD, "No benchmark is committed.\n"]
    for baseline in baselines:
        items, machine = list(baseline.measured().values()), machine_title(baseline.machine)
        for from_records, title in (
            (False, f"Measured on {machine}"),
            (True, f"Added up from committed records, by {machine}"),
        ):
            cells = [_cells(item) for item in items if item.from_records is from_records]
            parts += [f"{title}:\n\n{markdown_table(COLUMNS, cells)}\n"] if cells else []
    return "\n".join(parts)


def goals_line(baselines: Sequence[Baseline]) -> str:
    """Return how many goals each machine meets, with a link to the page."""
    told = []
    for each in baselines:
        met = [item.met for item in each.measured().values()]
        told.append(f"On {machine_title(each.machine)} {sum(met)} of {len(met)} goals are met.")
    return " ".join([*(told or ["No benchmark is committed."]), f"[What was measured]({PAGE})."])


def _cells(item: Measured) -> list[str]:
    """Return a benchmark as text: name, goal, measured, met, load, cores of others, setting."""
    goal = item.goal
    unit = "" if goal.unit == "ratio" else f" {goal.unit}"
    cells = [
        item.name,
        f"{goal.direction.replace('_', ' ')} {number(goal.limit)}{unit}",
        f"{number(item.measured)}{unit}",
        "yes" if item.met else "no",
        number(item.load_average),
        number(item.other_cores),
        item.note,
    ]
    return [markdown_cell(cell) for cell in cells]
