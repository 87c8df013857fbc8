"""Performance goals and what was measured against them, as pytest-benchmark's JSON keeps it.

A baseline is `results/benchmarks/<kind of machine>.json`: a file of pytest-benchmark, in which
`stats` are seconds of what the benchmark is about, and `extra_info` is a `Measured`. The page
beside them, README.md, is made from them alone.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.atomic import write_text
from harness.measure.machine import cpu_name
from harness.publish.report.text import markdown_cell, markdown_table, number
from harness.strict import explain

FOLDER = Path("results/benchmarks")
"""Where a checkout keeps its baselines."""
CROWDED_CORES = 0.2
"""More than this taken by others makes a time too long to judge a goal by, or to store."""


class _Part(BaseModel):
    """A part of a file of pytest-benchmark: what else stands there is kept."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


class Goal(_Part):
    """What a benchmark must reach."""

    limit: float
    unit: str
    """`s`, `ms`, `ratio`, ..."""
    direction: Literal["at_most", "at_least"]

    def is_met(self, measured: float) -> bool:
        return measured <= self.limit if self.direction == "at_most" else measured >= self.limit

    def in_words(self) -> str:
        """Return the goal as the page and the table print it: `at most 1.1`."""
        return f"{self.direction.replace('_', ' ')} {number(self.limit)}"


class Measured(_Part):
    """One goal, what was measured, and under which circumstances."""

    schema_version: Literal[2] = 2
    name: str = Field(pattern=r"^[a-z0-9_]+$")
    goal: Goal
    measured: float = Field(allow_inf_nan=False)
    samples: list[float]
    """All that the measured value was made of, in the goal's unit; empty where it is one number."""
    exact: bool
    """Counted and not timed."""
    from_records: bool
    """A sum over committed records: nothing was measured now."""
    note: str
    """The setting, in one line."""
    wall_s: float
    """What the whole benchmark took."""
    load_average: float | None
    """One-minute load average before the measurement."""
    other_cores: float | None
    """Mean number of cores that others kept busy during it; None where nothing tells."""
    versions: dict[str, str]
    """Of Python and the packages that matter."""
    commit: str
    dirty: bool
    date: str
    """When it was measured, ISO 8601 in UTC."""

    @property
    def met(self) -> bool:
        """Whether the goal is reached; a missed goal is a result, not a failure."""
        return self.goal.is_met(self.measured)

    @property
    def disturbed(self) -> bool:
        """Whether others took too much of the machine while something was timed."""
        timed = not (self.exact or self.from_records)
        return timed and (self.other_cores or 0.0) > CROWDED_CORES


class Entry(_Part):
    """A benchmark in the file, named as its goal."""

    name: str
    extra_info: Measured


class Baseline(_Part):
    """What one machine measured: a file of pytest-benchmark."""

    machine_info: dict[str, Any]
    """Facts of the machine, as records have them."""
    benchmarks: list[Entry] = Field(min_length=1)

    @property
    def kind(self) -> str:
        """What machines whose times may be compared have in common: the baseline's file name."""
        facts = self.machine_info
        design = re.findall(r"(?:family|model|part) \S+", facts.get("cpu_id", ""))
        words = [facts["cpu"], *design, facts.get("isa", ""), *self._size()]
        return re.sub(r"[^a-z0-9]+", "-", " ".join(words).lower()).strip("-")

    @property
    def title(self) -> str:
        """What pages call the machine."""
        return ", ".join([cpu_name(self.machine_info), *self._size()])

    def _size(self) -> list[str]:
        gpus = [gpu["name"] for gpu in self.machine_info.get("gpus", ())]
        return [f"{self.machine_info['num_cores']} cores", *gpus]

    def measured(self) -> list[Measured]:
        """Return what was measured, in the order of the goals' names."""
        return [entry.extra_info for entry in sorted(self.benchmarks, key=attrgetter("name"))]


