"""Typed parameters: what is refused and why, what enters a key, and which class a point is of."""

from __future__ import annotations

from typing import Any, Literal

import pytest

from harness.declare.params import Params, doc, seed
from harness.errors import SpecError
from tests.harness.hand_made import unrun


class Step(Params):
    shape: str = doc("Model.")
    method: Literal["full", "lora", "lisa"] = doc("How it is trained.")
    rate: float = doc("Learning rate.")
    rank: int = doc("LoRA's rank; 0 without it.", default=0)
    tied: bool = doc("Whether embedding and head are one.", default=False)
    gamma: int = doc("Blocks that train at once.", default=2, added=True)
    seed: int = seed("Layers drawn.", default=0)


class Width(Params):
    width: Literal[8, 16] = doc("Width of the hidden layer.")
    share: float = doc("Share of the weights that are kept.", default=1.0)


STEP: dict[str, Any] = {
    "shape": "gpt2",
    "method": "lora",
    "rate": 0.5,
    "rank": 4,
    "tied": True,
    "seed": 3,
}


def step(**changes: Any) -> Step:
    return Step(**{**STEP, **changes})


def refused(**changes: Any) -> str:
    """Return why a step with these changes is refused."""
    with pytest.raises(SpecError) as caught:
        step(**changes)
    return str(caught.value)


def test_fields_keep_their_order_types_roles_and_meanings() -> None:
    told = [(f.name, f.type, f.role, f.doc) for f in Step.fields()]
    assert told == [
        ("shape", "str", "param", "Model."),
        ("method", "str", "param", "How it is trained."),
        ("rate", "float", "param", "Learning rate."),
        ("rank", "int", "param", "LoRA's rank; 0 without it."),
        ("tied", "bool", "param", "Whether embedding and head are one."),
        ("gamma", "int", "param", "Blocks that train at once."),
        ("seed", "int", "seed", "Layers drawn."),
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"shape": 3}, "Step: shape=3 is no str"),
        ({"shape": None}, "Step: shape=None is no str"),
        ({"rank": "4"}, "Step: rank='4' is no int"),
        ({"rank": 4.0}, "Step: rank=4.0 is no int"),
        ({"rank": True}, "Step: rank=True is no int"),
        ({"seed": False}, "Step: seed=False is no int"),
        ({"rate": "0.5"}, "Step: rate='0.5' is no float"),
        ({"rate": True}, "Step: rate=True is no float"),
        ({"tied": 1}, "Step: tied=1 is no bool"),
        ({"tied": "true"}, "Step: tied='true' is no bool"),
        ({"gamma": None}, "Step: gamma=None is no int"),
    ],
)
def test_value_of_another_type_is_refused(changes: dict[str, Any], reason: str) -> None:
    assert refused(**changes) == reason


def test_value_that_is_no_choice_is_answered_with_the_nearest() -> None:
    assert refused(method="lorra") == (
        "Step: method='lorra' is none of full, lora, lisa; did you mean 'lora'?"
    )
    assert refused(method=1) == "Step: method=1 is no str"


def test_json_is_all_that_a_point_says_in_the_order_of_its_fields() -> None:
    assert list(step().to_json().items()) == list(STEP.items())
    short = Step(shape="gpt2", method="full", rate=0.5)
    assert short.to_json() == {
        "shape": "gpt2", "method": "full", "rate": 0.5, "rank": 0, "tied": False, "seed": 0,
    }  # fmt: skip


def test_parameter_that_was_added_is_in_the_json_unless_it_has_its_default() -> None:
    assert "gamma" not in step(gamma=2).to_json()
    assert step(gamma=3).to_json()["gamma"] == 3
    # Zero is no default here, though it is no value to Python.
    assert step(gamma=0).to_json()["gamma"] == 0


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        ({**STEP, "gama": 3}, "Step: no parameter is called 'gama'; did you mean 'gamma'?"),
        ({**STEP, "zzzz": 3}, "Step: no parameter is called 'zzzz'"),
        ({**STEP, "rank": True}, "Step: rank=True is no int"),
        ({**STEP, "gamma": "3"}, "Step: gamma='3' is no int"),
        # A default is for whoever writes a grid: a record that lacks a parameter is another one's.
        ({k: v for k, v in STEP.items() if k != "rank"}, "Step: the parameter rank is missing"),
        ({k: v for k, v in STEP.items() if k != "seed"}, "Step: the parameter seed is missing"),
        ({}, "Step: the parameter shape is missing"),
    ],
)
def test_json_that_is_no_point_is_refused(params: dict[str, Any], reason: str) -> None:
    with pytest.raises(SpecError) as caught:
        Step.from_json(params)
    assert str(caught.value) == reason


# Several classes


def test_point_of_several_classes_is_of_the_one_whose_fields_it_has() -> None:
    experiment = unrun("demo/run", params=(Step, Width))
    assert experiment.typed(STEP) == step()
    assert experiment.typed({"width": 16, "share": 0.5}) == Width(width=16, share=0.5)
    with pytest.raises(SpecError, match="experiment demo/run: "):
        experiment.typed({"width": 16, "share": 0.5, "seed": 1})


class Full(Params):
    how: Literal["full"] = doc("All weights train.")
    width: int = doc("Width of the hidden layer.")


class Part(Params):
    how: Literal["part"] = doc("Some weights train.")
    width: int = doc("Width of the hidden layer.")


def test_classes_of_the_same_names_are_told_apart_by_their_choices() -> None:
    experiment = unrun("demo/run", params=(Full, Part))
    assert experiment.typed({"how": "part", "width": 8}) == Part(how="part", width=8)
    assert experiment.typed({"how": "full", "width": 8}) == Full(how="full", width=8)
    with pytest.raises(SpecError, match="how='none' is none of full"):
        experiment.typed({"how": "none", "width": 8})


# Declarations that are refused


class Bare(Params):
    width: int = 3


class Listed(Params):
    widths: list[int] = doc("Widths of all layers.")


class Mixed(Params):
    width: Literal[8, "wide"] = doc("Width of the hidden layer.")


@pytest.mark.parametrize(
    ("declared", "reason"),
    [
        (Bare, "Bare.width: declare it with doc() or seed()"),
        (Listed, "Listed.widths: list[int] is no bool, int, float, str or Literal"),
        (Mixed, "Mixed.width: typing.Literal[8, 'wide'] is no bool"),
    ],
)
def test_field_without_a_meaning_or_of_another_type_is_refused(
    declared: type[Params], reason: str
) -> None:
    with pytest.raises(SpecError) as caught:
        declared.fields()
    assert str(caught.value).startswith(reason)


def test_parameter_that_was_added_needs_a_default() -> None:
    with pytest.raises(SpecError, match=r"'Blocks\.': one that was added later needs"):
        doc("Blocks.", added=True)
    assert doc("Blocks.", default=0, added=True).metadata["added"] is True
