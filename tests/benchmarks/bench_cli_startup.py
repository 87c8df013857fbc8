"""Verbs that only tell must answer at once: none but `report` imports torch or matplotlib."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

import pytest

from tests.benchmarks.conftest import GoalFixture
from tests.benchmarks.sweeps import SOURCE

NUM_WARM_UP, NUM_ROUNDS = 2, 9
HEAVY = ("torch", "matplotlib")
LIMITS_S = {
    "list": 0.4,
    "check": 2.0,
    "show supar/fig06": 1.5,
    "table supar/fig06": 1.5,
    "status": 1.5,
    "report": 12.0,
}
ASKING = f"""
import sys
import harness.cli
sys.argv = ["repro", *sys.argv[1:]]
try:
    harness.cli.main()
finally:
    print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr)
"""


@pytest.mark.parametrize("words", LIMITS_S, ids=lambda words: words.split()[0])
def test_repro_answers_at_once(goal: GoalFixture, words: str) -> None:
    command = [sys.executable, "-c", ASKING, *words.split()]
    asked = subprocess.run(command, capture_output=True, text=True, cwd=SOURCE)
    assert asked.returncode == 0, asked.stderr
    if words != "report":
        assert asked.stdout
        assert not asked.stderr.splitlines()[-1], f"repro {words} imports {asked.stderr}"

    samples: list[float] = []
    warm_up, rounds = (0, 3) if words == "report" else (NUM_WARM_UP, NUM_ROUNDS)
    for _ in range(warm_up + goal.size(rounds)):
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-m", "harness.cli", *words.split()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            cwd=SOURCE,
            env=dict(os.environ),
        )
        samples.append(time.perf_counter() - start)

    timed = samples[warm_up:]
    verb = words.split()[0]
    goal(f"repro_{verb}", limit=LIMITS_S[words], unit="s", direction="at_most")(
        statistics.median(timed), samples=timed, note="whole process, warm file cache, median"
    )
