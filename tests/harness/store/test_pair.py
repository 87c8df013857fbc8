"""A table and its JSON appear together, read meanwhile or killed at any call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.atomic import remove_leftovers
from harness.store.result import TaskResult, load_result, write_result
from harness.store.workspace import Workspace
from tests.harness.hand_made import make_claim, make_result, make_task
from tests.harness.inline_lab import tree

TASK = make_task(make_claim())
OLD, NEW = make_result(TASK, [0.1] * 5), make_result(TASK, [0.4] * 5)
MANY = 1_000_000
CALLS = ("open", "write", "fsync", "replace", "unlink")
"""What a writer asks of the system; between any two of them it may be killed."""


def killed_at(number: int, workspace: Workspace, result: TaskResult) -> bool:
    """Write a result in a process that is killed at one of its calls; False if it had no such."""
    child = os.fork()
    if child:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        assert code in (0, 9)
        return code == 9
    left = number

    def counted(name: str) -> object:
        real = getattr(os, name)

        def call(*args: object, **options: object) -> object:
            nonlocal left
            if left == 0:
                os._exit(9)
            left -= 1
            return real(*args, **options)

        return call

    for name in CALLS:
        setattr(os, name, counted(name))
    try:
        write_result(workspace, TASK, result)
        os._exit(0)
    finally:
        os._exit(1)


def instants(tmp_path: Path, old: TaskResult | None) -> Iterator[Workspace]:
    """Yield a checkout for each call at which the writer of NEW over `old` was killed."""
    number = 0
    while True:
        workspace = Workspace(tmp_path / f"{number}")
        if old is not None:
            assert not killed_at(MANY, workspace, old)
        if not killed_at(number, workspace, NEW):
            assert number > 5, "the writer calls nothing that is counted"
            return
        yield workspace
        number += 1


@pytest.mark.parametrize("old", [None, OLD], ids=["the first", "over another"])
def test_a_writer_killed_at_any_call_leaves_one_of_two_whole_results(
    tmp_path: Path, old: TaskResult | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("harness.atomic.LEFTOVER_S", -1.0)
    found = []
    for workspace in instants(tmp_path, old):
        result = load_result(workspace, TASK, "smoke")
        found.append(None if result is None else result.csv)
        # The next run leaves just the pair, whatever it finds.
        remove_leftovers(workspace.root)
        assert not killed_at(MANY, workspace, NEW)
        assert sorted(Path(name).name for name in tree(workspace.root)) == [
            "tab01.smoke.csv",
            "tab01.smoke.json",
        ]
    before = None if old is None else old.csv
    first = found.index(NEW.csv)
    assert found == [before] * first + [NEW.csv] * (len(found) - first)


@contextmanager
def alternating_writer(workspace: Workspace) -> Iterator[None]:
    """Write one result over the other meanwhile, in a process of its own."""
    child = os.fork()
    if not child:
        try:
            while True:
                write_result(workspace, TASK, NEW)
                write_result(workspace, TASK, OLD)
        finally:
            os._exit(1)
    try:
        yield
    finally:
        os.kill(child, 9)
        os.waitpid(child, 0)


def test_a_reader_meanwhile_sees_one_of_two_whole_results(tmp_path: Path) -> None:
    workspace = Workspace(tmp_path)
    write_result(workspace, TASK, OLD)
    with alternating_writer(workspace):
        seen = {result.csv for _ in range(300) if (result := load_result(workspace, TASK, "smoke"))}
    assert seen == {OLD.csv, NEW.csv}
