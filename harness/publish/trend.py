"""How performance goals went over the commits that stored them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pandas as pd
import seaborn.objects as so
from matplotlib.figure import Figure

from harness.atomic import write_bytes
from harness.errors import EnvError, UsageError, one_of
from harness.measure.goals import benchmarks_folder, machine_title
from harness.publish.diff import git
from harness.publish.figures import Format, saved
from harness.publish.style import MARKERS, PALETTE, RC, WIDTH_IN, themed

LIMIT = so.Line(color="black", linestyle="--", linewidth=0.6, marker="_", edgecolor="black")


def draw_trend(root: Path, target: Path) -> int:
    """Draw each goal over the commits that stored it, oldest first; return how many goals.

    Raises EnvError outside a checkout, UsageError where none was stored, or for a format that
    nothing is drawn in.
    """
    fmt: Format = one_of(target.suffix[1:], get_args(Format), "format")
    points = pd.DataFrame(trend(root))
    if points.empty:
        raise UsageError("no commit stores a benchmark: make a baseline with repro bench --save")
    points = points.sort_values("goal", kind="stable")
    num_goals, num_machines = points["goal"].nunique(), points["machine"].nunique()
    settings = RC | {"axes.titlesize": 6.0, "xtick.labelsize": 4.5}
    plot = (
        so.Plot(points, x="commit", y="measured", color="machine", marker="machine")
        .facet("goal", wrap=4)
        .share(x=False, y=False)
        .scale(color=list(PALETTE[:num_machines]), marker=list(MARKERS[:num_machines]))
        .add(so.Line())
        .add(LIMIT, y="limit", color=None, marker=None)
        .label(x="", y="", color="")
        .theme(settings)
    )
    with themed(settings):
        size_in = 2 * WIDTH_IN["single"], 1.1 * -(-num_goals // 4) + 0.4
        figure = Figure(size_in, layout="constrained")
        plot.on(figure).plot()
        for ax in figure.axes:
            ax.set_ylim(0, 1.15 * ax.dataLim.y1)
            for label in ax.get_xticklabels():
                label.set(rotation=45, ha="right", rotation_mode="anchor")
        machines = figure.legends.pop()  # seaborn's stands beside the page
        names = [text.get_text() for text in machines.get_texts()]
        handles: Any = machines.legend_handles
        figure.legend(handles, names, title="dashed: the goal", loc="outside lower center", ncols=2)
        write_bytes(target, saved(figure, fmt))
    return int(num_goals)


def trend(root: Path) -> Iterator[dict[str, Any]]:
    """Yield what each commit stored, oldest first, of every goal whose file it changed."""
    folder = benchmarks_folder(root).relative_to(root).as_posix()
    log = ["log", "--reverse", "--no-renames", "--diff-filter=AM", "--name-only"]
    commit = ""
    history = git(root, *log, "--format=commit %h", "--", folder)
    if history is None:
        raise EnvError(f"{root} has no history to draw: a trend needs a git checkout")
    for line in history.splitlines():
        word, _, rest = line.partition(" ")
        commit = rest if word == "commit" else commit
        if not line.endswith(".json"):
            continue
        stored = json.loads(git(root, "show", f"{commit}:{line}") or "")
        machine = machine_title(stored.get("machine_info") or stored["machine"])
        # Before there were baselines, a goal had a file of its own.
        for entry in [each["extra_info"] for each in stored.get("benchmarks", ())] or [stored]:
            goal = entry["goal"]
            yield {
                "commit": commit, "goal": f"{entry['name']} ({goal['unit']})", "machine": machine,
                "measured": entry["measured"], "limit": goal["limit"],
            }  # fmt: skip
