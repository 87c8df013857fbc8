"""Python source as text that only a change of meaning changes, under every Python version."""

from __future__ import annotations

import ast
from typing import Any


def strip_tree(source: str) -> str:
    """Return the syntax tree of Python source as text, without docstrings and positions.

    `ast.dump` will not do: what it prints for the same source differs between versions of
    Python, and a record made under one is read under another.
    """
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
    return _text(tree)


def _text(node: Any) -> str:
    """Return a node as text; fields that are empty are left out, newer versions have more."""
    if isinstance(node, ast.Constant):
        return ascii(node.value)
    if isinstance(node, ast.AST):
        fields = ((name, getattr(node, name, None)) for name in node._fields)
        parts = [f"{name}={_text(value)}" for name, value in fields if value not in (None, [])]
        return f"{type(node).__name__}({','.join(parts)})"
    if isinstance(node, list):
        return f"[{','.join(map(_text, node))}]"
    return ascii(node)
