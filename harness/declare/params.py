"""Typed parameters of a trial: a frozen class per kind of trial, each field with its meaning.

    class Step(Params):
        shape: str = doc("Model.")
        method: Literal["full", "lora", "lisa"] = doc("How it is trained.")
        rank: int = doc("LoRA's rank; 0 without it.", default=0)
        seed: int = seed("Layers drawn.")

A trial's key holds all of them as JSON; the order, types and meanings of the fields give the
table's columns.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from functools import cache
from typing import Any, Literal, Self, dataclass_transform, get_args, get_origin, get_type_hints

from harness.errors import SpecError, nearest

Scalar = bool | int | float | str
ColumnType = Literal["int", "float", "str", "bool"]
FieldRole = Literal["param", "seed"]
TYPES: dict[type, ColumnType] = {int: "int", float: "float", str: "str", bool: "bool"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """One parameter."""

    name: str
    type: ColumnType
    role: FieldRole
    doc: str
    choices: tuple[Scalar, ...]
    """The values of a Literal; empty where any value of the type will do."""
    default: Scalar | None
    """None where every point says it."""
    added: bool
    """Whether it came after the first records: absent from keys at its default."""

    def written(self, value: Scalar) -> Scalar:
        """Return a value of a command line as grids write it: 1 for a float is 1.0."""
        return float(value) if self.type == "float" and type(value) is int else value

    def refusal(self, value: object) -> str:
        """Say why a value is none of this parameter, or nothing."""
        # By the exact type: True is an int to Python, and another JSON value.
        kind = TYPES.get(type(value))
        if kind != self.type and (kind, self.type) != ("int", "float"):
            return f"{self.name}={value!r} is no {self.type}"
        if type(value) is float and not math.isfinite(value):
            return f"{self.name}={value!r} is not finite"
        if self.choices and value not in self.choices:
            near = nearest(str(value), map(str, self.choices))
            return f"{self.name}={value!r} is none of {', '.join(map(str, self.choices))}{near}"
        return ""


_NOTHING: Any = dataclasses.MISSING


def doc(text: str, *, default: Any = _NOTHING, added: bool = False) -> Any:
    """Declare a parameter by what it means.

    added: it came after the first records, whose keys do not hold it; needs a default.
    """
    return _field(text, "param", default, added=added)


def seed(text: str, *, default: Any = _NOTHING) -> Any:
    """Declare the parameter that counts as a seed, by what it draws."""
    return _field(text, "seed", default, added=False)


def _field(text: str, role: FieldRole, default: Any, *, added: bool) -> Any:
    if added and default is _NOTHING:
        raise SpecError(f"parameter {text!r}: one that was added later needs a default")
    metadata = {"doc": text, "role": role, "added": added}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(doc, seed))
class Params:
    """What determines a trial, less data and upstream trials: subclass it with fields."""

    def __init_subclass__(cls) -> None:
        dataclasses.dataclass(frozen=True, kw_only=True)(cls)

    def __post_init__(self) -> None:
        for field in self.fields():
            if refusal := field.refusal(getattr(self, field.name)):
                raise SpecError(f"{type(self).__name__}: {refusal}")

    @classmethod
    @cache
    def fields(cls) -> tuple[Field, ...]:
        """Return the parameters in their order.

        Raises SpecError for one without meaning, or of a type that no column has.
        """
        hints = get_type_hints(cls)
        found = []
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]  # every subclass is one
            where = f"{cls.__name__}.{field.name}"
            if "doc" not in field.metadata:
                raise SpecError(f"{where}: declare it with doc() or seed()")
            kind, choices = _type_of(hints[field.name])
            if kind is None:
                raise SpecError(
                    f"{where}: {hints[field.name]} is no bool, int, float, str or Literal of one"
                    " of them"
                )
            default: Any = None if field.default is _NOTHING else field.default
            own = {"name": field.name, "type": kind, "choices": choices, "default": default}
            found.append(Field(**own, **field.metadata))
        return tuple(found)

    def to_json(self) -> dict[str, Scalar]:
        """Return what enters a key: all fields, less added ones at their default."""
        return {
            field.name: value
            for field in self.fields()
            if (value := getattr(self, field.name)) != field.default or not field.added
        }

    @classmethod
    def from_json(cls, params: Mapping[str, Scalar]) -> Self:
        """Return the point with these parameters. Raises SpecError unless they are the fields."""
        added = {field.name: field.added for field in cls.fields()}
        for name, is_added in added.items():
            if name not in params and not is_added:
                raise SpecError(f"{cls.__name__}: the parameter {name} is missing")
        for name in params:
            if name not in added:
                hint = nearest(name, added)
                raise SpecError(f"{cls.__name__}: no parameter is called {name!r}{hint}")
        return cls(**params)


def _type_of(hint: Any) -> tuple[ColumnType | None, tuple[Scalar, ...]]:
    """Return a hint's type and, of a Literal, its values."""
    if get_origin(hint) is Literal:
        choices = get_args(hint)
        kinds = {type(choice) for choice in choices} - {float}
        return (TYPES.get(kinds.pop()) if len(kinds) == 1 else None), choices
    return TYPES.get(hint), ()
