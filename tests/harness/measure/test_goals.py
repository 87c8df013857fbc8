"""Goals and baselines: what is stored, renewed, and refused when read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError
from harness.measure.goals import (
    Baseline,
    Goal,
    benchmarks_folder,
    load_baselines,
    machine_kind,
    save_baseline,
)
from tests.checkout import ROOT
from tests.harness.measure.hand_made_goals import AT_MOST, KIND, MACHINE, document_of, goal_of

AT_LEAST = Goal(limit=1.65, unit="ratio", direction="at_least")


@pytest.mark.parametrize(
    ("goal", "measured", "met"),
    [
        (AT_MOST, 0.49, True),
        (AT_MOST, 0.5, True),
        (AT_MOST, 0.51, False),
        (AT_LEAST, 1.7, True),
        (AT_LEAST, 1.65, True),
        (AT_LEAST, 1.6, False),
    ],
)
def test_a_goal_is_met_on_its_own_side_of_the_limit(goal: Goal, measured: float, met: bool) -> None:
    assert goal_of("some_goal", measured, goal=goal).met is met


def test_a_stored_baseline_reads_back_whole(tmp_path: Path) -> None:
    goal = goal_of("some_goal", 1.5, samples=[3.0, 1.0, 1.5], note="n")
    path = save_baseline(tmp_path, Baseline(document=document_of(goal)))
    assert path == tmp_path / "results" / "benchmarks" / f"{KIND}.json"
    (baseline,) = load_baselines(tmp_path)
    assert baseline.measured() == {"some_goal": goal}
    assert baseline.kind == KIND


def test_a_run_of_some_renews_these_alone() -> None:
    before = Baseline(document=document_of(goal_of("a", 1.0), goal_of("b", 1.0)))
    later = document_of(goal_of("b", 2.0), goal_of("c", 2.0), goal_of("d", 2.0))
    renewed = before.renewed(later, ["b", "c"]).measured()
    assert {name: item.measured for name, item in renewed.items()} == {"a": 1.0, "b": 2.0, "c": 2.0}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"measured": "1.5"}, "measured"),
        ({"extra": 1}, "extra"),
        ({"schema_version": 1}, "schema_version"),
    ],
)
def test_an_edited_goal_is_refused_by_file(
    tmp_path: Path, change: dict[str, object], told: str
) -> None:
    document = document_of(goal_of("some_goal", 1.5))
    document["benchmarks"][0]["extra_info"].update(change)
    save_baseline(tmp_path, Baseline(document=document))
    with pytest.raises(DataError, match=told) as caught:
        load_baselines(tmp_path)
    assert f"{KIND}.json" in str(caught.value)


@pytest.mark.parametrize(
    ("change", "same"),
    [
        ({"cpu_id": "Maker family 1 model 2 stepping 4"}, True),
        ({"memory_bytes": 1}, True),
        ({"cpu_id": "Maker family 1 model 3 stepping 3"}, False),
        ({"isa": "avx512"}, False),
        ({"num_cores": 4}, False),
        ({"gpus": [{"name": "Some GPU"}]}, False),
    ],
)
def test_a_kind_of_machine_is_what_times_depend_on(change: dict[str, Any], same: bool) -> None:
    assert (machine_kind({**MACHINE, **change}) == machine_kind(MACHINE)) is same


def test_every_committed_baseline_is_valid_and_names_no_host() -> None:
    committed = sorted(benchmarks_folder(ROOT).glob("*.json"))
    baselines = load_baselines(ROOT)
    assert [baseline.kind for baseline in baselines] == [path.stem for path in committed]
    for baseline in baselines:
        assert baseline.measured()
        assert not {"node", "release"} & set(baseline.machine)
        assert not {"project", "branch"} & set(baseline.document["commit_info"])
        assert not json.dumps(baseline.document).count(str(ROOT))
