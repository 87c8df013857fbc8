"""Goals and baselines: what is stored, renewed, and refused when read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.errors import DataError
from harness.measure.goals import FOLDER, Goal, load_baselines, save_baseline
from tests.checkout import ROOT
from tests.harness.measure.hand_made_goals import AT_MOST, KIND, MACHINE, baseline_of, goal_of

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


def test_a_stored_baseline_reads_back_whole_and_a_later_run_renews_what_it_measured(
    tmp_path: Path,
) -> None:
    first = baseline_of(goal_of("b", 1.5, samples=[3.0, 1.0]), goal_of("a", 1.0, note="n"))
    save_baseline(tmp_path, first)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == [f"{KIND}.json"]
    (baseline,) = load_baselines(tmp_path)
    assert baseline.measured() == first.measured()
    assert (baseline.kind, baseline.title) == (KIND, "Some CPU, avx2, 2 cores")
    disturbed = goal_of("a", 2.0, other_cores=0.3)
    save_baseline(tmp_path, baseline_of(goal_of("c", 2.0), disturbed, goal_of("b", 2.0)))
    (renewed,) = load_baselines(tmp_path)
    assert {i.name: i.measured for i in renewed.measured()} == {"a": 1.0, "b": 2.0, "c": 2.0}


def test_what_was_measured_on_busy_cores_is_not_stored_unless_it_is_a_count(
    tmp_path: Path,
) -> None:
    busy = goal_of("timed", 1.0, other_cores=0.3)
    save_baseline(tmp_path, baseline_of(busy))
    assert load_baselines(tmp_path) == []
    save_baseline(tmp_path, baseline_of(busy, goal_of("count", 1.0, other_cores=0.3, exact=True)))
    assert [item.name for item in load_baselines(tmp_path)[0].measured()] == ["count"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('"measured": 1.5', '"measured": "1.5"', "measured"),
        ('"schema_version": 2', '"schema_version": 1', "schema_version"),
        ('"extra_info"', '"info"', "extra_info"),
        ("}", "", "JSON"),
    ],
)
def test_an_edited_or_torn_baseline_is_refused_by_file(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    save_baseline(tmp_path, baseline_of(goal_of("some_goal", 1.5)))
    (path,) = (tmp_path / FOLDER).iterdir()
    path.write_text(path.read_text().replace(before, after))
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
    other = baseline_of(goal_of("a", 1.0), machine={**MACHINE, **change})
    assert (other.kind == KIND) is same


def test_every_committed_baseline_is_valid_and_names_no_host() -> None:
    committed = sorted((ROOT / FOLDER).glob("*.json"))
    baselines = load_baselines(ROOT)
    assert [baseline.kind for baseline in baselines] == [path.stem for path in committed]
    for baseline in baselines:
        document = baseline.model_dump(mode="json")
        assert baseline.measured()
        assert not {"node", "release"} & set(document["machine_info"])
        assert not {"project", "branch"} & set(document["commit_info"])
        assert not str(document).count(str(ROOT))
