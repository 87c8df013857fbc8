"""Declarations are checked where they are made."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import pytest

from harness.declare.claims import Claim, claims
from harness.declare.criterion import at_most
from harness.declare.experiment import Estimate, Experiment, Needs, Use, describe_trial
from harness.declare.layout import Cell, Layout, Line
from harness.declare.named import Named, bind
from harness.declare.params import Params, doc, seed
from harness.declare.profiles import Profile
from harness.declare.scope import CHECK
from harness.declare.table import Table, param
from harness.declare.task import Task
from harness.errors import SpecError
from tests.harness.hand_made import unrun


class Size(Params):
    n: int = doc("How large.")
    seed: int = seed("Nothing.", default=0)


class Shape(Params):
    shape: Literal["round", "square"] = doc("How it looks.")
    seed: int = seed("Nothing.", default=0)


def sizes(profile: Profile) -> Iterable[Size]:
    return [Size(n=n) for n in (3, 4)] if profile == "smoke" else []


def experiment(**changes: Any) -> Experiment:
    settings: dict[str, Any] = {"id": "demo/run", "params": Size, "grid": sizes}
    return unrun(**{**settings, **changes})


def task(id: str = "demo/fig06", **changes: Any) -> Task:
    settings: dict[str, Any] = {"reads": (), "table": Table.of(param("x", int, ""))}
    return Task(id, **{**settings, **changes})


def claim(name: str) -> Claim:
    (made,) = claims("nowhere", (name, CHECK, at_most(len, 1, ""), "It is small."))
    return made


@pytest.mark.parametrize("name", ["", "demo", "demo/", "/x", "Demo/x", "demo/x y", "demo/x/y"])
def test_id_that_is_no_address_is_refused(name: str) -> None:
    with pytest.raises(SpecError, match="need <paper>/<word>"):
        experiment(id=name)


def test_kind_of_another_word_must_be_said() -> None:
    with pytest.raises(SpecError, match="own_kind is for ids that do not tell the kind"):
        task(id="demo/bounds")
    with pytest.raises(SpecError, match="own_kind"):
        task(id="demo/tab01", own_kind="theory")
    assert task(id="demo/bounds", own_kind="theory").kind == "theory"


def test_figure_without_alt_text_is_refused() -> None:
    with pytest.raises(SpecError, match="alt text"):
        task(figure="figures:lines")
    assert task(figure="figures:lines", alt="Two lines.").alt == "Two lines."


def test_repeated_claim_is_refused() -> None:
    with pytest.raises(SpecError, match="claim id repeats"):
        task(claims=(claim("a"), claim("a")))


@pytest.mark.parametrize(
    ("row", "cell"),
    [({"y": 1}, Cell("x")), ({}, Cell("mean")), ({}, Cell("x", spread="error"))],
    ids=["where", "value", "spread"],
)
def test_layout_that_names_an_unknown_column_is_refused(row: dict[str, int], cell: Cell) -> None:
    layout = Layout(rows=(Line("", where=row),), columns=(Line("all"),), cell=cell)
    with pytest.raises(SpecError, match="which the table has not"):
        task(layout=layout)


def test_figure_is_named_from_the_package_of_the_task() -> None:
    drawn = task(figure="figures:lines", alt="Two lines.", package="papers.demo.study").draw
    assert drawn == Named(module="papers.demo.study.figures", name="lines")
    made = task(figure=bind(".shared:lines", over="n"), alt="Two lines.")
    assert made.package == "tests.harness.declare"
    assert made.draw == Named(module="tests.harness.shared", name="lines", bound={"over": "n"})
    assert task().draw is None


def test_grid_is_asked_for_a_profile_and_gives_plain_points() -> None:
    made = experiment()
    assert made.params_of("smoke") == [{"n": 3, "seed": 0}, {"n": 4, "seed": 0}]
    assert made.params_of("cpu") == []


def test_repeated_grid_point_is_refused() -> None:
    made = experiment(grid=lambda profile: [Size(n=1), Size(n=2), Size(n=1, seed=0)])
    with pytest.raises(SpecError, match=r"repeats the point .*'n': 1"):
        made.params_of("smoke")


@pytest.mark.parametrize("what", ["grid", "needs", "estimate", "uses"])
def test_whatever_a_declared_function_raises_is_for_its_author_to_mend(what: str) -> None:
    def raises(point: object) -> Any:
        raise KeyError("width")

    start = experiment(id="demo/start", params=Shape)
    given = (Use(experiment=start, params=raises),) if what == "uses" else raises
    made = experiment(**{what: given})
    asked = {"needs": made.needs_of, "estimate": made.estimate_of, "uses": made.upstream_of}
    with pytest.raises(SpecError, match=rf"demo/\w+: its {what} raises KeyError"):
        made.params_of("smoke") if what == "grid" else asked[what]({"n": 3, "seed": 0})


def test_needs_estimate_and_upstream_take_the_typed_point() -> None:
    start = experiment(id="demo/start", params=Shape)
    made = experiment(
        needs=lambda point: Needs(memory_bytes=point.n),
        estimate=lambda point: Estimate(seconds=point.n / 2),
        uses=(Use(experiment=start, params=lambda point: Shape(shape="round", seed=point.n)),),
    )
    params = {"n": 7, "seed": 0}
    assert made.needs_of(params).memory_bytes == 7
    assert made.estimate_of(params) == Estimate(seconds=3.5)
    assert made.upstream_of(params) == [(start, {"shape": "round", "seed": 7})]
    plain = experiment(needs=Needs(memory_bytes=9))
    assert (plain.needs_of(params).memory_bytes, plain.estimate_of(params)) == (9, None)


def test_run_is_named_from_the_package_that_declares_the_experiment() -> None:
    declared = Experiment("demo/run", version=1, params=Size, grid=sizes, run="trial:row")
    assert declared.package == "tests.harness.declare"
    assert declared.code == Named(module="tests.harness.declare.trial", name="row")
    with pytest.raises(SpecError, match="experiment demo/run: 'row' names no function"):
        _ = experiment(run="row").code


@pytest.mark.parametrize(("seconds", "limit_s"), [(None, 60.0), (5.0, 60.0), (100.0, 400.0)])
def test_a_trial_is_not_killed_before_it_can_end(seconds: float | None, limit_s: float) -> None:
    estimate = None if seconds is None else lambda _: Estimate(seconds=seconds)
    assert experiment(timeout_s=60.0, estimate=estimate).limit_s({"n": 1, "seed": 0}) == limit_s


def test_trial_reads_as_an_address() -> None:
    assert describe_trial(experiment(), {"scheme": "sp", "seed": 3}) == (
        "demo/run[scheme=sp seed=3]"
    )
    short = experiment(address=("scheme",))
    assert describe_trial(short, {"scheme": "sp", "seed": 3}) == "demo/run[scheme=sp]"
