"""Worked examples in docstrings are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.checkout import ROOT

EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for folder in ("harness", "reproductions", "tools")
    for path in (ROOT / folder).rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_give_what_they_say(name: str) -> None:
    module = importlib.import_module(name.removesuffix(".__init__"))
    found = doctest.testmod(module)
    assert found.attempted > 0
    assert found.failed == 0
