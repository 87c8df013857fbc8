"""Bring a fault into a process at its start: see `tests/mutate/apply.py`."""

import os

if os.environ.get("REPRO_FAULT"):
    from tests.mutate import apply

    apply.install()