def save_baseline(root: Path, found: Baseline) -> None:
    """Renew in the baseline of its kind of machine what was measured now on free cores.

    The page is written anew, too.
    """
    path = root / FOLDER / f"{found.kind}.json"
    before = read_baseline(path).benchmarks if path.exists() else []
    every = {e.name: e for e in before}
    every |= {e.name: e for e in found.benchmarks if not e.extra_info.disturbed}
    if every:
        renewed = found.model_copy(update={"benchmarks": [every[name] for name in sorted(every)]})
        document = renewed.model_dump(mode="json")
        write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n")
        write_text(path.with_name("README.md"), goals_page(load_baselines(root)))


def load_baselines(root: Path) -> list[Baseline]:
    """Return all baselines of a checkout, by kind of machine; none where there is no folder.

    Raises UsageError, naming the file, for one that is torn, edited or foreign.
    """
    return [read_baseline(path) for path in sorted((root / FOLDER).glob("*.json"))]


def read_baseline(path: Path) -> Baseline:
    """Return a file of pytest-benchmark that our benchmarks wrote.

    Raises UsageError, naming the file, for one that is torn, edited or foreign.
    """
    try:
        return Baseline.model_validate_json(path.read_bytes())
    except ValidationError as error:
        raise pytest.UsageError(
            f"{path} is no file of benchmarks with goals ({explain(error)}): remove it, and make it"
            " again by make bench SAVE=1"
        ) from error


def goals_table(found: Sequence[Measured]) -> list[str]:
    """Return the lines that a run ends with, of at most 80 characters."""
    rows = [("name", "measured", "goal", "unit", "met", "other cores")]
    for item in found:
        met = "busy" if item.disturbed else _yes_or_no(item.met)
        words, taken = item.goal.in_words(), number(item.other_cores)
        rows.append((item.name, number(item.measured), words, item.goal.unit, met, taken))
    lines = [
        f"{name:25}{measured:>10}  {goal:16}{unit:7}{met:6}{taken}".rstrip()
        for name, measured, goal, unit, met, taken in rows
    ]
    judged = [item.met for item in found if not item.disturbed]
    lines += [f"{sum(judged)} of {len(judged)} goals met"]
    if len(judged) < len(found):
        lines += [f"busy: others took over {CROWDED_CORES} cores, too much to judge or store it"]
    return lines


HEAD = """# Performance goals

`make bench SAVE=1` writes this page from the committed measurements beside it; do not edit it.
[docs/speed.md](../../docs/speed.md) says how they are measured, drawn and compared.
"""
COLUMNS = ("benchmark", "goal", "measured", "met", "load average", "cores of others", "setting")


def goals_page(baselines: Sequence[Baseline]) -> str:
    """Return the page: a table per machine, and apart from it sums over committed records."""
    parts = [HEAD]
    for each in baselines:
        met = [item.met for item in each.measured()]
        parts += [f"On {each.title} {sum(met)} of {len(met)} goals are met.\n"]
        for from_records, title in (
            (False, f"Measured on {each.title}"),
            (True, f"Added up from committed records, by {each.title}"),
        ):
            cells = [_cells(i) for i in each.measured() if i.from_records is from_records]
            parts += [f"{title}:\n\n{markdown_table(COLUMNS, cells)}\n"] if cells else []
    return "\n".join(parts)


def _cells(item: Measured) -> list[str]:
    """Return a benchmark as text: name, goal, measured, met, load, cores of others, setting."""
    unit = "" if item.goal.unit == "ratio" else f" {item.goal.unit}"
    cells = [
        item.name,
        f"{item.goal.in_words()}{unit}",
        f"{number(item.measured)}{unit}",
        _yes_or_no(item.met),
        number(item.load_average),
        number(item.other_cores),
        item.note,
    ]
    return [markdown_cell(cell) for cell in cells]


def _yes_or_no(met: bool) -> str:
    return "yes" if met else "no"
