"""Functions by name: from which package they are found, when they are imported, what is refused."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.declare.named import Named, bind, named
from harness.errors import SpecError

FILES = {
    "namedlab/__init__.py": "",
    "namedlab/shared.py": "def scale(x, *, by=1):\n    return x * by\n",
    "namedlab/paper/__init__.py": "",
    "namedlab/paper/study/__init__.py": "",
    "namedlab/paper/study/trial.py": (
        "LIMIT = 3\n\n\ndef run(point, ctx):\n    return [point, ctx]\n"
    ),
    "namedlab/paper/study/heavy.py": "raise ValueError('too heavy')\n",
}
STUDY = "namedlab.paper.study"


@pytest.fixture(autouse=True)
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Put a package with a study folder on the path."""
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.split(".")[0] == "namedlab"]:
        del sys.modules[name]


def of(place: Any, package: str = STUDY) -> Named:
    return named(place, package, where="paper/one")


@pytest.mark.parametrize(
    ("place", "package", "module"),
    [
        ("trial:run", STUDY, "namedlab.paper.study.trial"),
        ("deeper.trial:run", STUDY, "namedlab.paper.study.deeper.trial"),
        (".trial:run", STUDY, "namedlab.paper.trial"),
        ("..shared:run", STUDY, "namedlab.shared"),
        (".models.training:run", STUDY, "namedlab.paper.models.training"),
        ("shared:run", "namedlab", "namedlab.shared"),
    ],
)
def test_name_is_resolved_as_an_import_in_the_package(
    place: str, package: str, module: str
) -> None:
    assert of(place, package) == Named(module=module, name="run")


@pytest.mark.parametrize(
    "place",
    ["", "run", ":run", "trial:", "trial.run", "trial:run.inner", "trial:run()", ".:run", "a:b:c"],
)
def test_place_of_another_form_is_refused_with_who_names_it(place: str) -> None:
    with pytest.raises(SpecError) as caught:
        of(place)
    assert str(caught.value) == (f"paper/one: {place!r} names no function, write 'module:function'")


def test_bound_values_are_in_every_call() -> None:
    scale = of(bind("..shared:scale", by=7))
    assert scale == Named(module="namedlab.shared", name="scale", bound={"by": 7})
    assert (scale(1), scale(2)) == (7, 14)


def test_nothing_is_imported_before_the_call() -> None:
    heavy = of("heavy:run")
    assert f"{STUDY}.heavy" not in sys.modules
    with pytest.raises(ValueError, match="too heavy"):
        heavy(1, 2)
