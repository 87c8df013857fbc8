"""Seals move with what could turn a verdict, and with nothing else."""

from __future__ import annotations

import importlib
import itertools
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.declare.claims import Claim
from harness.declare.table import Table
from harness.declare.task import Task
from harness.errors import SpecError
from harness.provenance import code
from harness.provenance.seals import Outcome, Sealed, compare, seal
from tests.harness import hand_made

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

TASK = Task("sealpaper/tab01", reads=(), table=Table.of())
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
            code.forget()
            module = importlib.import_module("sealpaper.claims")
            return str(seal(TASK, make_claim(getattr(module, name), **changes), {}))

    yield write
    code.forget()
    for module in [m for m in sys.modules if m.split(".")[0] == "sealpaper"]:
        del sys.modules[module]


def make_claim(quantity: Any, **changes: Any) -> Claim:
    settings: dict[str, Any] = {
        "statement": "It holds.", "where": "p. 1", "quantity": quantity,
        "profiles": ("smoke", "cpu"),
    }  # fmt: skip
    return hand_made.make_claim(**{**settings, **changes})


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


def test_value_that_an_inner_function_took_counts(make: Make) -> None:
    source = (
        "def make(c):\n    def quantity(t, c=c):\n        return c\n    return quantity\n\n\n"
        "quantity = make({})\n"
    )
    assert make(source.format(1), "quantity") != make(source.format(2), "quantity")


def test_value_that_cannot_be_told_is_refused(make: Make) -> None:
    source = (
        "from functools import partial\n\n\nclass Box:\n    pass\n\n\n"
        "def inner(t, box):\n    return 1.0\n\n\nquantity = partial(inner, box=Box())\n"
    )
    with pytest.raises(SpecError, match="type Box"):
        make(source, "quantity")


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
        {"profiles": ("cpu",)},
        {"tolerance": 0.5},
    ],
)
def test_field_that_decides_changes_the_seal(make: Make, changes: dict[str, Any]) -> None:
    assert make(SOURCE) != make(SOURCE, **changes)


@pytest.mark.parametrize(
    "changes", [{"statement": "Other words."}, {"where": "p. 2"}, {"threshold_from": "calibration"}]
)
def test_words_do_not_change_the_seal(make: Make, changes: dict[str, Any]) -> None:
    assert make(SOURCE) == make(SOURCE, **changes)


def test_who_asks_and_how_numbers_are_called_do_not_change_the_seal(make: Make) -> None:
    assert make(SOURCE) == make(SOURCE, own_question=True, caveat="not plotted")
    assert make(SOURCE) == make(SOURCE, whole="fails", by_construction="set by the rule")
    assert make(SOURCE) == make(SOURCE, names=("at x = 0",))


def test_infinite_threshold_can_be_stored() -> None:
    made = seal(TASK, make_claim(_named, form="within", threshold=(0, math.inf)), {})
    assert made.model_dump(mode="json")["band"]["threshold"] == [0, "inf"]


def _named(table: Any) -> float:
    return 1.0


@pytest.mark.parametrize("quantity", [len, math.fsum, int])
def test_quantity_without_a_source_is_refused(quantity: Any) -> None:
    with pytest.raises(SpecError, match="quantity is a plain function"):
        seal(TASK, make_claim(quantity), {})


def side(claim: Claim | None = None, *, code: str = "c", keys: str = "k", **outcome: Any) -> Sealed:
    """Return a side of a comparison, with an outcome where one is given."""
    claim = claim or make_claim(_named)
    made = seal(TASK, claim, {"cpu": keys}).model_copy(update={"code": code})
    return Sealed(
        statement=claim.statement,
        where=claim.where,
        unit=claim.criterion.unit,
        seal=made,
        outcome=Outcome(**outcome) if outcome else None,
    )


HELD = {"verdict": "REPRODUCED", "measured": 0.5, "low": 0.4, "high": 0.6, "num_seeds": 3,
        "seeds": [0, 1, 2], "samples": [[0.4], [0.5], [0.6]]}  # fmt: skip
NOW = side(**HELD)


def state(now: Sealed, *first: Sealed | None, **more: Any) -> str:
    last = [each.seal if each is not None else None for each in first]
    return compare(now, first, **{"last": last, **more}).state


def test_nothing_differs() -> None:
    assert state(NOW, NOW) == "sealed"


def test_other_code_that_measures_the_same_is_restated() -> None:
    assert state(side(code="d", **HELD), NOW) == "restated"


def test_other_code_that_measured_nothing_yet_is_changed() -> None:
    assert state(side(code="d", **HELD), side()) == "changed"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"samples": [[0.4], [0.5], [0.7]]}, "samples"),
        ({"samples": [[0.4], [0.5]], "seeds": [0, 1]}, "samples"),
        ({"seeds": [0, 1, 3]}, "samples"),
        ({"low": 0.3}, "low: 0.4 then, 0.3 now"),
        ({"verdict": "INCONCLUSIVE"}, "verdict: REPRODUCED then, INCONCLUSIVE now"),
    ],
)
@pytest.mark.parametrize("code", ["c", "d"])
def test_other_numbers_are_changed_whatever_the_code(
    changed: dict[str, Any], told: str, code: str
) -> None:
    found = compare(side(code=code, **{**HELD, **changed}), [NOW], [NOW.seal])
    assert found.state == "changed"
    assert any(line.startswith(told) for line in found.differences), found.differences


def test_rounding_of_another_processor_is_no_change() -> None:
    nearly = {**HELD, "measured": 0.5 * (1 + 1e-14), "samples": [[0.4 + 1e-15], [0.5], [0.6]]}
    assert state(side(**nearly), NOW) == "sealed"
    off = {**HELD, "measured": 0.5 * (1 + 1e-10)}
    assert state(side(**off), NOW) == "changed"


def test_other_trials_are_changed() -> None:
    assert state(side(keys="other", **HELD), NOW) == "changed"


def test_record_without_a_seal_makes_the_claim_late() -> None:
    assert state(NOW, NOW, None) == "late"


def test_seal_that_a_rerun_wrote_is_renewed() -> None:
    before = side(make_claim(_named, threshold=0.1), **HELD)
    assert state(NOW, before, last=[NOW.seal]) == "renewed"
    assert state(NOW, before) == "changed"


@pytest.mark.parametrize("was", ["changed", "late", "renewed"])
def test_state_of_the_export_is_kept(was: str) -> None:
    assert state(NOW, NOW, was=was) == was
    assert state(side(code="d", **HELD), NOW, was=was) == was


def test_other_words_are_noted_and_change_no_state() -> None:
    other = side(make_claim(_named, statement="It always held."), **HELD)
    found = compare(NOW, [other], [other.seal])
    assert (found.state, found.differences) == (
        "sealed",
        ('it was then stated as "It always held."',),
    )


def test_seal_speaks_of_one_profile() -> None:
    both = NOW.seal.model_copy(update={"keys": {"cpu": "k", "smoke": "s"}})
    assert both.at("cpu").keys == {"cpu": "k"}
    assert both.at("gpu").keys == {"gpu": ""}
