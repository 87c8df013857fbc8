"""Kill commands at every instant, and see what they leave and whether they can be taken up."""

from __future__ import annotations

import itertools
import random
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.attack.case import Case, Fault, Seen, faults
from tests.attack.checkout import Checkout
from tests.attack.files import (
    CHECK,
    EXPORT,
    IMPORT,
    LONG,
    PLAN,
    PLOT,
    REPORT,
    RUN,
    STATUS,
    TABLE,
    Verb,
)
from tests.attack.hook import CALLS, ROLES, VARIABLE
from tests.attack.parallel import PART, Found, in_parallel
from tests.attack.process import Stop, observe

TWO_WORKERS = replace(RUN, words=("run", "toylab", "--profile", "cpu", "--jobs", "2"))
ANEW = {"TOY_COUNT": "6"}
"""More trials than the committed results have: there is work to do, and an older table."""
VERBS = (RUN, RUN, TWO_WORKERS, TWO_WORKERS, REPORT, EXPORT, IMPORT, Verb(words=("figures",)), PLOT)
READERS = (CHECK, STATUS, PLAN, TABLE, LONG)
ACCUSING = ("was changed", "is damaged", "is missing beside", "was edited", "does not match")
LONGEST_S = 2.5
"""A command on the small checkout is over by then."""


def attack_by_kills(seed: int, count: int, *, jobs: int) -> Found:
    """Kill so many commands; with a seed, those that die at a call do so at the same ones."""
    parts = [(f"{seed}-{start}", min(PART, count - start)) for start in range(0, count, PART)]
    return in_parallel(_kill_many, parts, jobs=jobs)


def _kill_many(part: tuple[str, int], template: Checkout) -> Found:
    seed, count = part
    found, number = Found(), itertools.count()
    calm = _calm(template, template.folder.parent / f"calm-{seed}")
    while found.cases.total() < count:
        name = f"{seed}-{next(number)}"
        folder = template.folder.parent / name
        try:
            _kill_one(random.Random(name), name, template.copy(folder), calm, found)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return found


def _calm(template: Checkout, folder: Path) -> dict[str, bytes]:
    """Return the tables and figures that an undisturbed run ends with."""
    checkout = template.copy(folder)
    seen = _observe(checkout, _case(RUN))
    if seen.code:
        raise RuntimeError(f"an undisturbed run ends with {seen.code}: {seen.err}")
    made = _made(checkout)
    shutil.rmtree(folder)
    return made


def _made(checkout: Checkout) -> dict[str, bytes]:
    paths = [*checkout.results(".cpu.csv"), *sorted((checkout.root / "figures").rglob("*.svg"))]
    return {str(path.relative_to(checkout.root)): path.read_bytes() for path in paths}


def _kill_one(
    dice: random.Random, name: str, checkout: Checkout, calm: dict[str, bytes], found: Found
) -> None:
    """Kill one command, read what it left, take it up; a command that ends first is no case."""
    case = _case(dice.choice(VERBS), str(checkout.archive))
    stop, how = _stop(dice, case)
    killed = _observe(checkout, case, stop=stop)
    if killed.code == 0:
        return
    wrong: list[str] = ["left process"] if killed.left else []
    told = [killed.err]
    # A worker that is just being started finds its runner gone: Python's own words, of no file.
    if "Traceback" in killed.err and not (
        "spawn_main" in killed.err and "harness" not in killed.err
    ):
        wrong.append("traceback")
    if killed.code is None:
        wrong.append("hang")
    for verb in dice.sample(READERS, 2):
        seen = _observe(checkout, _case(replace(verb, codes=(0,))))
        wrong += _after(case=_case(replace(verb, codes=(0,))), seen=seen, told=told)
    wrong += ["litter"] * bool(_litter(checkout))
    again = _observe(checkout, case)
    wrong += _after(case=replace(case, codes=(0,)), seen=again, told=told)
    if case.words[0] == "run" and _made(checkout) != calm:
        wrong.append("another table")
    if list(checkout.root.rglob("*.rejected-*")):
        wrong.append("damaged record")
    wrong += ["litter"] * bool(_litter(checkout))
    found.add(
        "kill", f"{name}: {how}: {case}", wrong, "\n".join([*told, *_litter(checkout)])[-3000:]
    )


def _stop(dice: random.Random, case: Case) -> tuple[Stop, str]:
    """Draw when and how a command dies."""
    if dice.random() < 0.6:
        role = dice.choice(ROLES) if "--jobs" in case.words else "runner"
        # Runs make some hundred such calls, other verbs a few.
        most = {"run": 120, "report": 30}.get(case.words[0], 6)
        number = max(1, int(most ** dice.random()))
        spec = f"{role} {dice.choice(CALLS)} {number} {dice.choice(('before', 'after'))}"
        return Stop(spec=spec), spec
    seconds = dice.random() * LONGEST_S
    number = dice.choice((signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
    group = dice.random() < 0.5
    whom = "the group" if group else "the runner"
    return Stop(seconds=seconds, signal=number, group=group), f"{number.name} to {whom}"


def _after(*, case: Case, seen: Seen, told: list[str]) -> list[str]:
    """Return what is wrong with a command on what a killed one left."""
    wrong: list[Fault] = faults(case, seen)
    if wrong:
        told.append(f"{case}: exit {seen.code}\n{seen.err}")
    return [
        *wrong,
        *(["accusation"] if any(word in seen.err + seen.out for word in ACCUSING) else []),
    ]


def _litter(checkout: Checkout) -> Sequence[str]:
    """Return temporary files that `git add -A` would take."""
    done = subprocess.run(
        ["git", "-C", str(checkout.root), "status", "--porcelain", "-uall"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = [line[3:] for line in done.stdout.splitlines()]
    return [name for name in names if Path(name).name.startswith(".") and name != ".gitignore"]


def _case(verb: Verb, archive: str = "") -> Case:
    words = tuple(word.replace("{archive}", archive) for word in verb.words)
    return Case(kind="kill", done="", words=words, codes=verb.codes, writes=verb.writes, env=ANEW)


def _observe(checkout: Checkout, case: Case, *, stop: Stop | None = None) -> Seen:
    streams = Path(tempfile.mkdtemp(prefix="streams-", dir=checkout.folder.parent))
    try:
        if stop is not None and stop.spec:
            case = replace(case, env={**case.env, VARIABLE: stop.spec})
        places = {"root": checkout.root, "packages": checkout.packages, "scratch": streams}
        return observe(case, **places, stop=stop)
    finally:
        shutil.rmtree(streams, ignore_errors=True)
