"""The examples on the page of the method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.method_pages import examples


def test_the_page_s_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    # Each goes on from those before.
    for code in examples("supar", {"pandas", "matplotlib"}):
        exec(compile(code, "supar.md", "exec"), names)
    weight = names["model"][2].weight
    assert (weight == 0).sum() == weight.numel() * 7 // 8
    assert float(names["loss"].detach()) < float(names["first"])
    assert names["report"].verdict == "pass"
    assert (tmp_path / "check.svg").stat().st_size > 0
