"""Faults: what a careless change may do to a method, and which unit tests should see it.

Each paper's list lies beside its tests, in `faults.toml`.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError, field_validator, model_validator

from harness.errors import HarnessError
from harness.run.verify import draw
from harness.strict import Strict, explain
from harness.untrusted import read_toml
from tests.checkout import ROOT

FOLDER = ROOT / "tests" / "reproductions"
NAME = "faults.toml"


class FaultError(Exception):
    """A list of faults that cannot be tried as it is written."""


class Fault(Strict):
    """A change of one piece of a function's text, which a unit test must see."""

    id: str
    """Its key in the list."""
    where: str = Field(pattern=r"^[\w.]+:[\w.]+$")
    """`module:function`, `module:Class.method` or `module:CONSTANT`."""
    find: str = Field(min_length=1)
    """A piece of its text that occurs once, written as in the file."""
    replace: str
    breaks: str
    """What the method no longer does, in a sentence."""
    tests: list[str] = Field(min_length=1)
    """Files of tests, or single tests in them (`method/test_rings.py::test_one`), from the list's
    folder; by default the file that mirrors the module. Golden rows do not count."""

    @model_validator(mode="before")
    @classmethod
    def _seen_by_its_mirror(cls, fault: Any) -> Any:
        if not isinstance(fault, dict):
            return fault
        *folders, name = str(fault.get("where", "")).partition(":")[0].split(".")[2:] or [""]
        return {"tests": ["/".join([*folders, f"test_{name}.py"])]} | fault

    @property
    def module(self) -> str:
        """Return the module that is changed."""
        return self.where.partition(":")[0]

    def text(self) -> str:
        """Return the module's text with the fault. Imports nothing.

        Raises FaultError where the edit does not fit once, or leaves no Python.
        """
        path = source_of(self.module)
        lines = path.read_text(encoding="utf-8").split("\n")
        node = _node(path, self.where.partition(":")[2])
        first, last = node.lineno - 1, node.end_lineno
        old = "\n".join(lines[first:last])
        if (count := old.count(self.find)) != 1:
            raise FaultError(
                f"{self.where} has it {count} times, and not once: {self.find.strip()}"
            )
        new = "\n".join([*lines[:first], old.replace(self.find, self.replace), *lines[last:]])
        try:
            ast.parse(new)
        except SyntaxError as error:
            raise FaultError(f"{self.where} is no Python after the edit: {error}") from error
        return new


def source_of(module: str) -> Path:
    """Return a module's file. Raises FaultError where there is none."""
    for top in sys.path:
        path = Path(top, *module.split(".")).with_suffix(".py")
        if path.is_file():
            return path
    raise FaultError(f"there is no module {module}")


def _node(path: Path, place: str) -> ast.stmt:
    """Return what a module defines by a name such as `Class.method`."""
    body = _parsed(path).body
    for name in place.split("."):
        found = [each for each in body if name in _names(each)]
        if len(found) != 1:
            raise FaultError(f"{path.name} defines {place} {len(found)} times, and not once")
        body = getattr(found[0], "body", [])
    return found[0]


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_bytes())


def _names(node: ast.stmt) -> set[str]:
    match node:
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
            return {name}
    return set()


class _List(Strict):
    fault: dict[str, Fault] = Field(min_length=1)

    @field_validator("fault", mode="before")
    @classmethod
    def _named(cls, faults: Any) -> Any:
        if not isinstance(faults, dict):
            return faults
        return {name: {"id": name} | fault if isinstance(fault, dict) else fault
                for name, fault in faults.items()}  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """The list of a paper."""

    paper: str
    folder: Path
    """What names of tests start from."""
    faults: list[Fault]


def papers_of(folder: Path = FOLDER) -> list[str]:
    """Return the papers that have a list."""
    return sorted(path.parent.name for path in folder.glob(f"*/{NAME}"))


def load_faults(paper: str, folder: Path = FOLDER) -> Faults:
    """Return a paper's list. Raises FaultError with all that no longer fits code or tests."""
    path = folder / paper / NAME
    try:
        faults = [*_List.model_validate(read_toml(path)).fault.values()]
    except ValidationError as error:
        raise FaultError(f"{path}: {explain(error)}") from error
    except HarnessError as error:
        raise FaultError(str(error)) from error
    problems = [
        f"{path}: {fault.id}: {problem}"
        for fault in faults
        for problem in _problems(fault, path.parent)
    ]
    if problems:
        raise FaultError("\n".join(problems))
    return Faults(paper=paper, folder=path.parent, faults=faults)


def _problems(fault: Fault, folder: Path) -> list[str]:
    """Return what is wrong with a fault: its edit, and tests that are not there."""
    problems = []
    try:
        fault.text()
    except FaultError as error:
        problems.append(str(error))
    for test in fault.tests:
        file, _, name = test.partition("::")
        function = name.partition("[")[0]
        if not (folder / file).is_file():
            problems.append(f"there is no file {file}")
        elif f"def {function}" not in (folder / file).read_text(encoding="utf-8"):
            problems.append(f"there is no {function} in {file}")
    return problems


def drawn(found: Faults, one_in: int, commit: str) -> Sequence[Fault]:
    """Return one fault in so many, at least one; the commit draws them, nobody picks."""
    num = -(-len(found.faults) // one_in)
    names = draw([fault.id for fault in found.faults], num, commit=commit)
    return [fault for fault in found.faults if fault.id in names]
