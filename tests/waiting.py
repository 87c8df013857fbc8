"""Wait for what another process or thread does."""

from __future__ import annotations

import time
from collections.abc import Callable

GUARD_S = 60.0
"""Long beside anything that is waited for, on a busy machine too: it ends a test that hangs."""


def wait_for(condition: Callable[[], object], *, within_s: float = GUARD_S) -> None:
    """Return as soon as `condition` holds. Raises TimeoutError if it never does."""
    end = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > end:
            raise TimeoutError(f"it did not come within {within_s:g} s")
        time.sleep(0.02)
