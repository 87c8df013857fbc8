"""Try deliberate faults: `python -m tests.mutate [PAPER ...] [--only ID ...] [--one-in N]`.

Each must be caught by a unit test, which passes without it. Exit code 1 where one is not.
"""

from __future__ import annotations

import argparse
import os
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

# On nets as small as those of tests a second thread costs more than it gives.
os.environ["OMP_NUM_THREADS"] = "1"
# Hypothesis draws the same examples each time, and keeps none.
os.environ["CI"] = "1"

from harness.measure.machine import source_state
from tests.mutate.attempt import HEAVY, Attempt, Outcome, run_all, warm_up
from tests.mutate.fault import FOLDER, Fault, FaultError, Faults, drawn, load_faults, papers_of

WIDTH = 80


def main(folder: Path = FOLDER, timeout_s: float = 600.0) -> int:
    """Try the faults, print the outcomes; return 1 where one was not caught.

    folder: where papers have their lists. timeout_s: of one fault.
    """
    parser = argparse.ArgumentParser(prog="python -m tests.mutate", description=__doc__)
    parser.add_argument("papers", nargs="*", help="all by default")
    parser.add_argument("--only", nargs="*", help="the faults with these ids")
    parser.add_argument("--one-in", type=int, default=1, help="so few, drawn by the commit")
    parser.add_argument("--jobs", type=int, default=min(4, os.cpu_count() or 1))
    options = parser.parse_args()
    known = papers_of(folder)
    papers = options.papers or known
    if unknown := sorted(set(papers) - set(known)):
        parser.error(f"no faults of {', '.join(unknown)}: there are those of {', '.join(known)}")
    try:
        lists = [load_faults(paper, folder) for paper in papers]
    except FaultError as error:
        parser.error(str(error))
    ids = {fault.id for found in lists for fault in found.faults}
    if unknown := sorted(set(options.only or ()) - ids):
        parser.error(f"no fault {', '.join(unknown)} in the list of {', '.join(papers)}")
    if options.one_in < 1 or options.jobs < 1:
        parser.error("--one-in and --jobs: need whole numbers of at least 1")
    warm_up(HEAVY if folder == FOLDER else ())
    start = time.monotonic()
    run = partial(run_all, jobs=options.jobs, timeout_s=timeout_s)
    codes = [try_list(found, chosen(found, options), run) for found in lists]
    print(f"{len(lists)} papers in {time.monotonic() - start:.0f} s")
    return max(codes)


def chosen(found: Faults, options: argparse.Namespace) -> Sequence[Fault]:
    """Return the faults that are asked for."""
    if options.only is not None:
        return [fault for fault in found.faults if fault.id in options.only]
    return drawn(found, options.one_in, source_state()[0])


def try_list(
    found: Faults, faults: Sequence[Fault], run: Callable[[Sequence[Attempt]], Iterator[Outcome]]
) -> int:
    """Try faults of a paper; return 1 where one was not caught."""
    start = time.monotonic()
    print(f"{found.paper}: {len(faults)} of {len(found.faults)} faults", flush=True)
    attempts = [Attempt(fault=each, folder=found.folder, tests=each.tests) for each in faults]
    outcomes = []
    for outcome in run(attempts):
        outcomes.append(outcome)
        print("\n".join(told(outcome)), flush=True)
    # A test that fails anyway has caught nothing.
    tests = list(dict.fromkeys(each.test for each in outcomes if each.ended == "caught"))
    whole = [Attempt(fault=None, folder=found.folder, tests=tests)] if tests else []
    broken = [each for each in run(whole) if each.ended != "survived"]
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
