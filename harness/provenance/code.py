"""The digest of what some functions do: it tells when a record is older than its code.

Followed is everything of the same top-level package that a function reaches by name:
functions, classes, constants, through imports of any form and inside functions too. Numbers
stand for what is followed, in the order in which it is met, so that a file that moves and a
function that is renamed leave the digest as it is. Libraries stand by name. Methods are part
of their class. What is chosen by a text at run time is not seen.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import inspect
import itertools
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from harness.declare.experiment import Experiment
from harness.declare.named import Named
from harness.errors import SpecError
from harness.provenance.templates import (
    Definition,
    External,
    ModuleName,
    Symbol,
    Target,
    Template,
    Writer,
    declared_id,
)
from harness.untrusted import in_one_line

OWN = "harness"
"""Its modules may move: what is used of it stands by its last name alone."""


def code_digest(roots: Iterable[Any], *, follow: Collection[str] = ()) -> str:
    """Return 16 hexadecimal digits that change when what the roots do changes.

    roots: functions, partials of functions, and plain values such as thresholds.
    follow: modules beyond the roots' own top-level packages that are followed as well.
    Raises SpecError for a function whose source cannot be found.
    """
    found = list(roots)
    packages = {package for root in found for package in _packages_of(root)}
    reader = _reader(frozenset({*packages, *follow} - {""}))
    numbers: dict[Symbol, int] = {}

    def numbered(template: Template) -> str:
        return "".join(
            part if isinstance(part, str) else f"@{numbers.setdefault(part, len(numbers))}"
            for part in template
        )

    lines = [numbered(reader.value(root)) for root in found]
    written: set[Symbol] = set()
    while new := [symbol for symbol in numbers if symbol not in written]:
        written.update(new)
        lines += [numbered(reader.template(symbol)) for symbol in new]
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


@functools.cache
def experiment_code(experiment: Experiment) -> str:
    """Return the digest of what an experiment's trials run."""
    return code_digest([experiment.code])


def _packages_of(root: Any) -> set[str]:
    """Return the top-level packages of a root's functions; the harness is followed by name."""
    if isinstance(root, functools.partial):
        inner = [root.func, *root.args, *root.keywords.values()]
        return {package for item in inner for package in _packages_of(item)}
    if isinstance(root, Named):
        return {root.module.split(".")[0]}
    if not isinstance(root, FunctionType):
        return set()
    package = str(inspect.unwrap(root).__globals__["__name__"]).split(".")[0]
    return set() if package == OWN else {package}


@functools.cache
def _reader(follow: frozenset[str]) -> _Reader:
    return _Reader(follow)


def forget() -> None:
    """Forget what was read: for a process in which sources change."""
    experiment_code.cache_clear()
    _reader.cache_clear()
    file_of.cache_clear()


