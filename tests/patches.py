"""What is replaced while something runs: to shorten a trial, or to break a method on purpose."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from importlib import import_module
from inspect import getattr_static
from typing import Any
from unittest import mock


@dataclass(frozen=True, kw_only=True, slots=True)
class Patch:
    """Something that is replaced while a trial runs."""

    where: str
    """`module:name` or `module:Class.name`, in the module that looks it up."""
    instead: Callable[[Any], Any]
    """From what stands there to what takes its place."""


def around(function: Callable[..., Any]) -> Callable[[Any], Any]:
    """Return what replaces a function by another one, which is given the first one too.

    A property, class method or static method stays one.
    """

    def instead(original: Any) -> Any:
        match original:
            case property():
                return property(instead(original.fget))
            case staticmethod() | classmethod():
                return type(original)(instead(original.__func__))
            case type():
                return lambda *given, **named: function(original, *given, **named)
        # Under its own name, by which other processes are sent it.
        return wraps(original)(lambda *given, **named: function(original, *given, **named))

    return instead


@dataclass(frozen=True, kw_only=True, slots=True)
class Mutation(Patch):
    """A patch that breaks a method: tests must see it."""

    breaks: str
    """What the method no longer does, in a sentence."""


def owner_of(where: str) -> tuple[Any, str]:
    """Return the module or class that holds what `where` names, and its name there."""
    module, _, path = where.partition(":")
    *classes, name = path.split(".")
    owner: Any = import_module(module)
    for each in classes:
        owner = getattr(owner, each)
    return owner, name


@contextmanager
def patched(patch: Patch) -> Iterator[None]:
    """Replace what a patch names, and put it back."""
    owner, name = owner_of(patch.where)
    with mock.patch.object(owner, name, patch.instead(getattr_static(owner, name))):
        yield
