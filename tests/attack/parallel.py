"""Run attacks in several processes, which commands are forked from; add up what they find."""

from __future__ import annotations

import os
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from tests.attack.checkout import Checkout, make_checkout
from tests.attack.process import warm_up
from tests.checkout import ROOT

PART = 40
"""Cases that a process runs before it tells what it found."""


@dataclass(slots=True)
class Found:
    """What an attack came to: cases by kind, faults by name, and each case with a fault."""

    cases: Counter[str] = field(default_factory=Counter)
    faults: Counter[str] = field(default_factory=Counter)
    told: list[str] = field(default_factory=list)

    def add(self, kind: str, name: str, wrong: Sequence[str], detail: str = "") -> None:
        self.cases[kind] += 1
        self.faults.update(wrong)
        if wrong:
            self.told.append(f"{name}: {', '.join(wrong)}\n{detail}".rstrip())

    def join(self, other: Found) -> None:
        self.cases += other.cases
        self.faults += other.faults
        self.told += other.told


def in_parallel(
    attack: Callable[[Any, Checkout], Found], parts: Sequence[Any], *, jobs: int
) -> Found:
    """Run every part of an attack on one checkout's copies, and tell how far it is."""
    found = Found()
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        template = make_checkout(Path(folder) / "template")
        with ProcessPoolExecutor(
            jobs, mp_context=get_context("spawn"), initializer=prepare
        ) as pool:
            for done in as_completed([pool.submit(attack, part, template) for part in parts]):
                part = done.result()
                found.join(part)
                told = f"{found.cases.total()} cases, {len(found.told)} with a fault"
                print(*part.told, told, sep="\n", file=sys.stderr, flush=True)
    return found


def prepare() -> None:
    """Make this process one that commands can be forked from."""
    os.environ.update(
        {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONDONTWRITEBYTECODE": "1"}
    )
    os.environ["PYTHONPATH"] = str(ROOT)
    for name in [name for name in os.environ if name.startswith("REPRO_")]:
        del os.environ[name]
    warm_up()
