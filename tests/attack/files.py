"""Attacks by files: each kind that the harness reads, damaged, and the verbs that read it."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.attack import damage
from tests.attack.case import Case
from tests.attack.checkout import Checkout
from tests.attack.damage import Damage

FAILED = (0, 1, 2, 3)
WRITTEN_BY_RUN = ("root/runs", "root/results", "root/figures")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verb:
    """A command, the exit codes that are right on damaged input, and what it may write."""

    words: tuple[str, ...]
    codes: tuple[int, ...] = (0, 2)
    writes: tuple[str, ...] = ()


AT_CPU = ("--profile", "cpu")
CHECK = Verb(words=("check", "toylab", *AT_CPU), codes=(0, 1, 2))
DEEP = Verb(words=("check", "toylab", *AT_CPU, "--deep"), codes=(0, 1, 2))
TABLE = Verb(words=("table", "toylab/fig01", *AT_CPU))
LONG = Verb(words=("table", "toylab/fig01", *AT_CPU, "--long", "--format", "csv"))
PLOT = Verb(words=("plot", "toylab/fig01", *AT_CPU, "--out", "../drawn.svg"))
PLAN = Verb(words=("plan", "toylab", *AT_CPU))
STATUS = Verb(words=("status", "toylab", *AT_CPU))
LIST = Verb(words=("list",))
EXPORT = Verb(words=("records", "export", "../again.tar.gz", "toylab", *AT_CPU), codes=(0, 2, 3))
REPORT = Verb(words=("report", "--site-only"), codes=(0, 1, 2), writes=("root/site",))
RUN = Verb(
    words=("run", "toylab", *AT_CPU, "--executor", "inline"), codes=FAILED, writes=WRITTEN_BY_RUN
)
IMPORT = Verb(words=("records", "import", "{archive}"), codes=(0, 2, 3), writes=("root/runs",))
DATA_LIST = Verb(words=("data", "list"))
DATA_VERIFY = Verb(words=("data", "verify"))
JUDGED_BY: dict[str, tuple[Verb, ...]] = {
    "result JSON": (CHECK, DEEP, TABLE, LONG),
    "pack of records": (DEEP, PLAN, STATUS),
    "reference CSV": (CHECK,),
    "deviations.toml": (CHECK,),
    "paper.toml": (CHECK,),
}
"""By kind of file the verbs whose answer rests on it: damage that changes a word must be told."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A kind of file, where it lies, what may happen to it, and who reads it."""

    kind: str
    find: Callable[[Checkout], list[Path]]
    damages: tuple[Damage, ...]
    verbs: tuple[Verb, ...]


def is_target(path: Path) -> bool:
    """Whether there is anything in a file to damage."""
    return path.is_file() and path.stat().st_size > 0


def _in(part: str, pattern: str) -> Callable[[Checkout], list[Path]]:
    def find(checkout: Checkout) -> list[Path]:
        return sorted(p for p in (checkout.folder / part).rglob(pattern) if is_target(p))

    return find


def _data_files(checkout: Checkout) -> list[Path]:
    found = _in("data", "*.*")(checkout)
    return [path for path in found if path.suffix not in (".toml", ".csv")]


READERS = (CHECK, TABLE, LONG, PLOT, REPORT)
TARGETS = (
    Target(
        kind="result CSV",
        find=_in("root/results", "*.cpu.csv"),
        damages=damage.BYTES + damage.KINDS + damage.TABLE,
        verbs=(*READERS, DEEP, RUN),
    ),
    Target(
        kind="result JSON",
        find=_in("root/results", "[!v]*.cpu.json"),
        damages=damage.BYTES + damage.KINDS + damage.JSON,
        verbs=(*READERS, DEEP, RUN),
    ),
    Target(
        kind="stored verdicts",
        find=_in("root/results", "verdicts.cpu.json"),
        damages=damage.BYTES + damage.KINDS + damage.JSON,
        verbs=(CHECK, DEEP, REPORT, RUN),
    ),
    Target(
        kind="pack of records",
        find=_in("root/results", "*.jsonl.gz"),
        damages=damage.BYTES + damage.KINDS + damage.JSON + damage.PACKED,
        verbs=(PLAN, STATUS, CHECK, DEEP, EXPORT, RUN),
    ),
    Target(
        kind="record",
        find=_in("root/runs/records", "*.json"),
        damages=damage.BYTES + damage.KINDS + damage.JSON,
        verbs=(PLAN, STATUS, EXPORT, RUN),
    ),
    Target(
        kind="reference CSV",
        find=_in("packages", "*.csv"),
        damages=damage.BYTES + damage.KINDS + damage.TABLE,
        verbs=(CHECK, TABLE, PLOT, REPORT, RUN),
    ),
    Target(
        kind="paper.toml",
        find=_in("packages", "paper.toml"),
        damages=damage.BYTES + damage.KINDS + damage.TOML,
        verbs=(LIST, CHECK, PLAN, REPORT),
    ),
    Target(
        kind="deviations.toml",
        find=_in("packages", "deviations.toml"),
        damages=damage.BYTES + damage.KINDS + damage.TOML,
        verbs=(LIST, CHECK, REPORT),
    ),
    Target(
        kind="task file",
        find=_in("packages/toylab/squares", "*.py"),
        damages=(*damage.BYTES, damage.missing, damage.dangling_link, damage.folder),
        verbs=(LIST, CHECK, PLAN, REPORT, STATUS),
    ),
    Target(
        kind="archive",
        find=lambda checkout: [checkout.archive],
        damages=damage.BYTES + damage.KINDS + damage.ARCHIVE,
        verbs=(IMPORT,),
    ),
    Target(
        kind="catalogue",
        find=_in("data", "catalogue.toml"),
        damages=damage.BYTES + damage.KINDS + damage.TOML,
        verbs=(DATA_LIST, DATA_VERIFY),
    ),
    Target(
        kind="data file",
        find=_data_files,
        damages=damage.BYTES + damage.KINDS + damage.PACKED,
        verbs=(DATA_VERIFY,),
    ),
)


def damaged(checkout: Checkout, dice: random.Random, target: Target) -> Case:
    """Damage a file of a kind, and return the command that meets it."""
    path = dice.choice(target.find(checkout))
    how = dice.choice(target.damages)
    before = path.read_bytes()
    how(path, dice)
    verb = dice.choice(target.verbs)
    is_whole = path.is_file() and path.stat().st_size == len(before) and path.read_bytes() == before
    # Whatever happens to a table, its verdicts must not stand as if nothing had.
    codes = (1,) if target.kind == "result CSV" and verb is CHECK and not is_whole else verb.codes
    words = tuple(word.replace("{archive}", str(checkout.archive)) for word in verb.words)
    env = {}
    if target.kind in ("catalogue", "data file"):
        env = {
            "REPRO_DATA": str(checkout.data),
            "REPRO_CATALOGUE": str(checkout.data / "catalogue.toml"),
        }
    done = f"{how.__name__.replace('_', ' ')} of {path.relative_to(checkout.folder)}"
    is_told = target.kind in JUDGED_BY and verb in JUDGED_BY[target.kind]
    # Of a pack, a check tells the very record.
    told = (path.name, "rests on the record") if is_told else ()
    return Case(
        kind=target.kind, done=done, words=words, env=env, codes=codes, writes=verb.writes,
        damaged=told,
    )  # fmt: skip


def generators() -> Iterator[tuple[str, Callable[[Checkout, random.Random], Case]]]:
    """Yield, by kind of file, what makes a case of it."""
    for target in TARGETS:
        yield target.kind, partial(damaged, target=target)
