"""Only tests marked `timing` assert wall time: they run when nothing else does."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
SOURCES = sorted(path for path in TESTS.rglob("*.py") if path.parent != TESTS / "benchmarks")
WALL_TIME = re.compile(
    r"\b(time|perf_counter|monotonic)(_ns)?\(|\.(wall_s|elapsed_s|gaps_s)\b(?!\()"
)
"""A reading of a clock, or an attribute that holds what something took."""


def is_marked(node: ast.AST) -> bool:
    """Say whether a decorator or a value of `pytestmark` has the marker."""
    return any(isinstance(n, ast.Attribute) and n.attr == "timing" for n in ast.walk(node))


def offenders(path: Path) -> Iterator[str]:
    """Yield the assertions of wall time outside the group."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if any(isinstance(node, ast.Assign) and is_marked(node) for node in tree.body):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and not any(map(is_marked, node.decorator_list)):
            for inner in ast.walk(node):
                if isinstance(inner, ast.Assert) and WALL_TIME.search(ast.unparse(inner.test)):
                    yield f"{path.relative_to(TESTS)}:{inner.lineno} {node.name}"


def test_no_test_beside_others_asserts_wall_time() -> None:
    assert len(SOURCES) > 50
    found = [line for path in SOURCES for line in offenders(path)]
    assert found == [], "mark it `timing`, or assert what was asked of a clock of your own"
