"""A judge on this machine, before which no proxy stands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.reproductions.lisa.scripted_judge import ScriptedJudge, scripted_judge


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ScriptedJudge]:
    with scripted_judge() as judge:
        yield judge
