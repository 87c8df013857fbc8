"""Seals: what a claim was when a trial started, so that it cannot move afterwards unseen."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from harness.canonical import digest
from harness.claims import Claim
from harness.errors import SpecError


@dataclass(frozen=True, kw_only=True, slots=True)
class Seal:
    """A claim's digest, and the threshold it had, for the report."""

    sha256: str
    threshold: float | tuple[float, float]

    def to_json(self) -> dict[str, Any]:
        return {"sha256": self.sha256, "threshold": _finite(self.threshold)}


def seal(claim: Claim) -> Seal:
    """Return the seal of a claim: all that could turn its verdict, and nothing else."""
    body = {
        "form": claim.form,
        "grade": claim.grade,
        "threshold": _finite(claim.threshold),
        "tolerance": claim.tolerance,
        "threshold_from": claim.threshold_from,
        "statistic": "deterministic" if claim.deterministic else "t interval over seeds, 95 %",
        "profiles": list(claim.profiles),
        "quantity": normalised_source(claim.quantity),
    }
    return Seal(sha256=digest(body), threshold=claim.threshold)


def _finite(threshold: float | tuple[float, float]) -> Any:
    """Return a threshold with infinite bounds as text, which canonical JSON can hold."""
    if isinstance(threshold, tuple):
        return [_finite(bound) for bound in threshold]
    return threshold if abs(threshold) != float("inf") else str(threshold)


def normalised_source(function: Callable[..., Any]) -> list[Any]:
    """Return a function's meaning as JSON: its syntax tree, bound values, and what it calls.

    Comments, docstrings and layout do not count. Functions and constants of the same top-level
    package are followed by name; the harness and libraries are not.
    """
    parts: dict[str, Any] = {}
    _collect(function, parts)
    return [[name, parts[name]] for name in sorted(parts)]


def _collect(function: Callable[..., Any], parts: dict[str, Any]) -> None:
    if isinstance(function, functools.partial):
        bound = {"args": list(function.args), "keywords": dict(function.keywords)}
        parts[f"partial {_name(function.func)}"] = bound
        _collect(function.func, parts)
        return
    if not isinstance(function, FunctionType):
        raise SpecError(f"{function!r}: a quantity is a plain function or a partial of one")
    name = _name(function)
    if name in parts:
        return
    parts[name] = strip_tree(textwrap.dedent(inspect.getsource(function)))
    closure = inspect.getclosurevars(function).nonlocals
    values: Mapping[str, Any] = {**_globals_used(function), **closure}
    for used, value in sorted(values.items()):
        if isinstance(value, (FunctionType, functools.partial)):
            inner = value.func if isinstance(value, functools.partial) else value
            if inner.__module__.split(".")[0] == function.__module__.split(".")[0]:
                _collect(value, parts)
        elif isinstance(value, (bool, int, float, str, tuple)):
            parts[f"{name}.{used}"] = repr(value)


def _globals_used(function: FunctionType) -> dict[str, Any]:
    """Return module-level values that a function names, also inside its inner functions."""
    names: set[str] = set()
    pending: list[CodeType] = [function.__code__]
    while pending:
        code = pending.pop()
        names.update(code.co_names)
        pending.extend(const for const in code.co_consts if isinstance(const, CodeType))
    return {name: function.__globals__[name] for name in names if name in function.__globals__}


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{getattr(function, '__qualname__', repr(function))}"


def strip_tree(source: str) -> str:
    """Return the syntax tree of Python source as text, without docstrings and positions."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            first = node.body[0] if node.body else None
            if (
                isinstance(first, ast.Expr)
                and isinstance(first.value, ast.Constant)
                and isinstance(first.value.value, str)
            ):
                node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)
