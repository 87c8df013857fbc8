"""`results/verdicts.json`: what `repro check` says of committed results, a line each."""

from __future__ import annotations

import json

from harness.publish.report.verdicts_json import VERDICTS, as_text

from harness.declare.overrides import Overrides
from harness.publish.verdicts import decided, json_rows
from harness.registry import Library
from harness.store.workspace import Workspace
from tests.harness.test_cli import CHECK_FIELDS


def test_a_report_writes_every_verdict_in_a_line_of_its_own(
    demo: tuple[Workspace, Library],
) -> None:
    workspace, _ = demo
    text = (workspace.root / VERDICTS).read_text()
    rows = json.loads(text)
    lines = text.splitlines()
    assert (lines[0], lines[-1]) == ("[", "]")
    assert [json.loads(line.removesuffix(",")) for line in lines[1:-1]] == rows
    assert rows and all(list(row) == CHECK_FIELDS for row in rows)
    assert {row["profile"] for row in rows} <= {"cpu", "gpu", "paper"}
    assert [(r["task"], r["profile"]) for r in rows] == sorted(
        (r["task"], r["profile"]) for r in rows
    )


def test_it_holds_what_check_prints(demo: tuple[Workspace, Library]) -> None:
    workspace, library = demo
    tasks = list(library.tasks.values())
    checked = decided(library, workspace, tasks, "cpu", None, gone=None)
    told = [
        r for r in json.loads((workspace.root / VERDICTS).read_text()) if r["seal"] != "withdrawn"
    ]
    assert told == json.loads(as_text(json_rows(library, Overrides(), checked)))
    assert {row["verdict"] for row in told} > {"REPRODUCED"}
    assert as_text(told) == as_text(json.loads(as_text(told)))


def test_numbers_have_nine_digits_and_no_row_is_no_line() -> None:
    assert as_text([{"a": [1 / 3, {"b": 1e-20 / 3}], "c": True}]) == (
        '[\n{"a": [0.333333333, {"b": 3.33333333e-21}], "c": true}\n]\n'
    )
    assert as_text([]) == "[]\n"
