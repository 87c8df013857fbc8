"""The examples on users' pages of methods, and what each needs beside torch and numpy."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from tests.checkout import ROOT

EXAMPLE = re.compile(
    r"(?:<!-- needs: (?P<needs>[^>]+) -->\n)?```python\n(?P<code>.*?)```\n", re.DOTALL
)


def examples(name: str, having: Collection[str] = ()) -> list[str]:
    """Return the examples of a method's page, in order, that need nothing but what is named."""
    text = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8")
    found = [(re.findall(r"\w+", each["needs"] or ""), each["code"])
             for each in EXAMPLE.finditer(text)]  # fmt: skip
    return [code for needs, code in found if set(needs) <= set(having)]


def run_examples(name: str, having: Collection[str]) -> dict[str, Any]:
    """Run such examples, each of which goes on from those before; return all that they name."""
    names: dict[str, Any] = {}
    for code in examples(name, having):
        exec(compile(code, f"{name}.md", "exec"), names)
    return names
