"""Faults: what a careless change may do to a method, and which unit tests should see it.

Each paper's list lies beside its tests, in `faults.py`, and imports nothing that a fault breaks.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import dedent, indent
from typing import Any

from tests.patches import Mutation

PACKAGE = "tests.reproductions"


class FaultError(Exception):
    """A fault that cannot be tried as it is declared."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Fault(Mutation):
    """A mutation that a unit test must see; golden rows alone do not count."""

    id: str
    tests: tuple[str, ...]
    """Files of tests, or single tests in them (`method/test_rings.py::test_one`); from the folder
    of the list. One narrow and fast name is best."""

    @property
    def module(self) -> str:
        """Return the module whose import brings the fault."""
        return self.where.partition(":")[0]


def edited(old: str, new: str) -> Callable[[Any], Any]:
    """Return what compiles a function or class again, with one piece of its text replaced.

    Raises FaultError where the text does not hold `old` just once.
    """

    def instead(original: Any) -> Any:
        function = inspect.unwrap(original.fget if isinstance(original, property) else original)
        text = dedent(inspect.getsource(function))
        if text.count(old) != 1 or old == new:
            raise FaultError(f"{text.count(old)} times, and not once: {old}")
        return _compiled(text.replace(old, new), function)

    return instead


def _compiled(text: str, original: Any) -> Any:
    """Return what a text defines where the original stands, with all that it sees there."""
    names = getattr(getattr(original, "__code__", None), "co_freevars", ())
    cells = getattr(original, "__closure__", None) or ()
    # As a function's parameters they are free variables of the inner one again.
    body = indent(f"{text}\nreturn {original.__name__}", "    ")
    code = compile(
        f"def _({', '.join(names)}):\n{body}",
        inspect.getfile(original),
        "exec",
        annotations.compiler_flag,
    )
    seen = getattr(original, "__globals__", None) or vars(inspect.getmodule(original))
    made: dict[str, Any] = {}
    exec(code, seen, made)
    found = made["_"](*(cell.cell_contents for cell in cells))
    inner = getattr(found, "__func__", None) or getattr(found, "fget", None) or found
    # Under its own name, by which other processes are sent it.
    inner.__qualname__ = original.__qualname__
    return found


@dataclass(frozen=True, kw_only=True, slots=True)
class Faults:
    """The list of a paper."""

    paper: str
    package: str
    folder: Path
    """What names of tests start from."""
    faults: tuple[Fault, ...]

    def find(self, name: str) -> Fault:
        return next(fault for fault in self.faults if fault.id == name)


def papers_of(package: str = PACKAGE) -> list[str]:
    """Return the papers that have a list."""
    folders = (Path(path) for path in import_module(package).__path__)
    return sorted(path.parent.name for folder in folders for path in folder.glob("*/faults.py"))


def load_faults(paper: str, package: str = PACKAGE) -> Faults:
    """Import a paper's list. Raises FaultError where two have one id."""
    module = import_module(f"{package}.{paper}.faults")
    faults = tuple(module.FAULTS)
    if len({fault.id for fault in faults}) < len(faults):
        raise FaultError(f"{module.__name__}: two faults have one id")
    folder = Path(str(module.__file__)).parent
    return Faults(paper=paper, package=package, folder=folder, faults=faults)


def drawn(found: Faults, one_in: int, commit: str) -> list[Fault]:
    """Return one fault in so many, at least one; the commit draws them, nobody picks."""
    # A process that a test starts needs a fault, not what draws it.
    from harness.provenance.verify import draw

    num = -(-len(found.faults) // one_in)
    names = draw(
        [fault.id for fault in found.faults], num, commit=commit, experiment_id=found.paper
    )
    return [fault for fault in found.faults if fault.id in names]
