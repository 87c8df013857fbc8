"""The paper's tasks as a whole, and the examples of its page."""

from __future__ import annotations

import io
from contextlib import redirect_stdout
from pathlib import Path

import pytest

from tests.method_pages import examples


def test_the_page_s_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    printed, names = io.StringIO(), dict[str, object]()
    with redirect_stdout(printed):
        # Each goes on from those before; the trainer prints its log in between.
        for code in examples("lisa", {"transformers", "accelerate"}):
            exec(compile(code, "lisa.md", "exec"), names)
    lines = [line.split() for line in printed.getvalue().splitlines() if line[0] in "0123456789"]
    assert [int(count) for count, _ in lines] == [4, 2, 2]
    assert all(0.25 <= float(coverage) <= 1.0 for _, coverage in lines)
