"""Modules move and are renamed in a scratch copy: no seal falls, no record gets stale or lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.provenance.before import code_of, load_before
from harness.provenance.code import experiment_code
from harness.provenance.seals import same_values
from harness.registry import load_registry
from harness.store.trial import all_trials
from harness.store.record import read_lines
from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.checkout import ROOT

MOVES = {
    "harness.declare.statistics": "harness.stats",
    "harness.declare.claims": "harness.declared.claims",
    "reproductions.nets.build": "reproductions.nets.built",
    "reproductions.supar.models.optima": "reproductions.supar.models.best_points",
    "reproductions.supar.coordinates.quantities": "reproductions.supar.coordinate_numbers",
    "reproductions.supar.method.masks": "reproductions.supar.method.sparse_layers",
    "reproductions.supar.models.training": "reproductions.supar.models.optimizing",
    "reproductions.asymvalley.models.curves": "reproductions.asymvalley.models.curve_numbers",
    "reproductions.asymvalley.models.columns": "reproductions.asymvalley.models.shared_columns",
    "reproductions.asymvalley.method.directions": "reproductions.asymvalley.method.noises",
    "reproductions.asymvalley.models.pairs": "reproductions.asymvalley.models.net_pairs",
    "reproductions.lisa.models.step_bytes": "reproductions.lisa.memory_study.numbers",
    "reproductions.lisa.lm_benchmarks.table": "reproductions.lisa.lm_benchmarks.views",
    "reproductions.lisa.models.shapes": "reproductions.lisa.model_shapes",
}
"""A dozen of quantities, views, methods and statistics."""
RENAMED = {"samples_per_seed": "numbers_of", "t_interval": "student_interval"}


def copy_with_moves(root: Path) -> None:
    """Copy the sources and results, then move modules as an editor would."""
    for name in ("harness", "reproductions", "results"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", root)
    for old, new in MOVES.items():
        target = root / f"{new.replace('.', '/')}.py"
        target.parent.mkdir(exist_ok=True)
        (target.parent / "__init__.py").touch()
        (root / f"{old.replace('.', '/')}.py").rename(target)
    for path in [*(root / "harness").rglob("*.py"), *(root / "reproductions").rglob("*.py")]:
        text = path.read_text()
        for old, new in MOVES.items():
            text = re.sub(rf"\b{re.escape(old)}\b", new, text)
            parent, _, name = old.rpartition(".")
            there, _, alias = new.rpartition(".")
            text = re.sub(
                rf"from {re.escape(parent)} import {name}(?: as (\w+))?$",
                lambda m, at=there, now=alias, was=name: f"from {at} import {now} as {m[1] or was}",
                text,
                flags=re.MULTILINE,
            )
        for old, new in RENAMED.items():
            text = re.sub(rf"\b{old}\b", new, text)
        path.write_text(text)


READ = """
import sys
from harness.cli import main

for verb in sys.argv[1:]:
    sys.argv = ["repro", verb, "--profile", "cpu", "--json"]
    try:
        main()
    except SystemExit as end:
        if end.code:
            raise
    print("\\0")
"""


def rows(root: Path, *verbs: str) -> dict[str, list[dict[str, Any]]]:
    """Return the JSON rows of reading verbs of the sources at `root`, read by one process."""
    env = {**os.environ, "PYTHONPATH": str(root), "REPRO_ROOT": str(root)}
    done = subprocess.run(
        [sys.executable, "-c", READ, *verbs],
        cwd=root,
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    parts = done.stdout.split("\0\n")[:-1]
    return {verb: json.loads(part) for verb, part in zip(verbs, parts, strict=True)}


def stored_verdicts() -> Iterator[dict[str, Any]]:
    """Yield what `check` said when the committed results were written."""
    for path in (ROOT / "results").glob("*/*.cpu.json"):
        yield from json.loads(path.read_text())["verdicts"]


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[dict[str, Any]]]:
    """Return what `check` and `status` say where modules have moved."""
    root = tmp_path_factory.mktemp("moved")
    copy_with_moves(root)
    return rows(root, "check", "status")


def test_no_seal_falls_below_restated(moved: dict[str, list[dict[str, Any]]]) -> None:
    here = {(r["task"], r["claim"], r["cohort"]): r for r in stored_verdicts()}
    there = {(r["task"], r["claim"], r["cohort"]): r for r in moved["check"]}
    assert here and here.keys() <= there.keys()
    fallen = {
        key: (row["seal"], there[key]["seal"], there[key]["differences"])
        for key, row in here.items()
        if there[key]["seal"] not in (row["seal"], "restated")
    }
    assert fallen == {}
    # Slopes are fitted by a library that rounds by the processor's kind.
    moved_numbers = {
        (*key, name): (row[name], there[key][name])
        for key, row in here.items()
        for name in ("verdict", "measured", "low", "high", "num_seeds")
        if not same_values(row[name], there[key][name])
    }
    assert moved_numbers == {}


def test_no_record_is_lost_or_gets_stale(moved: dict[str, list[dict[str, Any]]]) -> None:
    """Compared with the digests of the sources as they stand, which nothing unpacks."""
    library, workspace = load_registry(), Workspace(ROOT)
    expected: dict[str, Counter[bool]] = {}
    for name, experiment in library.experiments.items():
        now, before = experiment_code(experiment), load_before(ROOT, experiment.paper)
        path = RecordStore(workspace).pack_path(name, "cpu")
        if path.exists():
            keys = {trial.key for trial in all_trials(experiment, "cpu")}
            found = (body for _, body in read_lines(path) if body["key"] in keys)
            expected[name] = Counter(code_of(body, before) != now for body in found)
    there: dict[str, Counter[bool]] = {}
    for row in moved["status"]:
        if row["state"] != "missing":
            there.setdefault(row["experiment"], Counter())[row["stale"]] += 1
    assert there == expected
