"""The digest of the code a trial ran: tells when a record is older than its code."""

from __future__ import annotations

import ast
import hashlib
import importlib.util
from functools import cache
from pathlib import Path

from harness.syntax import strip_tree
from harness.task import Experiment


def code_digest(experiment: Experiment) -> str:
    """Hash the syntax trees of all modules the experiment's run reaches by import.

    Followed are imports within the run function's top-level package, those inside functions
    too; task files are views and do not count. The harness and libraries are left out: the
    harness versions its own formats, and library versions stand in the record.
    """
    runs = [experiment.run, *([experiment.batch.run] if experiment.batch else [])]
    modules: dict[str, str] = {}
    for run in runs:
        name = getattr(run, "func", run).__module__
        _follow(name, name.split(".")[0], modules)
    text = "\n".join(f"{name} {modules[name]}" for name in sorted(modules))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _follow(name: str, package: str, modules: dict[str, str]) -> None:
    if name in modules or name.split(".")[0] != package or ".tasks." in name:
        return
    path = _file_of(name)
    if path is None:
        return
    source_digest, imported = _read(path, name)
    modules[name] = source_digest
    for inner in imported:
        _follow(inner, package, modules)


@cache
def _file_of(name: str) -> Path | None:
    """Return a module's file, None for a name that is none.

    Found on disk: asking the import system would import the parents, and torch with them.
    """
    top, *inner = name.split(".")
    spec = importlib.util.find_spec(top)
    if spec is None:
        return None
    if not inner and spec.origin and spec.submodule_search_locations is None:
        return Path(spec.origin) if spec.origin.endswith(".py") else None
    for location in spec.submodule_search_locations or []:
        path = Path(location, *inner)
        for file in (path / "__init__.py", path.with_name(f"{path.name}.py")):
            # The package's own folder has no twin beside it.
            if file.is_file() and (inner or file.name == "__init__.py"):
                return file
    return None


@cache
def _read(path: Path, name: str) -> tuple[str, tuple[str, ...]]:
    """Return a module's digest and the names it imports, a member counted as a module too."""
    source = path.read_text(encoding="utf-8")
    imported: list[str] = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            imported.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(node, name, is_package=path.name == "__init__.py")
            imported.append(base)
            imported.extend(f"{base}.{alias.name}" for alias in node.names)
    tree = hashlib.sha256(strip_tree(source).encode()).hexdigest()
    return tree, tuple(imported)


def _absolute(node: ast.ImportFrom, name: str, *, is_package: bool) -> str:
    """Return the absolute module of a `from` import."""
    if node.level == 0:
        return node.module or ""
    parts = name.split(".")
    kept = parts[: len(parts) - node.level + (1 if is_package else 0)]
    return ".".join([*kept, node.module] if node.module else kept)
