"""Declarations are checked where they are made."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from harness.declare.claims import Claim
from harness.declare.experiment import Experiment, Needs, Status, describe_trial
from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table
from harness.declare.task import Task
from harness.errors import SpecError


def column(name: str, role: str = "param") -> Column:
    return Column(name=name, type="int", role=role, doc="")  # type: ignore[arg-type]


def experiment(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"id": "demo/run", "version": 1, "run": list, "grid": {}}
    return Experiment(**{**settings, **changes})


def task(**changes: Any) -> Task:
    settings: dict[str, Any] = {
        "id": "demo/fig06", "title": "T", "reads": (), "columns": Table((column("x"),)),
    }  # fmt: skip
    return old_task(**{**settings, **changes})


def claim(name: str) -> Claim:
    return flat_claim(
        id=name, statement="", where="", form="at_most", grade="exact", quantity=len,
        threshold=1.0, threshold_from="theory", profiles=("smoke",),
    )  # fmt: skip


@pytest.mark.parametrize("name", ["", "demo", "demo/", "/x", "Demo/x", "demo/x y", "demo/x/y"])
def test_id_that_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="need <paper>/<word>"):
        experiment(id=name)


@pytest.mark.parametrize(
    ("word", "kind", "number"),
    [("tab01", "table", "1"), ("fig12", "figure", "12"), ("abl_mu", "ablation", "")],
)
def test_kind_and_number_come_from_the_id(word: str, kind: str, number: str) -> None:
    made = task(id=f"demo/{word}")
    assert (made.kind, made.number, made.paper) == (kind, number, "demo")


def test_kind_of_another_word_must_be_said() -> None:
    with pytest.raises(SpecError, match="say its kind"):
        task(id="demo/bounds")
    assert task(id="demo/bounds", kind="theory").kind == "theory"


def test_figure_without_alt_text_is_refused() -> None:
    with pytest.raises(SpecError, match="alt text"):
        task(figure=print)


def test_repeated_claim_is_refused() -> None:
    with pytest.raises(SpecError, match="claim id repeats"):
        task(claims=(claim("a"), claim("a")))


def test_repeated_column_and_second_seed_are_refused() -> None:
    with pytest.raises(SpecError, match="declared twice"):
        Table((column("x"), column("x")))
    with pytest.raises(SpecError, match="more than one seed"):
        Table((column("x", "seed"), column("y", "seed")))


def test_columns_know_their_seed_and_keys() -> None:
    columns = Table((column("x"), column("loss", "value"), column("s", "seed")))
    assert (columns.seed, columns.keys, columns.names) == ("s", ["x", "s"], ["x", "loss", "s"])


def test_version_zero_is_refused() -> None:
    with pytest.raises(SpecError, match="version=0"):
        experiment(version=0)


def test_repeated_grid_point_is_refused() -> None:
    def grid() -> Iterator[dict[str, int]]:
        yield {"a": 1, "b": 2}
        yield {"b": 2, "a": 1}

    with pytest.raises(SpecError, match="repeats the point"):
        experiment(grid={"smoke": grid}).params_of("smoke")


def test_parameter_that_is_no_scalar_is_refused() -> None:
    with pytest.raises(SpecError, match="not a JSON scalar"):
        experiment(grid={"smoke": lambda: [{"sizes": [1, 2]}]}).params_of("smoke")


def test_profile_without_a_grid_is_empty() -> None:
    assert experiment(grid={"smoke": lambda: [{"a": 1}]}).params_of("cpu") == []


def test_needs_may_depend_on_the_parameters() -> None:
    made = experiment(needs=lambda params: Needs(memory_bytes=params["n"]))
    assert made.needs_of({"n": 7}).memory_bytes == 7


@pytest.mark.parametrize("status", list(Status))
def test_only_three_statuses_are_results(status: Status) -> None:
    assert status.is_result == (status.value in ("done", "diverged", "oom"))


def test_trial_reads_as_an_address() -> None:
    assert describe_trial(experiment(), {"scheme": "sp", "seed": 3}) == (
        "demo/run[scheme=sp seed=3]"
    )
