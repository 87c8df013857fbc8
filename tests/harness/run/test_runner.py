"""The runner and its plan, in one process: what is run, in which order, and what is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from harness.declare.params import Params, doc, seed
from harness.errors import RunError
from harness.run.executors.context import TrialContext, Upstream
from harness.run.plan import Action
from harness.store.record import Record
from harness.store.result import build_result
from harness.store.store import RecordStore, Rejected
from harness.store.trial import Trial, grid_of
from tests.harness import inline_lab as lab
from tests.harness.inline_lab import (
    BASE,
    FATES,
    HEAD,
    SQUARES,
    TASKS,
    Silent,
    carry_out,
    make_record,
    plan_of,
    run_lab,
)


def weights(store: RecordStore, x: int) -> Path:
    trial = Trial(BASE, {"x": x, "seed": 0}, "cpu")
    return store.artifact_folder(trial) / "weights.safetensors"


def status_of(store: RecordStore, trial: Trial) -> tuple[str, str]:
    record = store.read(trial)
    assert isinstance(record, Record), record
    return record.status, record.note


def reasons(store: RecordStore, *words: str) -> dict[str, str]:
    """Return why each trial of a plan that is to run, is."""
    plan = plan_of(store, *words)
    return {item.trial.name: item.reason for item in plan.with_action(Action.RUN)}


def test_a_trial_that_raises_is_recorded_with_its_traceback_and_tried_again(
    store: RecordStore,
) -> None:
    bad = "lab/squares[x=1 seed=0]"
    lab.faults[bad] = ValueError("too square")
    summary = run_lab(store, "squares")
    assert [report.note for report in summary.failed] == ["ValueError: too square"]
    assert (summary.num_run, summary.num_left) == (3, 0)
    record = store.read(grid_of(SQUARES, "cpu")[1])
    assert isinstance(record, Record)
    assert "inline_lab.py" in record.error and "Traceback" in record.error
    assert reasons(store, "squares") == {bad: "failed before: ValueError: too square"}
    lab.faults.clear()
    assert run_lab(store, "squares").failed == []
    assert [bad] == lab.calls


@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (MemoryError("too big"), "oom"),
        (SystemExit(3), "failed"),
        (ValueError("a lone \ud800 surrogate"), "failed"),
        (RecursionError("too deep"), "failed"),
    ],
)
def test_whatever_a_trial_raises_costs_that_trial_only(
    store: RecordStore, fault: BaseException, status: str
) -> None:
    lab.faults["lab/squares[x=0 seed=0]"] = fault
    summary = run_lab(store, "squares")
    assert (summary.num_run, len(lab.calls)) == (3, 3)
    trials = grid_of(SQUARES, "cpu")
    assert [status_of(store, trial)[0] for trial in trials] == [status, "done", "done"]


def test_a_full_disk_ends_the_run_instead_of_failing_every_trial(store: RecordStore) -> None:
    lab.faults["lab/squares[x=0 seed=0]"] = OSError(28, "No space left on device")
    with pytest.raises(RunError, match="No space left"):
        run_lab(store, "squares")
    assert len(lab.calls) == 1
    lab.faults.clear()
    assert run_lab(store, "squares").num_left == 0


def test_ctrl_c_in_a_trial_ends_the_run_and_keeps_what_was_done(store: RecordStore) -> None:
    lab.faults["lab/squares[x=1 seed=0]"] = KeyboardInterrupt()
    summary = run_lab(store, "squares")
    assert (summary.interrupted, summary.num_left) == (True, 3 - summary.num_run)
    lab.faults.clear()
    assert run_lab(store, "squares").num_left == 0
    assert "lab/squares[x=0 seed=0]" not in lab.calls


def test_upstream_runs_first_and_its_artifact_reaches_the_trial(store: RecordStore) -> None:
    run_lab(store, "head")
    names = [call.split("[")[0] for call in lab.calls]
    assert sorted(names) == ["lab/base"] * 2 + ["lab/head"] * 2
    for x in range(2):
        assert lab.calls.index(f"lab/base[x={x} seed=0]") < lab.calls.index(
            f"lab/head[x={x} k=5 seed=0]"
        )
    record = store.result(Trial(HEAD, {"x": 1, "k": 5, "seed": 0}, "cpu"))
    assert record is not None and record.rows == [{"y": 4 * 1.0 + 1.0}]


def test_an_artifact_has_its_names_in_one_order(store: RecordStore) -> None:
    # safetensors itself draws one each time: 8 names come sorted once in 40,320 times.
    trial = Trial(BASE, {"x": 0, "seed": 0}, "cpu")
    ctx = TrialContext(trial, store, "cpu")
    ctx.save("many.safetensors", {name: torch.zeros(1) for name in "hdbfgeca"})
    record = make_record(trial).model_copy(update={"artifacts": ctx.artifacts})
    assert list(Upstream(trial, record, store).load("many.safetensors")) == [*"abcdefgh"]


def test_the_key_of_a_trial_depends_on_its_upstream() -> None:
    newer = replace(BASE, version=2)
    use = replace(HEAD.uses[0], experiment=newer)
    params = {"x": 1, "k": 5, "seed": 0}
    old, new = Trial(HEAD, params, "cpu"), Trial(replace(HEAD, uses=(use,)), params, "cpu")
    assert old.key != new.key
    assert old.key == Trial(HEAD, dict(reversed(params.items())), "smoke").key


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_an_artifact_that_cannot_be_used_is_made_again(store: RecordStore, damage: str) -> None:
    run_lab(store, "base")
    good = weights(store, 0).read_bytes()
    if damage == "missing":
        weights(store, 0).unlink()
    else:
        weights(store, 0).write_bytes(good[:-1] + b"\x7f")
    assert reasons(store, "head")["lab/base[x=0 seed=0]"] == (
        f"its artifact weights.safetensors {'is missing' if damage == 'missing' else 'was altered'}"
    )
    assert run_lab(store, "head").failed == []
    assert "lab/base[x=0 seed=0]" in lab.calls and "lab/base[x=1 seed=0]" not in lab.calls
    assert weights(store, 0).read_bytes() == good


def test_no_time_budget_starts_nothing_and_says_what_is_left(store: RecordStore) -> None:
    summary = run_lab(store, "squares", time_budget_s=0.0)
    assert (summary.num_run, summary.num_left, summary.out_of_time) == (0, 3, True)
    assert lab.calls == []


@pytest.mark.timing
def test_a_budget_that_one_trial_exceeds_still_runs_the_shorter_ones(store: RecordStore) -> None:
    plan = plan_of(store, "squares")
    for number, (key, item) in enumerate(list(plan.items.items())):
        seconds = 1000.0 if number == 0 else 0.0
        plan.items[key] = replace(item, estimate=replace(item.estimate, seconds=seconds))
    summary = carry_out(store, plan, time_budget_s=30.0)
    assert lab.calls == ["lab/squares[x=1 seed=0]", "lab/squares[x=2 seed=0]"]
    assert (summary.num_left, summary.out_of_time) == (1, True)
    assert summary.wall_s < 25.0


def test_a_lacking_package_blocks_with_its_name_until_it_is_there(
    store: RecordStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAB_NEEDS", "late_arrival")
    summary = run_lab(store, "squares", "base")
    assert (summary.num_blocked, summary.num_run) == (3, 3)
    trial = grid_of(SQUARES, "cpu")[0]
    why = "needs the package late_arrival: pip install late_arrival"
    assert status_of(store, trial) == ("skipped", why)
    (tmp_path / "late_arrival.py").write_text("")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert set(reasons(store, "squares", "base").values()) == {f"skipped before: {why}"}
    assert run_lab(store, "squares", "base").num_run == 3
    assert status_of(store, trial) == ("done", "")


def test_a_cuda_need_blocks_and_never_replaces_a_result(store: RecordStore) -> None:
    needs = lab.Needs(device="cuda", packages=("of_a_machine_with_a_card",))
    gpu = replace(SQUARES, id="lab/gpu", needs=needs)
    task = lab.task_of(gpu, "gpu")
    plan = lab.make_plan([task], "cpu", store, lab.LIMITS)
    reasons = {item.reason for item in plan.with_action(Action.BLOCKED)}
    assert reasons == {"needs a CUDA GPU: `make gpu` on a machine with one"}
    store.write(lab.make_record(grid_of(gpu, "cpu")[0]))
    again = lab.make_plan([task], "cpu", store, lab.LIMITS)
    assert len(again.with_action(Action.REUSE)) == 1


class Later(Params):
    x: int = doc("The number.")
    k: int = doc("It came later.", default=1, added=True)
    seed: int = seed("Nothing.", default=0)


def test_a_parameter_that_was_added_can_be_overridden(store: RecordStore) -> None:
    """Its default is absent from the points of the grid, which have the parameter all the same."""
    experiment = replace(BASE, params=Later, grid=lambda profile: [Later(x=1), Later(x=2)])
    task = lab.task_of(experiment, "later")
    plan = lab.make_plan([task], "cpu", lab.overridden(store, {"k": 5}), lab.LIMITS)
    assert [dict(item.trial.params) for item in plan.items.values()] == [
        {"x": 1, "seed": 0, "k": 5},
        {"x": 2, "seed": 0, "k": 5},
    ]
    same = lab.make_plan([task], "cpu", lab.overridden(store, {"k": 1}), lab.LIMITS)
    assert same.items.keys() == lab.make_plan([task], "cpu", store, lab.LIMITS).items.keys()


def test_a_torn_record_is_run_again_and_kept_beside(store: RecordStore) -> None:
    run_lab(store, "squares")
    path = store.path(grid_of(SQUARES, "cpu")[0])
    torn = path.read_bytes()[:100]
    path.write_bytes(torn)
    name = "lab/squares[x=0 seed=0]"
    assert reasons(store, "squares") == {name: "its record is torn: it is not complete JSON"}
    built = build_result(TASKS["squares"], "cpu", store.read)
    assert built is not None
    assert [(n.trial, n.reason) for n in built.meta.not_run] == [
        (name, "its record is torn: it is not complete JSON")
    ]
    assert isinstance(store.read(grid_of(SQUARES, "cpu")[0]), Rejected)
    run_lab(store, "squares")
    assert [name] == lab.calls
    assert [p.read_bytes() for p in path.parent.glob("*.rejected-*")] == [torn]


def test_a_stale_record_is_told_and_run_again_only_on_request(
    store: RecordStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_lab(store, "squares")
    monkeypatch.setattr("harness.run.plan.experiment_code", lambda experiment: "newer")
    monkeypatch.setattr("harness.run.runner.experiment_code", lambda experiment: "newer")
    plan = plan_of(store, "squares")
    assert {item.action for item in plan.items.values()} == {Action.REUSE}
    assert all(item.stale and "code changed" in item.reason for item in plan.items.values())
    stale = plan_of(store, "squares", rerun_stale=True)
    assert carry_out(store, stale).num_run == 3
    assert len(lab.calls) == 3
    # A second run that planned the same meanwhile finds them new.
    carry_out(store, stale)
    assert lab.calls == []
    fresh = plan_of(store, "squares", rerun_stale=True)
    assert {item.action for item in fresh.items.values()} == {Action.REUSE}


def test_each_task_is_announced_once_when_its_last_trial_ended(store: RecordStore) -> None:
    told: list[str] = []
    after: list[int] = []
    progress = Silent(lambda trial: after.append(len(told)))
    run_lab(
        store, "squares", "base", progress=progress, on_task_done=lambda task: told.append(task.id)
    )
    assert told == ["lab/squares", "lab/base"]
    assert after == [0, 0, 0, 1, 1, 1]


def test_a_row_with_a_value_that_is_not_finite_makes_the_trial_diverged(
    store: RecordStore,
) -> None:
    carry_out(store, plan_of(store, "fates", overrides={"fate": "infinite"}))
    record = store.result(Trial(FATES, {"fate": "infinite", "number": 0, "seed": 0}, "cpu"))
    assert record is not None
    assert (record.status, record.rows) == ("diverged", [{"y": None}])
