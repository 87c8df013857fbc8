"""Seals move with what could turn a verdict, and with nothing else."""

from __future__ import annotations

import importlib
import itertools
import math
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.claims import Claim
from harness.errors import SpecError
from harness.seals import seal
from harness.syntax import strip_tree

SOURCE = '''
import functools
from functools import partial

LIMIT = 2.0
TABLE = {"a": 1.0, "b": 2.0}
NAMES = frozenset({"sp", "mup", "supar"})


def helper(x):
    return x * LIMIT


@functools.cache
def cached(x):
    return x + 1


def unused(x):
    return x


class Rule:
    factor = 3


def quantity(table, *, scheme="sp", bound=LIMIT):
    """Return something."""
    # A comment.
    total = sum(TABLE.values()) + helper(1) + cached(2) + Rule.factor
    return [v for v in table if scheme in NAMES and v < bound] or total


bound_quantity = partial(quantity, scheme="supar")
'''
HELPERS = """
def inner(x):
    return x - 1
"""

count = itertools.count()
Make = Callable[..., str]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """Return a function that writes a module of this source and gives its claim's seal."""

    def write(source: str, name: str = "bound_quantity", **changes: Any) -> str:
        # The same module name each time: it is part of the seal.
        folder = tmp_path / str(next(count)) / "sealpaper"
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "helpers.py").write_text(changes.pop("helpers", HELPERS))
        (folder / "claims.py").write_text(source)
        for module in [m for m in sys.modules if m.split(".")[0] == "sealpaper"]:
            del sys.modules[module]
        with monkeypatch.context() as patch:
            patch.syspath_prepend(str(folder.parent))
            importlib.invalidate_caches()
            module = importlib.import_module("sealpaper.claims")
            return seal(make_claim(getattr(module, name), **changes)).sha256

    yield write
    for module in [m for m in sys.modules if m.split(".")[0] == "sealpaper"]:
        del sys.modules[module]


def make_claim(quantity: Any, **changes: Any) -> Claim:
    settings: dict[str, Any] = {
        "id": "c", "statement": "It holds.", "where": "p. 1", "form": "at_most",
        "grade": "empirical", "quantity": quantity, "threshold": 1.0, "threshold_from": "theory",
        "profiles": ("smoke", "cpu"),
    }  # fmt: skip
    return Claim(**{**settings, **changes})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("# A comment.", "# Another one, longer."),
        ('"""Return something."""', '"""Return what was asked for, at length."""'),
        (
            "def helper(x):\n    return x * LIMIT",
            "def helper(x):\n\n    return (\n        x * LIMIT)",
        ),
        ("def unused(x):\n    return x", "def unused(x):\n    return 17 * x"),
        ('{"a": 1.0, "b": 2.0}', '{"b": 2.0, "a": 1.0}'),
        ('{"sp", "mup", "supar"}', '{"supar", "mup", "sp"}'),
    ],
)
def test_cosmetic_change_keeps_the_seal(make: Make, old: str, new: str) -> None:
    assert old in SOURCE
    assert make(SOURCE) == make(SOURCE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('scheme="supar"', 'scheme="mup"'),  # keyword of the partial
        ("return x * LIMIT", "return x + LIMIT"),  # helper
        ("return x + 1", "return x + 2"),  # cached helper
        ("LIMIT = 2.0", "LIMIT = 3.0"),  # constant
        ('"b": 2.0', '"b": 2.5'),  # constant in a dict
        ('"mup", "supar"}', '"supar"}'),  # constant in a set
        ("factor = 3", "factor = 4"),  # class
        ("v < bound", "v <= bound"),  # the quantity itself
        ('scheme="sp"', 'scheme="mup"'),  # default
    ],
)
def test_change_of_meaning_changes_the_seal(make: Make, old: str, new: str) -> None:
    assert old in SOURCE
    assert make(SOURCE) != make(SOURCE.replace(old, new))


def test_constant_behind_a_default_counts(make: Make) -> None:
    source = "LIMIT = {}\n\n\ndef quantity(table, bound=LIMIT):\n    return bound\n"
    assert make(source.format(1.0), "quantity") != make(source.format(2.0), "quantity")


@pytest.mark.parametrize(
    "use",
    [
        "from sealpaper import helpers\n\n\ndef quantity(t):\n    return helpers.inner(t)\n",
        "def quantity(t):\n    from sealpaper.helpers import inner\n    return inner(t)\n",
        "def quantity(t):\n    from .helpers import inner\n    return inner(t)\n",
        "from sealpaper.helpers import inner\n\n\ndef quantity(t):\n"
        "    return max(t, key=lambda x: inner(x))\n",
        "from functools import partial\nfrom sealpaper.helpers import inner\n\n\n"
        "def apply(t, f):\n    return f(t)\n\n\nquantity = partial(apply, f=inner)\n",
        "from sealpaper.helpers import inner\n\n\ndef make(f):\n    def quantity(t):\n"
        "        return f(t)\n    return quantity\n\n\nquantity = make(inner)\n",
    ],
)
def test_helper_is_followed_however_it_is_reached(make: Make, use: str) -> None:
    changed = HELPERS.replace("- 1", "- 2")
    assert make(use, "quantity") != make(use, "quantity", helpers=changed)
    assert make(use, "quantity") == make(use, "quantity", helpers=HELPERS + "# more\n")


@pytest.mark.parametrize(
    "changes",
    [
        {"threshold": 1.1},
        {"form": "at_least"},
        {"grade": "exact"},
        {"threshold_from": "calibration"},
        {"profiles": ("cpu",)},
        {"deterministic": True},
        {"tolerance": 0.5},
    ],
)
def test_field_that_decides_changes_the_seal(make: Make, changes: dict[str, Any]) -> None:
    assert make(SOURCE) != make(SOURCE, **changes)


@pytest.mark.parametrize("changes", [{"statement": "Other words."}, {"where": "p. 2"}])
def test_words_do_not_change_the_seal(make: Make, changes: dict[str, Any]) -> None:
    assert make(SOURCE) == make(SOURCE, **changes)


def test_infinite_threshold_can_be_stored() -> None:
    made = seal(make_claim(_named, form="within", threshold=(0, math.inf)))
    assert made.to_json()["threshold"] == [0, "inf"]


def _named(table: Any) -> float:
    return 1.0


@pytest.mark.parametrize("quantity", [len, math.fsum, int])
def test_quantity_without_a_source_is_refused(quantity: Any) -> None:
    with pytest.raises(SpecError, match=r"quantity is a|source cannot be read"):
        seal(make_claim(quantity))


def test_seal_is_the_same_in_another_process() -> None:
    code = (
        "from tests.harness.test_seals import make_claim, _named; from harness.seals import seal;"
        "print(seal(make_claim(_named)).sha256)"
    )
    shown = {
        subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
            env={"PYTHONHASHSEED": hash_seed, "PATH": "/usr/bin:/bin"},
        ).stdout.strip()
        for hash_seed in ("1", "2")
    }
    assert shown == {seal(make_claim(_named)).sha256}


def test_tree_text_has_nothing_of_one_python_version() -> None:
    # Python 3.12 added empty `type_params`, 3.13 leaves empty fields out: neither may show.
    text = strip_tree("def f(x):\n    'Doc.'\n    return {'a': [], 'b': None}[x]")
    assert text == (
        "Module(body=[FunctionDef(name='f',args=arguments(args=[arg(arg='x')]),body=[Return("
        "value=Subscript(value=Dict(keys=['a','b'],values=[List(ctx=Load()),None]),"
        "slice=Name(id='x',ctx=Load()),ctx=Load()))])])"
    )
