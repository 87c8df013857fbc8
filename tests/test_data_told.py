"""What an outsider is told about data by `repro plan` in an empty clone."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from pathlib import Path

from typer.testing import CliRunner

from harness.commands import app as repro
from harness.data.catalogue import Dataset, read_catalogue
from harness.declare.profiles import Profile
from harness.registry import experiments_of, load_registry
from harness.store.trial import grid_of, with_upstream
from tests.checkout import ROOT

WAY = re.compile(r"repro data (make|fetch) (\S+)")


def plan(empty: Path, *words: str, root: Path | None = None) -> str:
    """Return what `repro plan` prints where there is no data, and in an empty folder no record."""
    env = {"REPRO_DATA": None, "REPRO_CACHE": str(empty), "REPRO_ROOT": str(root or empty)}
    done = CliRunner().invoke(repro.app, ["plan", *words], env=env, catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout + done.stderr


def catalogue() -> dict[str, Dataset]:
    path = ROOT / "harness" / "data" / "catalogue.toml"
    return {dataset.name: dataset for dataset in read_catalogue(path)}


def test_plan_names_for_each_missing_data_set_how_to_get_it(tmp_path: Path) -> None:
    known = catalogue()
    rows = json.loads(plan(tmp_path, "--profile", "cpu", "--json", root=ROOT))
    told: dict[str, set[str]] = {}
    for row in rows:
        told.setdefault(row["trial"].split("[")[0], set()).update(row["missing_data"])
        for name, way in row["missing_data"].items():
            found = WAY.fullmatch(way)
            assert found is not None, way
            verb, named = found.groups()
            variant = {"make": known[name].made, "fetch": known[name].hub}[verb]
            assert named == name and variant is not None, name
    for experiment, names in wanted("cpu").items():
        assert told.get(experiment, set()) == names, experiment


def wanted(profile: Profile) -> dict[str, set[str]]:
    """Return the data sets with files that trials of each experiment read, or those upstream."""
    known, found = catalogue(), defaultdict(set)
    for experiment in experiments_of(load_registry().select(["*"])):
        for trial in grid_of(experiment, profile):
            # What only others start from is planned too.
            for planned in with_upstream(trial):
                for each in with_upstream(planned):
                    names = (name for name in each.needs.data if not known[name].bundled)
                    found[planned.experiment.id].update(names)
    return found


def test_plan_says_it_in_words(tmp_path: Path) -> None:
    said = plan(tmp_path, "supar", "--profile", "cpu")
    made = "blocked: data set kjv is missing: repro data make kjv"
    assert re.search(rf"^{made}$(\n\S.*)*\nsupar/lr_sweep ", said, re.M)
    assert "missing" not in plan(tmp_path, "supar", "--profile", "smoke")
    # Committed trials are reused without it, and say so all the same: who runs them needs it.
    said = plan(tmp_path, "supar", "--profile", "cpu", root=ROOT)
    assert "blocked" not in said
    assert re.search(r"^kjv +repro data make kjv\n(    .*\n)*.*supar/lr_sweep", said, re.M)


def test_plan_names_mnist_wherever_it_names_cinic10(tmp_path: Path) -> None:
    """Below `paper` CINIC-10 is not read: its trials, and what they lack, say what is."""
    asked = ("asymvalley/tab01", "--profile", "cpu")
    trials = [row["trial"] for row in json.loads(plan(tmp_path, *asked, "--json"))]
    named = [name for name in trials if re.search("cinic.?10", name, re.IGNORECASE)]
    assert len(named) > 50 and all("mnist" in name for name in named), named[:3]
    said = plan(tmp_path, *asked)
    assert "data set mnist is missing: repro data make mnist" in said
    told = [line for line in said.splitlines() if re.search("cinic.?10", line, re.IGNORECASE)]
    assert [line for line in told if "mnist" not in line.lower()] == []