class _Reader:
    """Reads modules and writes their definitions, each once."""

    def __init__(self, follow: frozenset[str]) -> None:
        self.follow = follow
        self._modules: dict[str, _Module | None] = {}
        self._templates: dict[Symbol, Template] = {}

    def is_followed(self, module: str) -> bool:
        return module.split(".")[0] in self.follow or module in self.follow

    def module(self, name: str) -> _Module | None:
        """Return a module that is followed, None for any other name."""
        if name not in self._modules:
            path = file_of(name) if self.is_followed(name) else None
            self._modules[name] = _Module(self, name, path) if path else None
        return self._modules[name]

    def template(self, symbol: Symbol) -> Template:
        if symbol not in self._templates:
            module = self.module(symbol.module)
            assert module is not None
            self._templates[symbol] = _merged(module.template(symbol.name))
        return self._templates[symbol]

    def member(self, module: str, name: str) -> Target | None:
        """Return what `module.name` stands for."""
        read = self.module(module)
        if read is not None:
            found = read.resolve(name)
            if found is not None:
                return found
        inner = f"{module}.{name}"
        top = module.split(".")[0]
        if read is None and top != OWN and top not in self.follow:
            return External(inner)
        if file_of(inner) is not None:
            return ModuleName(inner) if top != OWN or self.is_followed(inner) else External(OWN)
        return External(f"{top}:{name}")

    def value(self, value: Any) -> Template:
        """Return a value of the running program as a template."""
        if isinstance(value, functools.partial):
            args = [self.value(item) for item in value.args]
            named = [[f"{k}=", *self.value(v)] for k, v in sorted(value.keywords.items())]
            return ["partial(", *self.value(value.func), *_joined([*args, *named]), ")"]
        if isinstance(value, Named):
            named = [[f"{k}=", *self.value(v)] for k, v in sorted(value.bound.items())]
            return ["partial(", self._named(value), *_joined(named), ")"]
        if isinstance(value, (type, FunctionType)) or hasattr(value, "__wrapped__"):
            return self._definition(inspect.unwrap(value))
        if value is None or isinstance(value, (bool, int, float, str)):
            return [f"{type(value).__name__}:{value}" if isinstance(value, Enum) else ascii(value)]
        if isinstance(value, Mapping):
            pairs = [[*self.value(k), ":", *self.value(v)] for k, v in value.items()]
            return ["{", *_joined(pairs), "}"]
        if isinstance(value, (list, tuple)):
            return ["[", *_joined([self.value(item) for item in value]), "]"]
        if isinstance(value, (set, frozenset)):
            return ["{", ",".join(sorted(map(ascii, value))), "}"]
        if is_dataclass(value):
            held = [[f"{f.name}=", *self.value(getattr(value, f.name))] for f in fields(value)]
            return [f"{type(value).__name__}(", *_joined(held), ")"]
        if isinstance(value, ModuleType) or callable(value):
            # What a library gives stands by name, as it does in a source.
            return [f"<{getattr(value, '__name__', type(value).__name__)}>"]
        raise SpecError(
            f"a value of type {type(value).__name__} is bound to code that is digested: its"
            " content cannot be told, bind plain values instead"
        )

    def _named(self, place: Named) -> str | Symbol:
        """Return a function that a declaration names, wherever its module has it from."""
        module = self.module(place.module)
        found = None if module is None else module.resolve(place.name)
        if found is None:
            what = "module" if module is None else f"function {place.name!r} in the module"
            raise SpecError(f"there is no {what} {place.module}, which a declaration names")
        return found if isinstance(found, Symbol) else f"<{found.name}>"

    def _definition(self, item: Any) -> Template:
        """Return a function or class: a symbol where it is followed, else its name."""
        name = item.__globals__["__name__"] if isinstance(item, FunctionType) else item.__module__
        module = self.module(name)
        if module is None:
            top = name.split(".")[0]
            return [f"<{top}:{item.__name__}>" if top == OWN else f"<{name}.{item.__qualname__}>"]
        if item.__qualname__ in module.bound:
            return [Symbol(name, item.__qualname__)]
        if not isinstance(item, FunctionType):
            raise SpecError(f"{name}.{item.__qualname__}: a class inside a function has no digest")
        return module.inner_function(item)


def _merged(template: Template) -> Template:
    """Return a template with one text between two symbols: it is filled in once per digest."""
    merged: Template = []
    for is_text, group in itertools.groupby(template, lambda part: isinstance(part, str)):
        parts = list(group)
        merged += ["".join(map(str, parts))] if is_text else parts
    return merged


def _joined(parts: Sequence[Template]) -> Template:
    return [piece for part in parts for piece in (*part, ",")]


