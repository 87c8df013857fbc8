"""Python definitions as text in which no followed name stands: the leaves of a code digest.

A template is a list of strings and of symbols: what a definition refers to in code that is
followed. Comments, docstrings, annotations and layout are left out, and so are names of files
and modules.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_PLACE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_]\w*")
DECLARATION = re.compile(r"[a-z0-9_]+/[a-z0-9_]+")
"""An id: a call that is given one declares an experiment or a task."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A definition at the top level of a module that is followed."""

    module: str
    name: str


@dataclass(frozen=True, slots=True)
class ModuleName:
    """A module, as an import binds it."""

    name: str


@dataclass(frozen=True, slots=True)
class External:
    """Something of a library, or of a package that is not followed, by its full name."""

    name: str


Target = Symbol | ModuleName | External
Template = list[str | Symbol]
Local = None


@dataclass(slots=True)
class Scope:
    """Names that a function, class or comprehension binds; None marks a plain local."""

    names: dict[str, Target | Template | None]
    is_class: bool = False
    globals_: set[str] = field(default_factory=set)


class Names(Protocol):
    """How a module's names are resolved; implemented by whoever reads modules."""

    def resolve(self, name: str) -> Target | None:
        """Return what a module-level name stands for, None for a builtin."""
        ...

    def member(self, module: str, name: str) -> Target | None:
        """Return a module's attribute, None where the module is not read."""
        ...

    def imported(self, node: ast.Import | ast.ImportFrom) -> dict[str, Target]:
        """Return what an import statement binds."""
        ...

    def place(self, text: str) -> Symbol | None:
        """Return the definition that a text `module:name` names, if it is followed."""
        ...


class Writer:
    """Writes one definition as a template."""

    def __init__(self, names: Names, bound: Mapping[str, Template] | None = None) -> None:
        """`bound`: templates of the values that a closure holds, by name."""
        self.names = names
        self.scopes = [Scope(dict(bound or {}))]
        self.out: Template = []

    def definition(self, node: ast.AST) -> Template:
        """Return a function, class or expression without its own name."""
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            self._function(node, name="")
        elif isinstance(node, ast.ClassDef):
            self._class(node, name="")
        else:
            self._node(node)
        return self.out

    def _node(self, node: object) -> None:
        if isinstance(node, list):
            self._join("[", [item for item in node if not _is_dropped(item)], "]")
        elif isinstance(node, ast.AST):
            writer: Callable[[ast.AST], None] = getattr(
                self, f"_write_{type(node).__name__}", self._fields
            )
            writer(node)
        else:
            self.out.append(ascii(node))

    def _join(self, opening: str, items: Sequence[object], closing: str) -> None:
        self.out.append(opening)
        for item in items:
            self._node(item)
            self.out.append(",")
        self.out.append(closing)

    def _fields(self, node: ast.AST, *, leave: tuple[str, ...] = ()) -> None:
        """Write a node's fields; empty ones are left out, as newer Pythons have more of them."""
        self.out.append(f"{type(node).__name__}(")
        for name in node._fields:
            value = getattr(node, name, None)
            if name in leave or value is None or value == []:
                continue
            self.out.append(f"{name}=")
            self._node(value)
            self.out.append(",")
        self.out.append(")")

    def _write_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str) and _PLACE.fullmatch(node.value):
            symbol = self.names.place(node.value)
            if symbol is not None:
                self.out.append(symbol)
                return
        self.out.append(ascii(node.value))

    def _write_Name(self, node: ast.Name) -> None:
        self._target(self._lookup(node.id), node.id)

    def _write_Attribute(self, node: ast.Attribute) -> None:
        target, rest = self._chain(node)
        if target is None:
            self._fields(node)
            return
        self._target(target, "")
        self.out.extend(f".{name}" for name in rest)

    def _chain(self, node: ast.Attribute) -> tuple[Target | None, list[str]]:
        """Return what `a.b.c` names as far as modules reach, and the attributes behind it."""
        attributes: list[str] = []
        value: ast.expr = node
        while isinstance(value, ast.Attribute):
            attributes.insert(0, value.attr)
            value = value.value
        found = self._lookup(value.id) if isinstance(value, ast.Name) else None
        if not isinstance(found, (ModuleName, External)):
            return None, []
        target: Target = found
        while attributes and isinstance(target, ModuleName):
            member = self.names.member(target.name, attributes[0])
            if member is None:
                break
            target = member
            attributes.pop(0)
        return target, attributes

    def _target(self, target: Target | Template | None, name: str) -> None:
        match target:
            case None:
                self.out.append(f"Name({name})")
            case Symbol():
                self.out.append(target)
            case ModuleName() | External():
                self.out.append(f"<{target.name}>")
            case _:
                self.out.extend(target)

    def _lookup(self, name: str) -> Target | Template | None:
        for depth, scope in enumerate(reversed(self.scopes)):
            if name in scope.globals_:
                break
            # What a class body binds is not seen from the functions inside it.
            if name in scope.names and (depth == 0 or not scope.is_class):
                return scope.names[name]
        return self.names.resolve(name)

    def _write_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._function(node, name=node.name)

    def _write_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._function(node, name=node.name)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef, *, name: str) -> None:
        self.out.append(f"{type(node).__name__}({name},")
        self._join("decorators[", node.decorator_list, "]")
        self._arguments(node.args)
        self.scopes.append(self._scope_of(node, node.body))
        self._node(_without_docstring(node.body))
        self.scopes.pop()
        self.out.append(")")

    def _write_Lambda(self, node: ast.Lambda) -> None:
        self.out.append("Lambda(")
        self._arguments(node.args)
        self.scopes.append(self._scope_of(node, [node.body]))
        self._node(node.body)
        self.scopes.pop()
        self.out.append(")")

    def _arguments(self, args: ast.arguments) -> None:
        """Write parameters and defaults; defaults belong to the scope outside."""
        groups = (args.posonlyargs, args.args, [args.vararg], args.kwonlyargs, [args.kwarg])
        shown = "/".join(",".join(a.arg for a in group if a) for group in groups)
        self.out.append(f"args({shown}")
        self._join("defaults[", args.defaults, "]")
        # None stands for a keyword without a default.
        self._join("kw[", args.kw_defaults, "])")

    def _write_ClassDef(self, node: ast.ClassDef) -> None:
        self._class(node, name=node.name)

    def _class(self, node: ast.ClassDef, *, name: str) -> None:
        self.out.append(f"ClassDef({name},")
        for items in (node.decorator_list, node.bases, node.keywords):
            self._join("[", items, "]")
        scope = self._scope_of(node, node.body)
        scope.is_class = True
        self.scopes.append(scope)
        self._node(_without_docstring(node.body))
        self.scopes.pop()
        self.out.append(")")

    def _write_AnnAssign(self, node: ast.AnnAssign) -> None:
        # A bare annotation is a dataclass's field in a class, and nothing in a function.
        self._fields(node, leave=("annotation", "simple"))

    def _comprehension(self, node: ast.AST) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.out.append(f"{type(node).__name__}(")
        # The first iterable is evaluated outside.
        self._node(generators[0].iter)
        names = dict.fromkeys(n for g in generators for n in _stored(g.target))
        self.scopes.append(Scope({name: Local for name in names}))
        for number, generator in enumerate(generators):
            self._fields(generator, leave=("iter",) if number == 0 else ())
        self._fields(node, leave=("generators",))
        self.scopes.pop()
        self.out.append(")")

    _write_ListComp = _write_SetComp = _write_DictComp = _write_GeneratorExp = _comprehension

    def _scope_of(self, node: ast.AST, body: Sequence[ast.AST]) -> Scope:
        """Return the scope that a function or class opens."""
        scope = Scope({})
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            args = node.args
            every = [*args.posonlyargs, *args.args, *args.kwonlyargs, args.vararg, args.kwarg]
            scope.names.update((arg.arg, Local) for arg in every if arg)
        nonlocals: set[str] = set()
        for item in _inside(body):
            if isinstance(item, (ast.Import, ast.ImportFrom)):
                scope.names.update(self.names.imported(item))
            elif isinstance(item, ast.Global):
                scope.globals_.update(item.names)
            elif isinstance(item, ast.Nonlocal):
                nonlocals.update(item.names)
            else:
                scope.names.update((name, Local) for name in _bound_by(item))
        for name in nonlocals:
            scope.names.pop(name, None)
        return scope


