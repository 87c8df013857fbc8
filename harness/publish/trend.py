"""How performance goals went over the commits that stored them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any

from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from harness.atomic import write_bytes
from harness.errors import EnvError, UsageError
from harness.measure.goals import benchmarks_folder, machine_title
from harness.publish.diff import git
from harness.publish.figures import FORMATS, Format, saved
from harness.publish.style import MARKERS, PALETTE, RC, WIDTH_IN

NUM_COLUMNS = 4
ROW_IN = 1.1


@dataclass(frozen=True, kw_only=True, slots=True)
class Point:
    """What a commit stored of one goal."""

    commit: str
    """Abbreviated hash."""
    name: str
    machine: str
    measured: float
    limit: float
    unit: str


def draw_trend(root: Path, target: Path) -> int:
    """Draw each goal over the commits that stored it, oldest first; return how many goals.

    Raises EnvError outside a checkout, UsageError where none was stored, or for a format that
    nothing is drawn in.
    """
    fmt: Format | None = next((each for each in FORMATS if target.suffix == f".{each}"), None)
    if fmt is None:
        raise UsageError(f"{target.name} has no format that is drawn: end it in .svg or .pdf")
    points = sorted(trend(root), key=_panel_of)
    if not points:
        raise UsageError("no commit stores a benchmark: make a baseline with repro bench --save")
    by_name = [(name, list(group)) for name, group in groupby(points, key=_panel_of)]
    colours = {machine: k for k, machine in enumerate(dict.fromkeys(p.machine for p in points))}
    num_rows = -(-len(by_name) // NUM_COLUMNS)
    with style.context(RC):
        figure = Figure((2 * WIDTH_IN["single"], ROW_IN * num_rows + 0.4), layout="constrained")
        axes = figure.subplots(num_rows, NUM_COLUMNS, squeeze=False).flatten()
        for ax, (name, group) in zip(axes, by_name, strict=False):
            _panel(ax, name, group, colours)
        for ax in axes[len(by_name) :]:
            ax.set_axis_off()
        handles = {text: h for ax in axes for h, text in zip(*ax.get_legend_handles_labels())}  # noqa: B905
        figure.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=2)
        write_bytes(target, saved(figure, fmt))
    return len(by_name)


def _panel_of(point: Point) -> str:
    """Return what a goal's panel is called: a goal in another unit has one of its own."""
    return f"{point.name} ({point.unit})"


def _panel(ax: Axes, name: str, points: list[Point], colours: dict[str, int]) -> None:
    """Draw one goal: its limit dashed, a series per machine."""
    commits = list(dict.fromkeys(point.commit for point in points))
    for machine, k in colours.items():
        mine = [(commits.index(p.commit), p.measured) for p in points if p.machine == machine]
        if mine:
            colour, marker = PALETTE[k % len(PALETTE)], MARKERS[k % len(MARKERS)]
            ax.plot(*zip(*mine, strict=True), label=machine, color=colour, marker=marker)
    ax.axhline(points[-1].limit, color="black", linestyle="--", linewidth=0.6, label="goal")
    ax.set_title(name, fontsize=6)
    ax.set_ylim(0, 1.15 * max(points[-1].limit, *(point.measured for point in points)))
    ax.set_xticks(range(len(commits)), commits, rotation=45, ha="right", fontsize=4.5)


def trend(root: Path) -> Iterator[Point]:
    """Yield what each commit stored, oldest first, of every goal whose file it changed."""
    folder = benchmarks_folder(root).relative_to(root).as_posix()
    log = ["log", "--reverse", "--no-renames", "--diff-filter=AM", "--name-only"]
    commit = ""
    history = git(root, *log, "--format=commit %h", "--", folder)
    if history is None:
        raise EnvError(f"{root} has no history to draw: a trend needs a git checkout")
    for line in history.splitlines():
        word, _, rest = line.partition(" ")
        if word == "commit":
            commit = rest
        elif line.endswith(".json"):
            yield from _points(commit, json.loads(git(root, "show", f"{commit}:{line}") or ""))


def _points(commit: str, stored: dict[str, Any]) -> Iterator[Point]:
    """Yield the goals of a file: a baseline, or what stood for one goal before there were any."""
    if "benchmarks" in stored:
        machine = machine_title(stored["machine_info"])
        entries = [entry["extra_info"] for entry in stored["benchmarks"]]
    else:
        machine, entries = machine_title(stored["machine"]), [stored]
    for entry in entries:
        goal = entry["goal"]
        yield Point(
            commit=commit, name=entry["name"], machine=machine, measured=entry["measured"],
            limit=goal["limit"], unit=goal["unit"],
        )  # fmt: skip
