"""Attacks by what a user types, sets or connects: arguments, variables, streams, places."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator, Mapping

from tests.attack.case import PASSWORD, SECRET, Case, Streams
from tests.attack.checkout import Checkout
from tests.attack.files import (
    AT_CPU,
    CHECK,
    EXPORT,
    LIST,
    LONG,
    PLAN,
    PLOT,
    REPORT,
    RUN,
    STATUS,
    TABLE,
    WRITTEN_BY_RUN,
    Verb,
)

ODD = (
    "", " ", "-", "--", "*", "[", "[!", "**/*", "toylab/", "/toylab", "toylab//fig01", "../toylab",
    "TOYLAB/FIG01", "toylab/fig1", "toylab/*0*", "\udcff", "\u202e\x1b[2J", "a\nb", "x" * 100_000,
    "supar/fig06 ", "${HOME}", "%s%s%n", "'; rm -rf .", "lisa", "~", "nan", "None", "0", "é",
)  # fmt: skip
EVERYTHING = ("*", "**/*", "lisa")
VALUES = (
    "nan", "inf", "-inf", "1e999", "abc", "", "=", "[1", "[" * 40_000, "9" * 6_000, "{}", "null",
    "true", "[1,2]", "[1,[2]]", '"a"', "-1", "1.5", "1e3", "0x1", "\uff11", "1_000", " 1",
    "x" * 100_000,
)  # fmt: skip
NUMBERS = ("-1", "0", "1e9", "100000000", "9" * 400, "nan", "", "two", "3.5", "\uff11")
NAMES = ("x", "seed", "ms", "mode", "colour", "", "__class__", "x.y", "seeds", "é")
OUTS = (
    "", ".", "..", "/", "../nowhere/a.svg", "results", "a/b/c/d.svg", "x" * 300,
    "é.svg", "a\nb.svg", "/proc/self/mem", "results/toylab/fig01.cpu.csv", "figures/a.svg/b",
)  # fmt: skip
READING = (CHECK, TABLE, LONG, PLOT, PLAN, STATUS, LIST, EXPORT, REPORT)


def selectors(checkout: Checkout, dice: random.Random) -> Case:
    """Name what is not there, or name it strangely."""
    verb = dice.choice((CHECK, TABLE, PLOT, PLAN, STATUS, RUN, EXPORT))
    odd = dice.choice(ODD)
    if odd in EVERYTHING and verb is RUN:  # it would do as it is told, for an hour
        verb = PLAN
    words = tuple(odd if word.startswith("toylab") else word for word in verb.words)
    codes = (*verb.codes, 3)
    # What it names may be there; then it is done.
    return _case("selector", repr(odd)[:60], words, codes, verb.writes)


def options(checkout: Checkout, dice: random.Random) -> Case:
    """Give an option a value that it cannot take, or one far too large."""
    name = dice.choice(
        (
            "--profile",
            "--set",
            "--seeds",
            "--jobs",
            "--format",
            "--width",
            "--kind",
            "--time-budget",
            "--sample",
            "--executor",
            "--out",
        )
    )
    value = {
        "--set": lambda: f"{dice.choice(NAMES)}={dice.choice(VALUES)}",
        "--seeds": lambda: dice.choice(NUMBERS),
        "--jobs": lambda: dice.choice(NUMBERS),
        "--sample": lambda: dice.choice(NUMBERS),
    }.get(name, lambda: dice.choice(ODD))()
    verb = dice.choice((CHECK, TABLE, PLOT, PLAN, PLAN, STATUS, RUN))
    words = (*verb.words, name, value)
    writes = (*verb.writes, "root") if name == "--out" else verb.writes
    return _case("option", f"{name} {value!r}"[:60], words, (0, 1, 2, 3), writes)


def places(checkout: Checkout, dice: random.Random) -> Case:
    """Write to where nothing can be written, or where something is."""
    verb = dice.choice((TABLE, LONG, PLOT, EXPORT))
    head = verb.words[: verb.words.index("--out")] if "--out" in verb.words else verb.words
    out = dice.choice((*OUTS, *(str(path) for path in checkout.results(".json"))))
    asked = ("root/a", "root/é.svg", "root/a\nb.svg", "root/x", "root/figures/a.svg", "nowhere")
    return _case("--out", repr(out)[:60], (*head, "--out", out), (0, 2, 3), asked)


def variables(checkout: Checkout, dice: random.Random) -> Case:
    """Set a variable to what it cannot be."""
    name = dice.choice((
        "REPRO_ROOT", "REPRO_DATA", "REPRO_CATALOGUE", "MPLBACKEND", "COLUMNS", "TERM", "TMPDIR",
        "HF_HOME", "PYTHONHASHSEED", "LC_ALL", "NO_COLOR", "OMP_NUM_THREADS", "TZ",
    ))  # fmt: skip
    values = (
        None,
        "",
        str(checkout.folder / "nowhere"),
        "/dev/null",
        "/dev/zero",
        "x" * 300,
        "nosuch",
        "-1",
        "~",
        "é",
        str(checkout.archive),
        "/proc/self",
        "a\tb",
    )
    value = dice.choice(values)
    verb = dice.choice((*READING, RUN, Verb(words=("doctor",)), Verb(words=("data", "list"))))
    writes = (*verb.writes, "root") if verb is RUN else verb.writes
    # A library may make its own folder there, and ours may not.
    writes = writes if name.startswith("REPRO_") else (*writes, "nowhere")
    return _case(
        "variable",
        f"{name}={value!r}"[:60],
        verb.words,
        (*verb.codes, 3),
        writes,
        env={name: value},
    )


def streams(checkout: Checkout, dice: random.Random) -> Case:
    """Close, fill or narrow what the command writes to."""
    verb = dice.choice((*READING, RUN, Verb(words=("doctor",)), Verb(words=("data", "list"))))
    how: Streams = dice.choice(
        ("closed stdout", "closed stderr", "full stdout", "full stderr", "pipe", "files")
    )
    encoding = dice.choice(("latin-1", "ascii", "cp1252", "utf-16")) if how == "files" else "utf-8"
    as_json = ("--json",) if verb in (CHECK, PLAN, STATUS, LIST) and dice.random() < 0.3 else ()
    return Case(
        kind="stream", done=f"{how} {encoding}", words=(*verb.words, *as_json), streams=how,
        encoding=encoding, codes=(*verb.codes, 3), writes=verb.writes,
    )  # fmt: skip


def secrets(checkout: Checkout, dice: random.Random) -> Case:
    """Give keys and passwords, whole and broken, to verbs that fail."""
    key = SECRET + dice.choice(("", "\r", "\n", " ", "\r\n", "\x00"[:0], "é", "\t"))
    env = {
        "REPRO_JUDGE_KEY": key,
        "REPRO_JUDGE_MODEL": "a-model",
        "REPRO_JUDGE_URL": f"http://user:{PASSWORD}@127.0.0.1:9/v1",
        "HF_TOKEN": SECRET,
        "https_proxy": f"http://user:{PASSWORD}@127.0.0.1:9",
    }
    verb = dice.choice(
        (
            Verb(words=("doctor",)),
            RUN,
            PLAN,
            Verb(words=("plan", "lisa/tab03", *AT_CPU)),
            Verb(words=("run", "lisa/tab03", "--profile", "smoke", "--jobs", "1", "--dry-run")),
            Verb(words=("data", "fetch", "cifar10")),
        )
    )
    return _case(
        "secret", repr(key[-3:]), verb.words, (0, 2, 3), (*verb.writes, "root/runs"), env=env
    )


def words_of_json(checkout: Checkout, dice: random.Random) -> Case:
    """Ask for JSON of odd things: what is printed must be JSON or nothing."""
    verb, odd = dice.choice(("list", "plan", "status", "check")), dice.choice(ODD)
    scale = AT_CPU if dice.random() < 0.5 else ()
    return _case("JSON", json.dumps(odd)[:60], (verb, odd, *scale, "--json"), (0, 1, 2))


def working_folder(checkout: Checkout, dice: random.Random) -> Case:
    """Put odd files where libraries look for theirs."""
    name, text = dice.choice(
        (
            ("matplotlibrc", "\udcff: ["),
            ("matplotlibrc", "backend: nosuch\n"),
            ("conftest.py", "raise X"),
            ("sitecustomize.py", ""),
            (".env", "A=B"),
            ("pyproject.toml", "[["),
        )
    )
    (checkout.root / name).write_bytes(os.fsencode(text))
    verb = dice.choice((PLOT, RUN, CHECK, REPORT))
    return _case(
        "working folder", f"{name} of {text[:20]!r}", verb.words, (*verb.codes, 3), verb.writes
    )


def _case(
    kind: str,
    done: str,
    words: tuple[str, ...],
    codes: tuple[int, ...],
    writes: tuple[str, ...] = (),
    env: Mapping[str, str | None] | None = None,
) -> Case:
    if words[0] == "run":
        writes = (*writes, *WRITTEN_BY_RUN)
    return Case(kind=kind, done=done, words=words, codes=codes, writes=writes, env=env or {})


def generators() -> Iterator[tuple[str, Callable[[Checkout, random.Random], Case]]]:
    """Yield, by what is attacked, what makes a case of it."""
    for make in (
        selectors,
        options,
        places,
        variables,
        streams,
        secrets,
        words_of_json,
        working_folder,
    ):
        yield make.__name__.replace("_", " "), make
