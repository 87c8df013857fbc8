"""Functions named as `module:name`: declarations name what is heavy, and do not import it."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True)
class Named:
    """A function by its place, imported when it is called."""

    module: str
    """Absolute name of its module."""
    name: str
    bound: Mapping[str, Any] = field(default_factory=dict)
    """Keyword arguments of every call, plain values."""

    def load(self) -> Callable[..., Any]:
        """Import and return the function. Raises SpecError if there is none."""
        found = getattr(importlib.import_module(self.module), self.name, None)
        if not callable(found):
            raise SpecError(f"{self.module} has no function {self.name!r}: correct its name")
        return found  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **options: Any) -> Any:
        return self.load()(*args, **self.bound, **options)


@dataclass(frozen=True, kw_only=True, slots=True)
class With:
    """A name with keyword arguments: `bind("figures:panels", over="gamma")`."""

    place: str
    bound: Mapping[str, Any]


def bind(place: str, **bound: Any) -> With:
    """Return a named function that takes keyword arguments, plain values, in every call."""
    return With(place=place, bound=bound)


def named(place: str | With, package: str, *, where: str) -> Named:
    """Resolve `module:name` from the package that declares it, as `from .module import name`.

    place: a leading dot goes one package up, as in an import: `.models.training:run` from
    `reproductions.lisa.memory` is in `reproductions.lisa`.
    Raises SpecError, which begins with `where`, for a place of another form.

    >>> named("trial:row", "papers.lisa.memory", where="lisa/memory").module
    'papers.lisa.memory.trial'
    >>> named(".models.training:run", "papers.lisa.memory", where="lisa/memory").module
    'papers.lisa.models.training'
    """
    text, bound = (place.place, place.bound) if isinstance(place, With) else (place, {})
    module, colon, name = text.partition(":")
    if not (colon and module.strip(".") and name.isidentifier()):
        raise SpecError(f"{where}: {text!r} names no function, write 'module:function'")
    absolute = importlib.util.resolve_name(f".{module}", package)
    return Named(module=absolute, name=name, bound=dict(bound))


def declaring_package() -> str:
    """Return the package of the module that declares something, as `Enum` finds its own.

    Frames of the harness's declarations, and of the `__init__` that dataclasses write, are
    passed over.
    """
    own = __name__.rpartition(".")[0]
    depth = 1
    while (scope := sys._getframe(depth).f_globals)["__name__"].startswith(own):
        depth += 1
    return str(scope.get("__package__") or "")
