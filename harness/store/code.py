"""The digest of the code that makes a trial's rows: it tells when a record is older than it.

Whole files, parsed and without docstrings, so that neither comments nor line breaks count: the
paper's `method` and `models`, the nets that papers share, and of the study the module that runs
the trial, with what that imports of its paper. Grids, tables, claims and figures are left out.
"""

from __future__ import annotations

import ast
import hashlib
import re
from functools import cache
from importlib import import_module
from importlib.util import resolve_name
from pathlib import Path

from harness.declare.experiment import Experiment
from harness.errors import SpecError
from harness.untrusted import in_one_line, is_there, read_text

SHOWS = re.compile(
    r"(experiment|table|quantities|claims|scopes|figures|layouts|(tab|fig|abl)\w*)\.py"
)
"""Files of a study that declare trials or show rows, and make none."""


def experiment_code(experiment: Experiment) -> str:
    """Return 64 hexadecimal digits of what an experiment's trials run. Raises SpecError."""
    paper, folder = _paper_of(experiment.package)
    runs = [experiment.code]
    if experiment.together is not None:
        runs.append(experiment.function(experiment.together.run))
    return _digest_of(tuple(run.module for run in runs), paper, folder)


def _paper_of(package: str) -> tuple[str, Path]:
    """Return the package that holds a paper.toml above another one, and its folder."""
    folder, name = Path(import_module(package).__path__[0]), package
    while not is_there(folder / "paper.toml"):
        if "." not in name:
            raise SpecError(f"{package} lies in no paper: a paper's folder has a paper.toml")
        folder, name = folder.parent, name.rpartition(".")[0]
    return name, folder


@cache
def _digest_of(modules: tuple[str, ...], paper: str, folder: Path) -> str:
    shared = [folder / "method", folder / "models", folder.parent / "nets"]
    files = {path for place in shared for path in place.rglob("*.py")}
    found = hashlib.sha256()
    for path in sorted(files | _imported(modules, paper, folder)):
        found.update(f"{path.relative_to(folder.parent)} {_file_digest(path)}\n".encode())
    return found.hexdigest()


def _imported(modules: tuple[str, ...], paper: str, folder: Path) -> set[Path]:
    """Return the files of a paper that modules are made of: their own, and those they import."""
    found: dict[str, Path] = {}
    pending = list(modules)
    while pending:
        name = pending.pop()
        if name in found or not f"{name}.".startswith(f"{paper}."):
            continue
        inside = folder.joinpath(*name.split(".")[paper.count(".") + 1 :])
        path = inside / "__init__.py" if inside.is_dir() else inside.with_suffix(".py")
        if is_there(path) and not SHOWS.fullmatch(path.name):
            found[name] = path
            package = name if inside.is_dir() else name.rpartition(".")[0]
            pending += [resolve_name(each, package) for each in _imports(path)]
    return set(found.values())


@cache
def _imports(path: Path) -> list[str]:
    names: list[str] = []
    for node in ast.walk(_parsed(path)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            dot = "" if base.endswith(".") else "."
            names += [base, *(f"{base}{dot}{alias.name}" for alias in node.names)]
    return names


@cache
def _file_digest(path: Path) -> str:
    return hashlib.sha256(repr(_plain(_parsed(path))).encode()).hexdigest()


@cache
def _parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(read_text(path))
    except (SyntaxError, ValueError) as error:
        raise SpecError(f"{path} cannot be read as Python ({in_one_line(error)})") from error


def _plain(node: object) -> object:
    """Return a syntax tree as tuples, the same by any Python: no docstrings, nothing empty."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, ast.AST):
        return node
    fields = dict(ast.iter_fields(node))
    match fields.get("body"):
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:  # a docstring
            fields["body"] = rest
    kept = [(name, _plain(each)) for name, each in fields.items() if each not in (None, [])]
    return type(node).__name__, kept
