"""What tests of runs share: an empty store, beside a lab in which nothing fails yet."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.store.store import RecordStore
from harness.store.workspace import Workspace
from tests.harness import inline_lab as lab


@pytest.fixture
def store(tmp_path: Path) -> Iterator[RecordStore]:
    lab.faults.clear()
    yield RecordStore(Workspace(tmp_path))
    lab.faults.clear()
