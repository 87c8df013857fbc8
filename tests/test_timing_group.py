"""Only tests marked `timing` assert wall time: they run when nothing else does."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.waiting import GUARD_S

TESTS = Path(__file__).resolve().parent
SOURCES = sorted(path for path in TESTS.rglob("*.py") if path.parent != TESTS / "benchmarks")
CLOCKS = {name + unit for name in ("time", "perf_counter", "monotonic") for unit in ("", "_ns")}
MEASURED = {"wall_s", "elapsed_s", "gaps_s"}
"""Attributes that hold the time that something took."""
SHORTEST_GUARD_S = GUARD_S / 2

Function = ast.FunctionDef | ast.AsyncFunctionDef


def is_marked(node: ast.AST) -> bool:
    """Say whether a decorator or a value of `pytestmark` has the marker."""
    return any(isinstance(n, ast.Attribute) and n.attr == "timing" for n in ast.walk(node))


def functions_outside_the_group(tree: ast.Module) -> Iterator[Function]:
    """Yield the functions that run beside others, helpers and methods among them."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and is_marked(node):
            return
    for node in ast.walk(tree):
        if isinstance(node, Function) and not any(map(is_marked, node.decorator_list)):
            yield node


def reads_time(node: ast.AST, known: set[str]) -> bool:
    """Say whether an expression holds a clock's reading, or a name that came from one."""
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and name_of(part.func) in CLOCKS:
            return True
        if isinstance(part, ast.Attribute) and part.attr in MEASURED:
            return True
        if isinstance(part, ast.Name) and part.id in known:
            return True
    return False


def name_of(node: ast.AST) -> str:
    return str(getattr(node, "attr", getattr(node, "id", "")))


def assigned(function: Function) -> Iterator[tuple[ast.expr, ast.expr]]:
    """Yield each target with its value; `kept.append(x)` gives x to `kept`."""
    for node in ast.walk(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                pair = (target, node.value)
                if all(isinstance(part, ast.Tuple) for part in pair) and not any(
                    isinstance(part, ast.Starred) for side in pair for part in side.elts
                ):
                    yield from zip(target.elts, node.value.elts, strict=True)  # type: ignore[attr-defined]
                else:
                    yield pair
        elif isinstance(node, (ast.AnnAssign, ast.AugAssign, ast.NamedExpr)) and node.value:
            yield node.target, node.value
        elif isinstance(node, (ast.For, ast.comprehension)):
            yield node.target, node.iter
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            for value in node.args if node.func.attr in ("append", "add", "extend") else ():
                yield node.func.value, value


def names_from_clocks(function: Function) -> set[str]:
    """Return the local names whose values come from a clock, however many steps away."""
    known: set[str] = set()
    pairs = list(assigned(function))
    while True:
        found = {
            part.id
            for target, value in pairs
            if reads_time(value, known)
            for part in ast.walk(target)
            if isinstance(part, ast.Name)
        }
        if found <= known:
            return known
        known |= found


def wall_times_in(function: Function) -> Iterator[int]:
    """Yield the lines that assert wall time, or wait for less long than a guard does."""
    known = names_from_clocks(function)
    for node in ast.walk(function):
        if isinstance(node, ast.Assert) and reads_time(node.test, known):
            yield node.lineno
        elif isinstance(node, ast.Call):
            limits = [keyword.value for keyword in node.keywords if keyword.arg == "within_s"]
            values = [limit.value for limit in limits if isinstance(limit, ast.Constant)]
            if any(value < SHORTEST_GUARD_S for value in values):
                yield node.lineno


def offenders(path: Path) -> list[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [
        f"{path.relative_to(TESTS)}:{line} {function.name}"
        for function in functions_outside_the_group(tree)
        for line in wall_times_in(function)
    ]


def test_no_test_beside_others_asserts_wall_time() -> None:
    assert len(SOURCES) > 50
    found = [line for path in SOURCES for line in offenders(path)]
    assert found == [], "mark it `timing`, or assert what was asked of a clock of your own"


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("start = time.monotonic()\n    assert time.monotonic() - start < 1", 1),
        ("a, b = 1, time.time()\n    c = [b]\n    for d in c:\n        assert d", 1),
        ("a, b = 1, time.time()\n    assert a", 0),
        ("kept = []\n    kept.append(perf_counter())\n    assert kept", 1),
        ("assert run().wall_s < 25.0", 1),
        ("assert_gone(pids, within_s=1.0)", 1),
        ("assert_gone(pids, within_s=60.0)", 0),
        ("start = time.monotonic()\n    print(start)\n    assert found == 3", 0),
    ],
)
def test_wall_time_is_seen(body: str, found: int) -> None:
    (function,) = functions_outside_the_group(ast.parse(f"def test_it():\n    {body}\n"))
    assert len(list(wall_times_in(function))) == found


@pytest.mark.parametrize(
    ("before", "num_outside"),
    [
        ("@pytest.mark.timing", 0),
        ("pytestmark = pytest.mark.timing", 0),
        ("pytestmark = [pytest.mark.timing, pytest.mark.slow]", 0),
        ("@pytest.mark.slow", 1),
        ("pytestmark = pytest.mark.slow", 1),
    ],
)
def test_the_marker_alone_exempts(before: str, num_outside: int) -> None:
    tree = ast.parse(f"{before}\ndef test_it():\n    assert time.time() < 1\n")
    assert len(list(functions_outside_the_group(tree))) == num_outside
