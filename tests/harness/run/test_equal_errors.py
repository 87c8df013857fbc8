"""The same error three times in a row stops an experiment, and that one alone."""

from __future__ import annotations

import pytest

from harness.run.plan import Action
from harness.store.record import Record
from harness.store.store import RecordStore
from tests.harness import inline_lab as lab
from tests.harness.inline_lab import carry_out, plan_of

MANY = {"seeds": 4}


def break_all(word: str, *, but: str = "", error: str = "too square") -> None:
    """Make every trial of an experiment fail alike, unless its address holds `but`."""
    for x in range(3):
        for seed in range(4):
            address = f"lab/{word}[x={x} seed={seed}]"
            if not but or but not in address:
                lab.faults[address] = ValueError(error.format(x=x, seed=seed))


def test_three_equal_errors_stop_their_experiment_and_others_go_on(store: RecordStore) -> None:
    break_all("squares")
    plan = plan_of(store, "squares", "base", overrides=MANY)
    summary = carry_out(store, plan)
    names = [call.split("[")[0] for call in lab.calls]
    assert (names.count("lab/squares"), names.count("lab/base")) == (3, 12)
    assert list(summary.stopped) == ["lab/squares"]
    assert summary.stopped["lab/squares"] == "ValueError: too square"
    assert len(summary.failed) == 3
    records = [store.read(item.trial) for item in plan.items.values()]
    found = [r for r in records if isinstance(r, Record) and r.experiment == "lab/squares"]
    assert [record.status for record in found].count("failed") == 3
    assert {record.note for record in found if record.status == "skipped"} == {
        "lab/squares was stopped by the same error three times in a row: ValueError: too square"
    }
    # What was not begun is begun by the next run.
    lab.faults.clear()
    again = carry_out(store, plan_of(store, "squares", "base", overrides=MANY))
    assert (again.num_run, again.failed, again.stopped) == (12, [], {})


@pytest.mark.parametrize(
    ("but", "error"), [("x=1", "too square"), ("", "x={x} seed={seed} is too square")]
)
def test_unlike_errors_and_results_between_them_stop_nothing(
    store: RecordStore, but: str, error: str
) -> None:
    # Points come in the order of the grid: four of x=0 in a row would be enough.
    break_all("squares", but=but, error=error)
    if but:
        for seed in (1, 3):
            del lab.faults[f"lab/squares[x=0 seed={seed}]"]
            del lab.faults[f"lab/squares[x=2 seed={seed}]"]
    summary = carry_out(store, plan_of(store, "squares", overrides=MANY))
    assert (len(lab.calls), summary.stopped) == (12, {})
    assert len(summary.failed) == len(lab.faults)


def test_what_starts_from_a_stopped_experiment_is_skipped(store: RecordStore) -> None:
    break_all("base")
    plan = plan_of(store, "head", overrides=MANY)
    summary = carry_out(store, plan)
    assert len(lab.calls) == 3 and list(summary.stopped) == ["lab/base"]
    assert (summary.num_left, len(summary.failed)) == (5, 3 + 8)
    left = plan_of(store, "head", overrides=MANY).with_action(Action.RUN)
    assert len(left) == len(plan.items)
