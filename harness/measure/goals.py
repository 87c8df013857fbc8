"""Performance goals and what was measured against them, as pytest-benchmark's JSON keeps it.

A baseline is `results/benchmarks/<kind of machine>.json`: a file of pytest-benchmark, in which
`stats` are seconds of what the benchmark is about, and `extra_info` is a `Measured`.
"""

from __future__ import annotations

import json
import re
from operator import attrgetter
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.atomic import write_text
from harness.errors import DataError
from harness.measure.machine import cpu_name
from harness.strict import Strict, explain
from harness.untrusted import read_bytes

FOLDER = "results/benchmarks"
"""Where a checkout keeps its baselines."""
CROWDED_CORES = 0.2
"""More than this taken by others makes a time too long to judge a goal by, or to store."""


class Goal(Strict):
    """What a benchmark must reach."""

    limit: float
    unit: str
    """`s`, `ms`, `ratio`, ..."""
    direction: Literal["at_most", "at_least"]

    def is_met(self, measured: float) -> bool:
        return measured <= self.limit if self.direction == "at_most" else measured >= self.limit

    def in_words(self) -> str:
        """Return the goal as pages and tables print it: `at most 1.1`."""
        return f"{self.direction.replace('_', ' ')} {self.limit:g}"


class _Part(BaseModel):
    """A part of a file of pytest-benchmark: what else stands there is kept."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)


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
    fullname: str
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

    def seconds_of(self, file: str) -> float:
        """Return how long a benchmark file took, by its name; 0 where it was never stored."""
        entries = [e for e in self.benchmarks if Path(e.fullname.split("::")[0]).name == file]
        return sum(entry.extra_info.wall_s for entry in entries)


def save_baseline(root: Path, found: Baseline) -> None:
    """Renew in the baseline of its kind of machine what was measured now on free cores."""
    path = root / FOLDER / f"{found.kind}.json"
    before = read_baseline(path).benchmarks if path.exists() else []
    every = {e.name: e for e in before}
    every |= {e.name: e for e in found.benchmarks if not e.extra_info.disturbed}
    if every:
        renewed = found.model_copy(update={"benchmarks": [every[name] for name in sorted(every)]})
        document = renewed.model_dump(mode="json")
        write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n")


def load_baselines(root: Path) -> list[Baseline]:
    """Return all baselines of a checkout, by kind of machine; none where there is no folder.

    Raises DataError, naming the file, for one that is torn, edited or foreign.
    """
    return [read_baseline(path) for path in sorted((root / FOLDER).glob("*.json"))]


def read_baseline(path: Path) -> Baseline:
    """Return a file of pytest-benchmark that our benchmarks wrote.

    Raises DataError, naming the file, for one that is torn, edited or foreign.
    """
    try:
        return Baseline.model_validate_json(read_bytes(path))
    except ValidationError as error:
        raise DataError(
            f"{path} is no file of benchmarks with goals ({explain(error)}): remove it, and make it"
            " again by repro bench --save"
        ) from error
