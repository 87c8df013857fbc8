"""Bring a fault into a process and all that it starts: one module is read from another text.

Processes that tests start find it in the environment, by `site/sitecustomize.py`; so this module
imports nothing else of ours.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType

VARIABLE = "REPRO_FAULT"
SITE = Path(__file__).with_name("site")


def announce(module: str, text: Path) -> None:
    """Have this process, and all that it starts, read a module from the file `text`."""
    os.environ[VARIABLE] = json.dumps([module, str(text)])
    places = [str(SITE), str(SITE.parents[2]), os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, places))
    # Some processes are started with these places instead.
    sys.path.append(str(SITE))
    install()


def install() -> None:
    """Have the module that the environment names read from the text that it names."""
    module, text = json.loads(os.environ[VARIABLE])
    assert module not in sys.modules, f"{module} was imported before its fault"
    sys.meta_path.insert(0, _Finder(module, Path(text)))


class _Finder:
    """Finds one module where all others do, and has it read from another text."""

    def __init__(self, module: str, text: Path) -> None:
        self._module, self._text = module, text

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name != self._module:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.origin is not None:
            spec.loader = _Loader(name, spec.origin, self._text)
        return spec


class _Loader(SourceFileLoader):
    """Compiles another text under a module's own name and path."""

    def __init__(self, name: str, path: str, text: Path) -> None:
        super().__init__(name, path)
        self._text = text

    def get_code(self, fullname: str) -> CodeType:
        return compile(self._text.read_bytes(), self.path, "exec", dont_inherit=True)