def _is_dropped(node: object) -> bool:
    """Whether a statement says nothing of what is done: imports, and code for type checkers."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name):
        return node.test.id == "TYPE_CHECKING"
    return isinstance(node, (ast.Import, ast.ImportFrom))


def _without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    first = body[0] if body else None
    if (
        isinstance(first, ast.Expr)
        and isinstance(first.value, ast.Constant)
        and isinstance(first.value.value, str)
    ):
        return body[1:]
    return body


def _inside(body: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without what stands in scopes inside it."""
    pending = list(body)
    while pending:
        node = pending.pop()
        yield node
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)):
            continue
        if isinstance(node, _COMPREHENSIONS):
            # An assignment expression in a comprehension binds outside of it.
            pending.extend(n.target for n in ast.walk(node) if isinstance(n, ast.NamedExpr))
            continue
        pending.extend(ast.iter_child_nodes(node))


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that one node binds in its scope."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name
    elif isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        yield node.id
    elif isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)) and node.name:
        yield node.name
    elif isinstance(node, ast.MatchMapping) and node.rest:
        yield node.rest


def _stored(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        yield from _bound_by(inner)


def declared_id(node: ast.AST) -> str:
    """Return the id that a call declares, or an empty string.

    >>> declared_id(ast.parse("Experiment(id='lisa/memory', run=run)", mode="eval").body)
    'lisa/memory'
    """
    if not isinstance(node, ast.Call):
        return ""
    named = [keyword.value for keyword in node.keywords if keyword.arg == "id"]
    first = (named or node.args)[:1]
    if first and isinstance(first[0], ast.Constant) and isinstance(first[0].value, str):
        text = first[0].value
        return text if DECLARATION.fullmatch(text) else ""
    return ""
