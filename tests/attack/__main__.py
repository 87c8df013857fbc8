"""Attack the commands: `python -m tests.attack [--seed S] [--inputs N] [--kills K] [--only CASE]`.

Malformed inputs of every kind and kills at every instant; tracebacks, hangs, wrong exit codes,
changed files, secrets and processes that are left are counted, and must all be none.
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import time
from importlib.util import find_spec

from tests.attack.inputs import attack_inputs
from tests.attack.kills import attack_by_kills
from tests.attack.parallel import Found
from tests.checkout import ROOT

ON_RAY = ROOT / "tests" / "harness" / "run" / "executors" / "test_ray.py"


def main() -> int:
    """Run the attack, print the counts; return 0 where nothing was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.attack", description=__doc__)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**6))
    parser.add_argument("--inputs", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", type=int, nargs="*", help="the cases with these numbers")
    options = parser.parse_args()
    numbers = range(options.inputs) if options.only is None else options.only
    print(f"seed {options.seed}: {len(numbers)} inputs, {options.kills} kills", flush=True)
    start, found = time.monotonic(), Found()
    found.join(attack_inputs(options.seed, numbers, jobs=options.jobs))
    if options.only is None:
        found.join(attack_by_kills(options.seed, options.kills, jobs=options.jobs))
    code = tell(found, time.monotonic() - start)
    if options.only is None and options.kills and find_spec("ray"):
        code |= attack_ray(max(1, options.kills // 10))
    return code


def attack_ray(kills: int) -> int:
    """Kill parts of a cluster of Ray in the test that does so; return 0 where it passes."""
    asked = [sys.executable, "-m", "pytest", "-q", "-k", "killed_anywhere", str(ON_RAY)]
    return subprocess.run(asked, cwd=ROOT, env=os.environ | {"KILLS": str(kills)}).returncode


def tell(found: Found, seconds: float) -> int:
    """Print the counts; return 1 where there is a fault."""
    for kind, count in sorted(found.cases.items()):
        print(f"{count:6} {kind}")
    print(f"{found.cases.total():6} cases in {seconds:.0f} s")
    counts = ", ".join(f"{count} {name}" for name, count in sorted(found.faults.items()))
    print(f"faults: {counts or 'none'}")
    return 1 if found.faults else 0


if __name__ == "__main__":
    sys.exit(main())
