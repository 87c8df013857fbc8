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
    for title, cells in goal_tables(baselines):
        rows = [[markdown_cell(cell) for cell in row] for row in cells]
        parts.append(f"{title}:\n\n{markdown_table(COLUMNS, rows)}\n")
    return "\n".join(parts)


def goals_line(baselines: Sequence[Baseline]) -> str:
    """Return how many goals are met and which are missed, with a link to the page."""
    if not baselines:
        return "No benchmark is committed.\n"
    told = []
    missed = [[i.name for i in each.measured().values() if not i.met] for each in baselines]
    always = set(missed[0]).intersection(*missed) if len(missed) > 1 else set()
    for baseline, names in zip(baselines, missed, strict=True):
        total = len(baseline.measured())
        found = [markdown_cell(name) for name in names if name not in always]
        tail = f"; missed: {', '.join(found)}" if found else ""
        met = f"{total - len(names)} of {total} goals are met{tail}"
        told.append(f"On {machine_title(baseline.machine)} {met}.")
    every = [markdown_cell(name) for name in missed[0] if name in always]
    told += [f"Missed on each of them: {', '.join(every)}."] if every else []
    return f"{' '.join(told)} What was measured: [{PAGE}]({PAGE}).\n"


def goal_tables(baselines: Sequence[Baseline]) -> list[tuple[str, list[list[str]]]]:
    """Return titles and cells of what each machine measured, and of sums over records apart."""
    tables = []
    for baseline in baselines:
        items, machine = list(baseline.measured().values()), machine_title(baseline.machine)
        for from_records, title in (
            (False, f"Measured on {machine}"),
            (True, f"Added up from committed records, by {machine}"),
        ):
            cells = [goal_cells(item) for item in items if item.from_records is from_records]
            tables += [(title, cells)] if cells else []
    return tables


def goal_cells(item: Measured) -> list[str]:
    """Return a benchmark as text: name, goal, measured, met, load, cores of others, setting."""
    goal = item.goal
    unit = "" if goal.unit == "ratio" else f" {goal.unit}"
    return [
        item.name,
        f"{goal.direction.replace('_', ' ')} {number(goal.limit)}{unit}",
        f"{number(item.measured)}{unit}",
        "yes" if item.met else "no",
        number(item.load_average),
        number(item.other_cores),
        item.note,
    ]
