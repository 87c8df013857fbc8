"""`repro list` must answer in half a second, so it may not import torch."""

from __future__ import annotations

import os
import subprocess
import sys
import time

from pytest_benchmark.fixture import BenchmarkFixture

from tests.benchmarks.goals import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_ROUNDS = 15


def test_repro_list_answers_at_once(goal: GoalFixture, benchmark: BenchmarkFixture) -> None:
    code = "import sys, harness.cli as c; sys.argv = ['repro', 'list']\ntry: c.main()\nfinally: "
    code += "print('torch' in sys.modules, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=SOURCE)
    assert done.stderr.split()[-1] == "False", "repro list imports torch"

    samples: list[float] = []

    def list_tasks() -> None:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "harness.cli", "list"],
            stdout=subprocess.DEVNULL,
            check=True,
            cwd=SOURCE,
            env=dict(os.environ),
        )
        samples.append(time.perf_counter() - start)

    benchmark.pedantic(list_tasks, rounds=NUM_ROUNDS, warmup_rounds=2)
    timed = sorted(samples[-NUM_ROUNDS:])
    goal("repro_list", limit=0.5, unit="s", direction="at_most")(
        timed[len(timed) // 2], samples=timed, note="whole process, warm file cache, median"
    )
