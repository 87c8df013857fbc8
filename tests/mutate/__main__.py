"""Try deliberate faults one by one: `python -m tests.mutate [PAPER ...] [--one-in N] [--wide]`.

Each must be caught by a unit test, which passes without it. Exit code 1 where one is not.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Sequence

# On nets as small as those of tests a second thread costs more than it gives.
os.environ["OMP_NUM_THREADS"] = "1"
# Hypothesis draws the same examples each time, and keeps none.
os.environ["CI"] = "1"

from harness.measure.machine import source_state
from tests.mutate.attempt import Attempt, Outcome, run_all, warm_up
from tests.mutate.fault import PACKAGE, Fault, Faults, drawn, load_faults, papers_of

WIDTH = 80


def main() -> int:
    """Try the faults, print the outcomes; return 1 where one was not caught."""
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("papers", nargs="*", help="all by default")
    parser.add_argument("--only", nargs="*", help="the faults with these ids")
    parser.add_argument("--one-in", type=int, default=1, help="so few, drawn by the commit")
    parser.add_argument("--wide", action="store_true", help="also by all other tests of the paper")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds per fault")
    parser.add_argument("--package", default=PACKAGE, help="where papers have their lists")
    options = parser.parse_args()
    known = papers_of(options.package)
    papers = options.papers or known
    if unknown := sorted(set(papers) - set(known)):
        parser.error(f"no faults of {', '.join(unknown)}: there are those of {', '.join(known)}")
    lists = [load_faults(paper, options.package) for paper in papers]
    ids = {fault.id for found in lists for fault in found.faults}
    if unknown := sorted(set(options.only or ()) - ids):
        parser.error(f"no fault {', '.join(unknown)} in the list of {', '.join(papers)}")
    if options.one_in < 1 or options.jobs < 1:
        parser.error("--one-in and --jobs: need whole numbers of at least 1")
    warm_up(heavy=options.package == PACKAGE)
    start = time.monotonic()
    codes = [try_list(found, chosen(found, options), options) for found in lists]
    print(f"{len(lists)} papers in {time.monotonic() - start:.0f} s")
    return max(codes)


def chosen(found: Faults, options: argparse.Namespace) -> Sequence[Fault]:
    """Return the faults that are asked for."""
    if options.only is not None:
        return [fault for fault in found.faults if fault.id in options.only]
    return drawn(found, options.one_in, source_state().commit)


def try_list(found: Faults, faults: Sequence[Fault], options: argparse.Namespace) -> int:
    """Try faults of a paper; return 1 where one was not caught."""
    start, means = time.monotonic(), {"jobs": options.jobs, "timeout_s": options.timeout}
    print(f"{found.paper}: {len(faults)} of {len(found.faults)} faults", flush=True)
    attempts = [
        Attempt(faults=found, fault=each, tests=(*each.tests, *("",) * options.wide))
        for each in faults
    ]
    outcomes = []
    for outcome in run_all(attempts, **means):
        outcomes.append(outcome)
        print("\n".join(told(outcome)), flush=True)
    # A test that fails anyway has caught nothing.
    tests = tuple(dict.fromkeys(each.test for each in outcomes if each.ended == "caught"))
    whole = [Attempt(faults=found, fault=None, tests=tests)] if tests else []
    broken = [each for each in run_all(whole, **means) if each.ended != "survived"]
    for each in broken:
        print(f"FAILS WITHOUT A FAULT TOO: {each.test or each.why}")
    counts = Counter(each.ended for each in outcomes)
    print(
        f"{found.paper}: {counts['caught']} caught, {counts['survived']} survived,"
        f" {counts['error']} errors in {time.monotonic() - start:.0f} s",
        flush=True,
    )
    return 1 if broken or counts["caught"] < len(faults) else 0


def told(outcome: Outcome) -> list[str]:
    """Return lines of at most 80 columns: what came of a fault, and which test saw it."""
    fault = outcome.attempt.fault
    assert fault is not None
    word = outcome.ended if outcome.ended == "caught" else outcome.ended.upper()
    lines = [f"{word:8} {outcome.seconds:5.1f} s  {fault.id}"]
    if outcome.ended != "caught":
        lines += [f"  {each}" for each in (fault.where, *textwrap.wrap(fault.breaks, WIDTH - 2))]
    file, _, name = outcome.test.partition("::")
    whole = f"  {file}::{name}"
    lines += [whole] if len(whole) <= WIDTH else [f"  {file}", f"  ::{name}"]
    lines = [line for line in (*lines, f"  {outcome.why}") if line.strip(" :")]
    return [line if len(line) <= WIDTH else f"{line[: WIDTH - 3]}..." for line in lines]


if __name__ == "__main__":
    sys.exit(main())
