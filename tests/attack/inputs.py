"""Draw malformed inputs by kind, run them, and count what is wrong."""

from __future__ import annotations

import functools
import random
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.attack import arguments, files
from tests.attack.case import Case, Fault, Seen, faults
from tests.attack.checkout import Checkout, leaks, snapshot
from tests.attack.parallel import PART, Found, in_parallel
from tests.attack.process import observe

MADE = {"drawn.svg", "again.tar.gz"}
"""What commands are told to write outside their checkout."""
GENERATORS: dict[str, Callable[[Checkout, random.Random], Case]] = dict(
    [*arguments.generators(), *files.generators()]
)


def attack_inputs(seed: int, numbers: Sequence[int], *, jobs: int) -> Found:
    """Run the cases with these numbers; a number and a seed always give the same case."""
    parts = [(seed, numbers[start : start + PART]) for start in range(0, len(numbers), PART)]
    return in_parallel(_attack_part, parts, jobs=jobs)


def _attack_part(part: tuple[int, Sequence[int]], template: Checkout) -> Found:
    seed, numbers = part
    found = Found()
    for number in numbers:
        case, seen = run_case(seed, number, template)
        wrong: list[Fault] = faults(case, seen)
        detail = "\n".join([*seen.err.strip().splitlines()[-4:], *seen.changed, *seen.leaks])
        found.add(case.kind, f"#{number} {case}", wrong, f"exit {seen.code}\n{detail[-2000:]}")
    return found


def run_case(seed: int, number: int, template: Checkout) -> tuple[Case, Seen]:
    """Make one case on a copy of the checkout, and see what its command does."""
    dice = random.Random(f"{seed}-{number}")
    kinds = list(GENERATORS)
    folder = template.folder.parent / f"case-{number}"
    checkout = template.copy(folder)
    try:
        case = GENERATORS[kinds[number % len(kinds)]](checkout, dice)
        before = snapshot(checkout)
        streams = template.folder.parent / f"streams-{number}"
        streams.mkdir()
        seen = observe(case, root=checkout.root, packages=checkout.packages, scratch=streams)
        changed = _changed(case, before, snapshot(checkout))
        return case, Seen(
            code=seen.code, out=seen.out, err=seen.err, left=seen.left,
            changed=changed, leaks=leaks(checkout),
            sound=_printed_when_sound(case.words, template) if case.damaged else None,
        )  # fmt: skip
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        shutil.rmtree(template.folder.parent / f"streams-{number}", ignore_errors=True)


@functools.cache
def _printed_when_sound(words: tuple[str, ...], template: Checkout) -> str:
    """Return what a command prints on an untouched checkout."""
    with tempfile.TemporaryDirectory(prefix="sound-", dir=template.folder.parent) as folder:
        checkout, scratch = template.copy(Path(folder) / "checkout"), Path(folder)
        case = Case(kind="sound", done="", words=words)
        return observe(case, root=checkout.root, packages=checkout.packages, scratch=scratch).out


def _changed(case: Case, before: dict[str, str], after: dict[str, str]) -> tuple[str, ...]:
    """Return what a command changed that was not its to change."""
    names = [name for name in before.keys() | after.keys() if before.get(name) != after.get(name)]
    own = (*case.writes, *MADE)
    return tuple(sorted(n for n in names if not any(n == o or n.startswith(f"{o}/") for o in own)))
