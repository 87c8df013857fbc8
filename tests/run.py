"""Run the tests in two groups: most on all cores, then those that need the machine alone.

`python -m tests.run [options of pytest]` is what `make test` calls. Both groups always run, each
in a pytest of its own with the options given.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import pytest

# Many tests wait for processes of their own: half as many workers again as cores keep these busy.
# A worker holds up to 1.2 GB.
NUM_WORKERS = min(8, (os.cpu_count() or 1) * 3 // 2)
# Neighbours in a file share its fixtures, so each worker gets a stretch of them and takes from
# another's only when its own are done.
SIDE_BY_SIDE = ("-n", str(NUM_WORKERS), "--dist", "worksteal")
SETTINGS = {
    # On nets as small as those of tests a second thread costs more than it gives, tenfold where
    # other processes want the cores too.
    "OMP_NUM_THREADS": "1",
    # Hundreds of processes import our modules: what one of them compiled, the others read.
    "PYTHONDONTWRITEBYTECODE": "",
}
PASSING = (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)


def main(options: Sequence[str]) -> int:
    """Run both groups; return 0 if none failed and a test ran, else the code that says why not."""
    groups = [
        [*SIDE_BY_SIDE, *options, "--timing=without"],
        [*options, "-n", "0", "--timing=only"],
    ]
    env = {**os.environ, **SETTINGS}
    codes = [
        subprocess.run([sys.executable, "-m", "pytest", *each], env=env, check=False).returncode
        for each in groups
    ]
    return next((code for code in codes if code not in PASSING), min(codes))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
