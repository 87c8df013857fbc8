"""`repro list` must answer in half a second, so it may not import torch."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

from harness.measure.goal_fixture import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_WARM_UP, NUM_ROUNDS = 2, 15


def test_repro_list_answers_at_once(goal: GoalFixture) -> None:
    code = "import sys, harness.cli as c; sys.argv = ['repro', 'list']\ntry: c.main()\nfinally: "
    code += "print('torch' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=SOURCE)
    assert done.stderr.split()[-1] == "False", "repro list imports torch"

    samples: list[float] = []
    for _ in range(NUM_WARM_UP + goal.size(NUM_ROUNDS)):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "harness.cli", "list"],
            stdout=subprocess.DEVNULL,
            check=True,
            cwd=SOURCE,
            env=dict(os.environ),
        )
        samples.append(time.perf_counter() - start)

    timed = samples[NUM_WARM_UP:]
    goal("repro_list", limit=0.5, unit="s", direction="at_most")(
        statistics.median(timed), samples=timed, note="whole process, warm file cache, median"
    )