class _Module:
    """One module's definitions by name, from its source alone."""

    def __init__(self, reader: _Reader, name: str, path: Path) -> None:
        self.reader, self.name = reader, name
        self.is_package = path.name == "__init__.py"
        try:
            self.tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
            raise SpecError(f"{path} is no Python ({in_one_line(error)}): correct it") from error
        self.imports: dict[str, Target | tuple[str, str]] = {}
        self.bound: dict[str, list[ast.stmt]] = {}
        self._collect(self.tree.body)

    def _collect(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, (ast.Import, ast.ImportFrom)):
                # Resolved when they are asked for: two modules may import each other.
                self.imports.update(self._bindings(statement))
            elif isinstance(statement, (ast.If, ast.Try, ast.With)):
                for inner in ast.iter_child_nodes(statement):
                    if isinstance(inner, ast.stmt):
                        self._collect([inner])
                    elif isinstance(inner, ast.ExceptHandler):
                        self._collect(inner.body)
            else:
                for name in _names_of(statement):
                    self.bound.setdefault(name, []).append(statement)

    def _bindings(self, node: ast.Import | ast.ImportFrom) -> dict[str, Target | tuple[str, str]]:
        if isinstance(node, ast.Import):
            return {
                alias.asname or alias.name.split(".")[0]: ModuleName(
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
                for alias in node.names
            }
        base = self._absolute(node)
        return {alias.asname or alias.name: (base, alias.name) for alias in node.names}

    def _absolute(self, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        parts = self.name.split(".")
        kept = parts[: len(parts) - node.level + (1 if self.is_package else 0)]
        return ".".join([*kept, node.module] if node.module else kept)

    def imported(self, node: ast.Import | ast.ImportFrom) -> dict[str, Target]:
        return {name: self._settled(found) for name, found in self._bindings(node).items()}

    def _settled(self, found: Target | tuple[str, str]) -> Target:
        if not isinstance(found, tuple):
            return found
        return self.reader.member(*found) or External(".".join(found))

    def resolve(self, name: str) -> Target | None:
        if name in self.bound:
            return Symbol(self.name, name)
        found = self.imports.get(name)
        return None if found is None else self._settled(found)

    def member(self, module: str, name: str) -> Target | None:
        return self.reader.member(module, name)

    def place(self, text: str) -> Symbol | None:
        module, _, name = text.partition(":")
        found = self.reader.module(module)
        return Symbol(module, name) if found is not None and name in found.bound else None

    def template(self, name: str) -> Template:
        """Return everything that binds a name at the top level."""
        parts = []
        for statement in self.bound[name]:
            if isinstance(statement, Definition):
                parts.append(Writer(self).definition(statement))
            else:
                parts.append(self._assignment(statement, name))
        return _joined(parts)

    def _assignment(self, statement: ast.stmt, name: str) -> Template:
        value = getattr(statement, "value", None)
        if value is None:
            return Writer(self).definition(statement)
        if declared := declared_id(value):
            # An experiment or task that is named is known by its id; its code is its own.
            return [f"<{declared}>"]
        targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
        places = [str(i) for i, t in enumerate(_flat(targets)) if t == name]
        kind = type(getattr(statement, "op", statement)).__name__ if len(places) else ""
        return [f"{kind.removeprefix('Ann')}[{','.join(places)}]", *Writer(self).definition(value)]

    def inner_function(self, function: FunctionType) -> Template:
        """Return a function made inside another one, with the values that it holds."""
        line = function.__code__.co_firstlineno
        nodes = [
            node
            for node in ast.walk(self.tree)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            and min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", []))]) == line
        ]
        if len(nodes) != 1:
            raise SpecError(
                f"{self.name} line {line}: {len(nodes)} functions begin there, need one that can "
                "be told: give it a line of its own"
            )
        held = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        values = {name: self.reader.value(cell.cell_contents) for name, cell in held}
        # The text of a default names a value; it was taken when the function was made.
        taken = [self.reader.value(value) for value in function.__defaults__ or ()]
        named = sorted((function.__kwdefaults__ or {}).items())
        taken += [[f"{name}=", *self.reader.value(value)] for name, value in named]
        return [*Writer(self, values).definition(nodes[0]), *_joined(taken)]


def _names_of(statement: ast.stmt) -> list[str]:
    """Return the names that a top-level statement binds."""
    if isinstance(statement, Definition):
        return [statement.name]
    return [
        node.id
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def _flat(targets: Sequence[ast.AST | None]) -> list[str]:
    return [
        node.id
        for target in targets
        if target
        for node in ast.walk(target)
        if isinstance(node, ast.Name)
    ]


@functools.cache
def file_of(name: str) -> Path | None:
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
