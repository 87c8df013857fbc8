"""Pipes that nobody reads, full disks and closed streams: the right exit code, no traceback."""

from __future__ import annotations

import pytest

from tests.harness.conftest import Cli
from tests.harness.forked import Streams, forked
from tests.harness.toy_paper import ToyPaper

PRINTING = [
    ("--help",),
    ("run", "--help"),
    ("list",),
    ("list", "--json"),
    ("plan", "toylab"),
    ("status", "toylab"),
    ("check", "toylab"),
    ("table", "toylab/tab01"),
    ("doctor",),
    ("data", "list"),
    ("data", "--help"),
]
"""Every verb that prints results, in a checkout that has some."""
NOISE = """
    import sys
    for stream in (sys.stdout, sys.stderr):
        print("a library's greeting" * 10_000, file=stream, flush=True)
"""
INLINE = ("run", "toylab/tab01", "--executor", "inline")


@pytest.fixture
def ran(toy: ToyPaper, cli: Cli) -> ToyPaper:
    """Return the toy paper with results at smoke."""
    assert cli(*INLINE).code == 0
    return toy


def test_a_pipe_without_a_reader_ends_a_verb_with_0_and_quietly(ran: ToyPaper) -> None:
    for words in PRINTING:
        done = forked(ran, words, Streams(out="gone"))
        # What a verb tells on stderr beside its results, it may tell.
        assert (done.code, "rror" in done.err) == (0, False), (words, done)


@pytest.mark.parametrize(("kind", "why"), [("full", "No space left"), ("closed", "Bad file")])
def test_results_that_cannot_be_written_are_one_sentence(
    ran: ToyPaper, kind: str, why: str
) -> None:
    for words in PRINTING:
        done = forked(ran, words, Streams(out=kind))
        last = done.err.strip().splitlines()[-1:] or [""]
        assert (done.code, last[0][:7]) == (3, "repro: "), (words, done)
        assert why in last[0] and "Traceback" not in done.err, (words, done)


@pytest.mark.parametrize("kind", ["gone", "full", "closed"])
@pytest.mark.parametrize("stream", ["out", "err"])
def test_a_run_needs_neither_stream(toy: ToyPaper, kind: str, stream: str) -> None:
    text = toy.trial.read_text()
    toy.trial.write_text(text.replace("def run(point, ctx):", f"def run(point, ctx):{NOISE}"))
    done = forked(toy, INLINE, Streams(**{stream: kind}))
    assert (done.code, done.out) == (0, b""), done
    assert len(toy.records()) == 12
