"""No seed of a cohort occurs in a record that was committed before the cohort was declared."""

from __future__ import annotations

import gzip
import json
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from harness.declare.cohorts import Cohort
from harness.declare.experiment import Experiment
from harness.declare.profiles import Profile
from harness.provenance.seals import seal_name
from harness.registry import load_registry
from tests.checkout import ROOT

LIBRARY = load_registry()
DECLARED = [
    pytest.param(experiment, profile, cohort, id=f"{name} {profile} {cohort.name}")
    for name, experiment in sorted(LIBRARY.experiments.items())
    for profile, cohorts in experiment.cohorts.items()
    for cohort in cohorts
]


def git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, check=True).stdout


def packs(commit: str, *, paper: str) -> dict[str, str]:
    """Return the blobs of all packs of a paper in a commit, by path."""
    listed = git("ls-tree", "-r", commit, "--", f"results/{paper}/records").decode().splitlines()
    return {line.split("\t")[1]: line.split()[2] for line in listed}


def records(blob: str) -> Iterator[dict[str, Any]]:
    for line in gzip.decompress(git("cat-file", "blob", blob)).decode().split("\n"):
        if line:
            yield json.loads(line)["record"]


def has_seed(record: dict[str, Any], seeds: set[int]) -> bool:
    return any(value in seeds for value in record["params"].values() if type(value) is int)


@pytest.mark.parametrize(("experiment", "profile", "cohort"), DECLARED)
def test_its_seeds_were_in_no_record_before_it_was_declared(
    experiment: Experiment, profile: Profile, cohort: Cohort
) -> None:
    seeds = set(cohort.seeds(experiment.paper))
    git("merge-base", "--is-ancestor", cohort.since, "HEAD")
    seen: set[str] = set()
    for commit in git("rev-list", cohort.since, "--", "results").decode().split():
        for path, blob in packs(commit, paper=experiment.paper).items():
            if blob in seen:
                continue
            seen.add(blob)
            known = [record["key"] for record in records(blob) if has_seed(record, seeds)]
            assert not known, f"{path} at {commit}: {known[:3]}"


@pytest.mark.parametrize(("experiment", "profile", "cohort"), DECLARED)
def test_its_records_took_seals_that_name_it(
    experiment: Experiment, profile: Profile, cohort: Cohort
) -> None:
    """A record of before the declaration cannot have them."""
    seeds = set(cohort.seeds(experiment.paper))
    wanted = {
        seal_name(task.id, claim.id, cohort.name)
        for task in LIBRARY.tasks_of(experiment)
        for claim in task.claims
        if claim.scope.cohort == cohort.name
    }
    path = ROOT / "results" / experiment.paper / "records"
    pack = path / f"{experiment.id.split('/')[1]}.{profile}.jsonl.gz"
    lines = gzip.decompress(pack.read_bytes()).decode().split("\n") if pack.exists() else []
    for line in filter(None, lines):
        record = json.loads(line)["record"]
        if has_seed(record, seeds):
            first = record.get("first_seals") or record["seals"]
            assert wanted <= first.keys(), record["key"]
            git("merge-base", "--is-ancestor", cohort.since, record["provenance"]["commit"])
