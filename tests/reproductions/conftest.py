"""What tests of papers share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.warm import Warm


@pytest.fixture(scope="module", autouse=True)
def forked_processes(warm: Warm) -> Iterator[None]:
    """Fork what a trial or a test would start with an import of torch."""
    with warm.serving():
        yield
