"""Stored verdicts: current where nothing changed, made anew where anything did."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import DataError
from harness.publish import verdicts
from harness.publish.check_row import CheckRow
from harness.publish.report.load import load_pages
from harness.publish.verdicts import (
    judge_stored,
    verdicts_of,
    verdicts_path,
)
from harness.registry import Library
from harness.store.result import csv_path
from harness.store.workspace import Workspace
from tests.harness.publish.report.demo_paper import TASK

Demo = tuple[Workspace, Library]
NAME = "demo/fig02"


@pytest.fixture(name="demo")
def copied(own_demo: Demo) -> Demo:
    return own_demo


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the tasks that are judged from now on, and not read from the file."""
    tasks: list[str] = []

    def watched(library: Library, workspace: Workspace, task: Task, *rest, **options):  # type: ignore[no-untyped-def]
        tasks.append(task.id)
        return judge_stored(library, workspace, task, *rest, **options)

    monkeypatch.setattr(verdicts, "judge_stored", watched)
    return tasks


def words(rows: Sequence[CheckRow]) -> dict[str, str]:
    return {row.claim: row.verdict for row in rows}


def read(demo: Demo) -> list[CheckRow]:
    """Return the verdicts of one task, in a process that knows nothing yet."""
    verdicts._code_of.cache_clear()
    return verdicts_of(*demo, [TASK], "cpu")


def file_of(demo: Demo) -> Path:
    return verdicts_path(demo[0], "demo", "cpu")


def test_a_current_file_is_read_and_nothing_is_judged(demo: Demo, judged: list[str]) -> None:
    rows = verdicts_of(*demo, demo[1].tasks.values(), "cpu")
    assert judged == []  # also of a task without claims
    assert words(rows) == {
        "grows": "SUPPORTED", "shrinks": "CONTRADICTED", "doubles": "UNDECIDED",
        "stays": "UNDECIDED", "scales": "UNTESTED", "rows": "HOLDS",
    }  # fmt: skip
    lines = json.loads(file_of(demo).read_text())["rows"]
    assert [CheckRow.of(line) for line in lines] == rows


def other_table(workspace: Workspace, library: Library) -> None:
    path = csv_path(workspace, TASK, "cpu")
    path.write_text(path.read_text().replace("2.1", "1.1"))


def other_claims(workspace: Workspace, library: Library) -> None:
    (library.papers["demo"].folder / "loss" / "fig02.py").write_text("# Other claims.\n")


def other_schema(workspace: Workspace, library: Library) -> None:
    path = verdicts_path(workspace, "demo", "cpu")
    path.write_text(path.read_text().replace('"schema_version": 9', '"schema_version": 8'))


def torn(workspace: Workspace, library: Library) -> None:
    path = verdicts_path(workspace, "demo", "cpu")
    path.write_text(path.read_text()[:700])


@pytest.mark.parametrize("change", [other_table, other_claims, other_schema, torn])
def test_what_changed_is_judged_anew_and_reading_writes_nothing(
    demo: Demo, judged: list[str], change: Callable[..., None]
) -> None:
    change(*demo)
    before = {p: p.read_bytes() for p in demo[0].root.rglob("*") if p.is_file()}
    rows = read(demo)
    assert judged == [NAME]
    assert (words(rows)["grows"] == "ERROR") == (change is other_table)
    assert before == {p: p.read_bytes() for p in demo[0].root.rglob("*") if p.is_file()}


def test_code_that_judges_makes_files_stale(
    demo: Demo, judged: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verdicts, "JUDGES", ("declare", "publish/judge.py"))
    read(demo)
    assert judged == [NAME]


def test_a_damaged_file_is_made_again_and_a_current_one_not_touched(demo: Demo) -> None:
    path = file_of(demo)
    then, data = path.stat().st_mtime_ns, path.read_bytes()
    load_pages(*demo, store=True)
    assert path.stat().st_mtime_ns == then
    for changed in (b"{", data.replace(b'"SUPPORTED"', b'"CONTRADICTED"', 1)):
        assert changed != data
        path.write_bytes(changed)
        load_pages(*demo)
        assert path.read_bytes() == changed
        load_pages(*demo, store=True)
        assert path.read_bytes() == data


def test_a_damaged_table_errs_and_its_file_is_named_from_the_top(demo: Demo) -> None:
    other_table(*demo)
    rows = read(demo)
    assert set(words(rows).values()) == {"ERROR"} and all(row.fails for row in rows)
    assert rows[0].reason.startswith("results/demo/fig02.cpu.csv was changed")


def test_deep_finds_a_table_that_records_do_not_give(demo: Demo, judged: list[str]) -> None:
    workspace, library = demo

    def deep() -> list[CheckRow]:
        return verdicts_of(workspace, library, [TASK], "cpu", deep=True)

    assert words(deep())["grows"] == "SUPPORTED"
    assert judged == [NAME]
    path, data = file_of(demo), file_of(demo).read_text()
    rows = [CheckRow.of(row) for row in json.loads(data)["rows"]]
    others = [replace(row, verdict="UNDECIDED") if row.claim == "grows" else row for row in rows]
    path.write_text(verdicts._text_of(others, json.loads(data)["follows_from"]))
    with pytest.raises(DataError, match="grows is not what the records give"):
        deep()
    path.write_text(data)
    (workspace.results("cpu") / "demo" / "records" / "sweep.cpu.jsonl.gz").unlink()
    (row, *_) = deep()
    assert (row.verdict, "does not follow from the committed records" in row.reason) == (
        "ERROR", True,
    )  # fmt: skip


def test_half_a_result_is_an_error_and_no_result_is_not_run(demo: Demo) -> None:
    workspace, _ = demo
    csv_path(workspace, TASK, "cpu").unlink()
    assert set(words(read(demo)).values()) == {"ERROR"}
    csv_path(workspace, TASK, "cpu").with_suffix(".json").unlink()
    assert {row.reason.partition(":")[0] for row in read(demo)} == {"not run", "scale"}


def test_committed_profiles_come_before_smoke(demo: Demo) -> None:
    workspace, library = demo

    def scales(profile: Profile | None) -> set[tuple[str, str]]:
        rows = verdicts_of(workspace, library, library.tasks.values(), profile)
        return {(row.task, row.profile) for row in rows}

    assert {profile for _, profile in scales(None)} == {"cpu"}
    assert {profile for _, profile in scales("smoke")} == {"smoke"}
    for path in workspace.results("cpu").glob("demo/fig*"):
        path.unlink()
    assert scales(None) == {(NAME, "smoke")}
    for path in workspace.results("smoke").glob("demo/fig*"):
        path.unlink()
    assert scales(None) == {(NAME, "cpu")}
