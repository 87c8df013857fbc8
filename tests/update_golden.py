"""Rewrite tests/golden/ from a fresh smoke run: `python -m tests.update_golden`.

Say in the commit why the numbers changed; a change of method also raises `version`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness.atomic import write_text
from harness.records import RecordStore
from harness.registry import load_registry
from tests.conftest import run_smoke
from tests.golden_rows import differences, golden_body, golden_path, golden_text, load_golden


def main() -> int:
    """Run everything at smoke scale; write what differs from the golden rows."""
    with tempfile.TemporaryDirectory() as folder:
        smoke = run_smoke(Path(folder))
        if smoke.done.returncode:
            sys.stderr.write(smoke.done.stderr)
            return smoke.done.returncode
        library, store = load_registry(), RecordStore(smoke.workspace)
        for experiment in library.experiments.values():
            if not experiment.params_of("smoke"):
                continue
            body = golden_body(experiment, store, library)
            path = golden_path(experiment)
            changed = differences(load_golden(experiment), body) if path.exists() else ["new"]
            if changed:
                write_text(path, golden_text(body))
                print(f"{experiment.id}: {'; '.join(changed[:3])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
