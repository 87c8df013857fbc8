"""Bring a fault into every process of a test: right after its module was imported.

So whoever imports a name from there by value gets the faulty one too. Processes that tests start
read from the environment which fault it is, by `site/sitecustomize.py`.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from inspect import getattr_static
from pathlib import Path
from types import CellType, FrameType, FunctionType, ModuleType
from typing import Any

from tests.checkout import ROOT
from tests.mutate.fault import Fault, FaultError, Faults, load_faults
from tests.patches import owner_of

VARIABLE = "REPRO_FAULT"
SITE = Path(__file__).with_name("site")


def announce(found: Faults, fault: Fault, applied: Path) -> None:
    """Bring a fault into this process and all that it starts.

    applied: a file that is made once the fault stands, or that holds why it cannot.
    """
    told = {"paper": found.paper, "package": found.package, "id": fault.id}
    os.environ[VARIABLE] = json.dumps({**told, "module": fault.module, "applied": str(applied)})
    places = [str(SITE), str(ROOT), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    # Some processes are started with these places instead.
    sys.path.append(str(SITE))
    install()


def install() -> None:
    """Have the fault that the environment names follow the import of its module."""
    told = json.loads(os.environ[VARIABLE])
    assert told["module"] not in sys.modules, f"{told['module']} was imported before its fault"
    sys.meta_path.insert(0, _Follower(told))


class _Follower:
    """Finds one module as all others do, and changes it once it is whole."""

    def __init__(self, told: dict[str, str]) -> None:
        self._told = told

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._told["module"]:
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        if spec is not None and spec.loader is not None:
            execute = spec.loader.exec_module
            spec.loader.exec_module = lambda module: self._execute(execute, module)  # type: ignore[method-assign]
        return spec

    def _execute(self, execute: Callable[[ModuleType], None], module: ModuleType) -> None:
        execute(module)
        applied = Path(self._told["applied"])
        try:
            found = load_faults(self._told["paper"], self._told["package"])
            apply(found.find(self._told["id"]))
        except Exception as error:
            applied.write_text(f"{type(error).__name__}: {error}")
            raise
        applied.touch()


def apply(fault: Fault) -> None:
    """Replace what stands at a fault's place, and a function wherever else its module holds it.

    Raises FaultError where nothing is changed, or where something goes on holding what stood there.
    """
    owner, name, original = place_of(fault)
    new = changed(fault, original)
    setattr(owner, name, new)
    if isinstance(original, FunctionType):
        for holder in gc.get_referrers(original):
            _replace(holder, original, new, fault.where)


def place_of(fault: Fault) -> tuple[Any, str, Any]:
    """Return what holds what a fault replaces, its name there, and what stands there."""
    try:
        owner, name = owner_of(fault.where)
        return owner, name, getattr_static(owner, name)
    except AttributeError as error:
        raise FaultError(f"{fault.where}: there is no such name") from error


def changed(fault: Fault, original: Any) -> Any:
    """Return what a fault puts in place of the original. Raises FaultError where that is equal."""
    new = fault.instead(original)
    if new is original or (not callable(new) and new == original):
        raise FaultError(f"{fault.where}: nothing is changed")
    return new


def _replace(holder: Any, original: FunctionType, new: Any, where: str) -> None:
    """Replace a function in what holds it, such as a table of methods by name."""
    match holder:
        case dict() if holder is not getattr(new, "__dict__", None):
            holder.update({key: new for key, held in holder.items() if held is original})
        case list():
            holder[:] = [new if held is original else held for held in holder]
        case dict() | CellType() | FrameType():
            pass  # by which the new one calls it
        case _:
            raise FaultError(f"{where}: a {type(holder).__name__} holds it too: name that one")
