"""Performance goals and what was measured against them, as pytest-benchmark's JSON keeps it.

A baseline is `results/benchmarks/<kind of machine>.json`: a file of pytest-benchmark, in which
`stats` are seconds of what the benchmark is about, and `extra_info` is a `Measured`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, ValidationError

from harness.atomic import write_text
from harness.errors import DataError
from harness.measure.machine import cpu_name
from harness.strict import Strict, explain
from harness.untrusted import read_bytes

Direction = Literal["at_most", "at_least"]
Document = dict[str, Any]
"""A file of pytest-benchmark, as its JSON is."""


class Goal(Strict):
    """What a benchmark must reach."""

    limit: float
    unit: str
    """`s`, `ms`, `ratio`, ..."""
    direction: Direction

    def is_met(self, measured: float) -> bool:
        return measured <= self.limit if self.direction == "at_most" else measured >= self.limit

    def in_words(self) -> str:
        """Return the goal as pages and tables print it: `at most 1.1`."""
        return f"{self.direction.replace('_', ' ')} {self.limit:g}"


class Measured(Strict):
    """One goal, what was measured, and under which circumstances."""

    schema_version: Literal[2] = 2
    name: str = Field(pattern=r"^[a-z0-9_]+$")
    goal: Goal
    measured: float = Field(allow_inf_nan=False)
    samples: list[float]
    """All that the measured value was made of, in the goal's unit; empty where it is one number."""
    exact: bool
    """Counted and not timed: it has no spread, so that any change is one."""
    from_records: bool
    """A sum over committed records: nothing was measured now."""
    note: str
    """The setting, in one line."""
    wall_s: float
    """What the whole benchmark took."""
    controls: list[dict[str, float]]
    """Speed of the machine before and after, see harness.measure.control."""
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


class _Entry(BaseModel):
    """A benchmark in pytest-benchmark's file; its own fields are its own business."""

    name: str
    fullname: str
    extra_info: Measured


class _Machine(BaseModel):
    cpu: str
    num_cores: int


class _File(BaseModel):
    machine_info: _Machine
    benchmarks: list[_Entry]


@dataclass(frozen=True, kw_only=True, slots=True)
class Baseline:
    """What one kind of machine measured."""

    document: Document

    @property
    def machine(self) -> Mapping[str, Any]:
        """Facts of the machine, as records have them."""
        return dict(self.document["machine_info"])

    @property
    def kind(self) -> str:
        """The kind of machine, which is the file's name too."""
        return machine_kind(self.machine)

    def measured(self) -> dict[str, Measured]:
        """Return what was measured by the goal's name, in the order of names."""
        told = {e.name: e.extra_info for e in _File.model_validate(self.document).benchmarks}
        return dict(sorted(told.items()))

    def renewed(self, document: Document, names: Iterable[str]) -> Baseline:
        """Return this baseline with the named goals, and the facts, of a later run."""
        wanted = set(names)
        new = Baseline(document=document).only(wanted).document["benchmarks"]
        kept = [entry for entry in self.document["benchmarks"] if entry["name"] not in wanted]
        every = sorted(kept + new, key=itemgetter("name"))
        return Baseline(document={**document, "benchmarks": every})

    def only(self, names: Collection[str]) -> Baseline:
        """Return this baseline with no other goals than the named ones."""
        kept = [entry for entry in self.document["benchmarks"] if entry["name"] in names]
        return Baseline(document={**self.document, "benchmarks": kept})


def machine_kind(machine: Mapping[str, Any]) -> str:
    """Return what machines whose times may be compared have in common, fit for a file's name.

    >>> machine_kind({"cpu": "AMD EPYC", "cpu_id": "AuthenticAMD family 25 model 17 stepping 1",
    ...               "isa": "avx512", "num_cores": 2})
    'amd-epyc-family-25-model-17-avx512-2-cores'
    """
    design = re.findall(r"(?:family|model|part) \S+", machine.get("cpu_id", ""))
    names = [gpu["name"] for gpu in machine.get("gpus", ())]
    words = [machine["cpu"], *design, machine.get("isa", ""), f"{machine['num_cores']} cores"]
    return re.sub(r"[^a-z0-9]+", "-", " ".join([*words, *names]).lower()).strip("-")


def machine_title(machine: Mapping[str, Any]) -> str:
    """Return what pages call a kind of machine.

    >>> machine_title({"cpu": "AMD EPYC", "isa": "avx512", "num_cores": 2})
    'AMD EPYC, avx512, 2 cores'
    """
    names = [gpu["name"] for gpu in machine.get("gpus", ())]
    return ", ".join([cpu_name(machine), f"{machine['num_cores']} cores", *names])


def benchmarks_folder(root: Path) -> Path:
    """Return where a checkout keeps its baselines."""
    return root / "results" / "benchmarks"


def save_baseline(root: Path, baseline: Baseline) -> Path:
    """Write a baseline in its place and return the file."""
    path = benchmarks_folder(root) / f"{baseline.kind}.json"
    write_document(path, baseline.document)
    return path


def write_document(path: Path, document: Document) -> None:
    """Write a file of pytest-benchmark, small and stable."""
    write_text(path, json.dumps(document, indent=1, sort_keys=True) + "\n")


def load_baselines(root: Path) -> list[Baseline]:
    """Return all baselines of a checkout, by kind of machine; none where there is no folder.

    Raises DataError, naming the file, for one that is torn, edited or foreign.
    """
    return [read_document(path) for path in sorted(benchmarks_folder(root).glob("*.json"))]


def read_document(path: Path) -> Baseline:
    """Return a file of pytest-benchmark that our benchmarks wrote.

    Raises DataError, naming the file, for one that is torn, edited or foreign.
    """
    try:
        text = read_bytes(path)
        _File.model_validate_json(text)
    except ValidationError as error:
        raise DataError(
            f"{path} is no file of benchmarks ({explain(error)}): remove it, and make it again by"
            " repro bench --save"
        ) from error
    return Baseline(document=json.loads(text))
