"""Rewrite tests/golden/ from fresh golden trials: `python -m tests.update_golden`.

Say in the commit why the numbers changed; a change of method also raises `version`.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from harness.atomic import write_text
from harness.registry import load_registry
from tests.golden_rows import differences, golden_path, golden_text, load_golden
from tests.golden_trials import GoldenRuns, declared_golden


def main() -> int:
    """Run all golden trials; write what changed, where it sees a broken method."""
    declared, blind = declared_golden(), False
    with tempfile.TemporaryDirectory() as folder:
        runs = GoldenRuns(load_registry(), declared, Path(folder))
        for name in declared:
            body, path = runs.body(name), golden_path(name)
            changed = differences(load_golden(name), body) if path.exists() else ["new"]
            if changed and not differences(body, runs.broken_body(name)):
                print(f"{name}: not written, its rows stay though {declared[name].mutation.breaks}")
                blind = True
            elif changed:
                write_text(path, golden_text(body))
                print(f"{name}: {'; '.join(changed[:3])}")
    return int(blind)


if __name__ == "__main__":
    sys.exit(main())
