"""Seals: what a claim was when a trial started, so that it cannot move afterwards unseen."""

from __future__ import annotations

import ast
import functools
import importlib
import importlib.util
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from types import CodeType, FunctionType, ModuleType
from typing import Any

from harness.canonical import canonical_json, digest
from harness.claims import Claim
from harness.errors import SpecError
from harness.syntax import strip_tree


@dataclass(frozen=True, kw_only=True, slots=True)
class Seal:
    """A claim's digest, and the threshold it had, for the report."""

    sha256: str
    threshold: float | tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        return {"sha256": self.sha256, "threshold": threshold_json(self.threshold)}


def seal(claim: Claim) -> Seal:
    """Return the seal of a claim: all that could turn its verdict, and nothing else.

    Raises SpecError if the quantity is no function whose source can be read.
    """
    body = {
        "form": claim.form,
        "grade": claim.grade,
        "threshold": threshold_json(claim.threshold),
        "tolerance": claim.tolerance,
        "threshold_from": claim.threshold_from,
        "statistic": "deterministic" if claim.deterministic else "t interval over seeds, 95 %",
        "profiles": list(claim.profiles),
        "quantity": normalised_source(claim.quantity),
    }
    return Seal(sha256=digest(body), threshold=claim.threshold)


def threshold_json(threshold: float | tuple[float, float]) -> Any:
    """Return a threshold with infinite bounds as text, which canonical JSON can hold.

    >>> threshold_json((0.0, float("inf")))
    [0.0, 'inf']
    """
    if isinstance(threshold, tuple):
        return [threshold_json(bound) for bound in threshold]
    return threshold if abs(threshold) != float("inf") else str(threshold)


def normalised_source(function: Callable[..., Any]) -> list[Any]:
    """Return a function's meaning as JSON: its syntax tree, bound values, and what it uses.

    Comments, docstrings and layout do not count. Functions, classes and constants of the same
    top-level package are followed by name, also through modules and imports inside functions;
    the harness and libraries are not.
    """
    collector = _Collector()
    collector.add(function)
    return [[name, collector.parts[name]] for name in sorted(collector.parts)]


class _Collector:
    """Walks from a quantity to everything of its package that it uses."""

    def __init__(self) -> None:
        self.parts: dict[str, Any] = {}

    def add(self, function: Callable[..., Any]) -> None:
        if isinstance(function, functools.partial):
            self._add_partial(function)
            return
        # A cached or decorated function is what it wraps.
        function = inspect.unwrap(function)
        if not isinstance(function, FunctionType):
            raise SpecError(f"{function!r}: a quantity is a plain function or a partial of one")
        name = _name(function)
        if name in self.parts:
            return
        source = _source(function)
        self.parts[name] = strip_tree(source)
        package = _package(function)
        for used, value in _used_values(function, source):
            described = self._describe(value, package)
            if described is not None:
                self.parts[f"{name}.{used}"] = described

    def _add_partial(self, function: functools.partial[Any]) -> None:
        package = _package(inspect.unwrap(function.func))
        args = [self._describe(value, package) for value in function.args]
        keywords = {name: self._describe(v, package) for name, v in function.keywords.items()}
        bound = {"args": args, "keywords": keywords}
        name = f"partial {_name(function.func)}"
        # One quantity may use the same function with several bound values.
        while self.parts.get(name, bound) != bound:
            name += "'"
        self.parts[name] = bound
        self.add(function.func)

    def _describe(self, value: Any, package: str) -> Any:
        """Return a value as JSON, None where it cannot turn a verdict; follow what it names."""
        if isinstance(value, functools.partial):
            inner: Any = inspect.unwrap(value.func)
        else:
            inner = inspect.unwrap(value) if callable(value) else value
        if isinstance(inner, FunctionType):
            if _package(inner) == package:
                self.add(value)
            return f"function {_name(inner)}"
        if isinstance(value, type):
            if value.__module__.split(".")[0] == package and _name(value) not in self.parts:
                self.parts[_name(value)] = strip_tree(_source(value))
            return f"class {_name(value)}"
        if isinstance(value, (ModuleType, Callable)):  # type: ignore[arg-type]
            return None
        return self._plain(value, package)

    def _plain(self, value: Any, package: str) -> Any:
        if value is None or (isinstance(value, (bool, int, str)) and not isinstance(value, Enum)):
            return value
        if isinstance(value, (float, Enum)):
            return repr(value)
        if isinstance(value, (list, tuple)):
            return [self._describe(item, package) for item in value]
        if isinstance(value, (set, frozenset)):
            return sorted((self._describe(v, package) for v in value), key=canonical_json)
        if isinstance(value, Mapping):
            pairs = [[self._describe(item, package) for item in pair] for pair in value.items()]
            return sorted(pairs, key=canonical_json)
        if is_dataclass(value):
            held = [(f.name, getattr(value, f.name)) for f in fields(value)]
            return [type(value).__qualname__, self._describe(held, package)]
        return f"object {type(value).__qualname__}"


def _used_values(function: FunctionType, source: str) -> Iterator[tuple[str, Any]]:
    """Yield what a function takes from outside its own text, by name, sorted."""
    values: dict[str, Any] = dict(_globals_used(function))
    values |= _imports_inside(function, source)
    values |= inspect.getclosurevars(function).nonlocals
    # The text of a default names a constant; its value was taken when the function was made.
    values |= {f"default {i}": v for i, v in enumerate(function.__defaults__ or ())}
    values |= {f"default {n}": v for n, v in (function.__kwdefaults__ or {}).items()}
    yield from sorted(values.items())


def _globals_used(function: FunctionType) -> dict[str, Any]:
    """Return module-level values that a function names, also inside its inner functions.

    Of a module of the same package, those of its members that the function names.
    """
    names: set[str] = set()
    pending: list[CodeType] = [function.__code__]
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending.extend(const for const in code.co_consts if isinstance(const, CodeType))
    found = {name: function.__globals__[name] for name in names if name in function.__globals__}
    for name, value in list(found.items()):
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] == _package(function):
            members = {f"{name}.{n}": vars(value)[n] for n in names if n in vars(value)}
            found |= members
    return found


def _imports_inside(function: FunctionType, source: str) -> dict[str, Any]:
    """Return what a function imports in its own body from its package."""
    found: dict[str, Any] = {}
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.ImportFrom):
            continue
        base = "." * node.level + (node.module or "")
        if node.level:
            base = importlib.util.resolve_name(base, function.__globals__["__package__"])
        if base.split(".")[0] == _package(function):
            module = importlib.import_module(base)
            found |= {alias.name: getattr(module, alias.name) for alias in node.names}
    return found


def _source(item: Any) -> str:
    """Return the source of a function or class, or say that it cannot be read."""
    try:
        source = textwrap.dedent(inspect.getsource(item))
        ast.parse(source)
    except (OSError, TypeError, SyntaxError) as error:
        raise SpecError(
            f"{_name(item)}: its source cannot be read alone ({error}): a quantity is a named "
            "function in a file"
        ) from error
    return source


def _package(function: Callable[..., Any]) -> str:
    return (function.__module__ or "").split(".")[0]


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"
