"""One attack on one command, what was seen of it, and what counts as a fault."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

SECRET = "sk-attack-5cr3t-0123456789"
"""A key in the environment of every attack; no file and no stream may ever hold it."""
PASSWORD = "pa55word-of-attack"
"""What stands in URLs."""
LONGEST_MESSAGE = 3_000
"""Characters on stderr: one sentence, and room for what it names."""
CPU_LIMIT_S = 20
"""A command that computes longer on one of these small checkouts hangs, on any busy machine."""
TIME_LIMIT_S = 90.0
"""So does one that is there longer: it waits for what never comes."""

Streams = Literal["files", "closed stdout", "closed stderr", "full stdout", "full stderr", "pipe"]
Fault = Literal[
    "traceback",
    "no JSON",
    "hang",
    "signal",
    "exit code",
    "changed file",
    "secret",
    "left process",
    "essay",
    "accepted",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """A command, and what is wrong around it."""

    kind: str
    """What was attacked: `arguments`, `result CSV`, `archive`."""
    done: str
    """How, in words."""
    words: tuple[str, ...]
    """The command line after `repro`."""
    env: Mapping[str, str | None] = field(default_factory=dict)
    """Variables to set, or to take away."""
    streams: Streams = "files"
    encoding: str = "utf-8"
    """Of the output streams."""
    codes: tuple[int, ...] = (0, 2)
    """The exit codes that are right."""
    writes: tuple[str, ...] = ()
    """Folders and files of the checkout that the command may change."""
    damaged: tuple[str, ...] = ()
    """Names of what is damaged: one must be told, unless all that is printed is as without it."""

    def __str__(self) -> str:
        return f"{self.kind}: {self.done}: repro {' '.join(word[:60] for word in self.words)}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """What a command did."""

    code: int | None
    """Its exit code; negative for a signal; None where it had to be killed."""
    out: str
    err: str
    changed: tuple[str, ...] = ()
    """Files of the checkout that are others now."""
    leaks: tuple[str, ...] = ()
    """Where a secret stands."""
    left: int = 0
    """Processes that outlived it."""
    sound: str | None = None
    """What it prints where no file is damaged; None where that does not matter."""


def faults(case: Case, seen: Seen) -> list[Fault]:
    """Return what is wrong with what was seen.

    >>> case = Case(kind="arguments", done="none", words=("plan",))
    >>> faults(case, Seen(code=1, out="", err="Traceback (most recent call last):"))
    ['traceback', 'exit code']
    >>> faults(case, Seen(code=2, out="", err="repro: there is no task 'x'"))
    []
    >>> case = Case(kind="reference CSV", done="flip bits", words=("check",), damaged=("a.csv",))
    >>> faults(case, Seen(code=0, out="1 supported", err="", sound="1 not"))
    ['accepted']
    >>> faults(case, Seen(code=2, out="", err="repro: a.csv is torn", sound="1 not"))
    []
    """
    found: list[Fault] = []
    if "Traceback (most recent call last)" in seen.out + seen.err:
        found.append("traceback")
    if case.kind == "JSON" and seen.out.strip() and not _is_json(seen.out):
        found.append("no JSON")
    if seen.code is None:
        found.append("hang")
    elif seen.code < 0:
        found.append("signal")
    elif seen.code not in case.codes:
        found.append("exit code")
    if seen.changed:
        found.append("changed file")
    if seen.leaks or re.search(f"{SECRET}|{PASSWORD}", seen.out + seen.err):
        found.append("secret")
    if seen.left:
        found.append("left process")
    printed = " ".join((seen.out + seen.err).split())
    if seen.sound not in (None, seen.out) and not any(name in printed for name in case.damaged):
        found.append("accepted")
    if len(seen.err) > LONGEST_MESSAGE and seen.code not in (0, None):
        found.append("essay")
    return found


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True
