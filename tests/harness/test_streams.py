"""Pipes that nobody reads, full disks and closed streams: the right exit code, no traceback."""

from __future__ import annotations

import subprocess

import pytest

from tests.harness.conftest import Cli
from tests.harness.forked import NOWHERE, Streams, forked
from tests.harness.run.test_faults import NOISE
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
    ("bench", "--stored"),
]
"""Every verb that prints results, in a checkout that has some."""
TELLING = [("plan", "toylab"), ("check", "toylab"), ("bench", "--stored")]
"""Those that also say something on stderr."""
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
def test_what_is_told_on_stderr_ends_no_verb(ran: ToyPaper, kind: str) -> None:
    for words in TELLING:
        whole = forked(ran, words, Streams())
        done = forked(ran, words, Streams(err=kind))
        assert (done.code, done.out) == (0, whole.out), (words, done)


@pytest.mark.parametrize("kind", ["gone", "full", "closed"])
@pytest.mark.parametrize("stream", ["out", "err"])
def test_a_run_needs_neither_stream(toy: ToyPaper, kind: str, stream: str) -> None:
    text = toy.trial.read_text()
    toy.trial.write_text(text.replace("def run(point, ctx):", f"def run(point, ctx):{NOISE}"))
    done = forked(toy, INLINE, Streams(**{stream: kind}))
    assert (done.code, done.out) == (0, b""), done
    assert len(toy.records()) == 12


def test_a_check_that_fails_says_so_into_a_closed_pipe_too(ran: ToyPaper) -> None:
    ran.task.write_text(
        ran.task.read_text()
        .replace("growth, 1.0", "growth, 1e9")
        .replace("by_theory(profiles=SMOKE_AND_CPU)", "CHECK")
    )
    assert forked(ran, ("check", "toylab"), Streams()).code == 1
    assert forked(ran, ("check", "toylab"), Streams(err="gone")).code == 1


def test_the_pipe_of_a_real_process(toy: ToyPaper) -> None:
    command = " ".join(toy.command("list", "toylab", "--json"))
    script = f"{command} | true; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(
        ["bash", "-c", script], env=toy.environment(), capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("0\n", "")


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
def test_a_letter_that_the_stream_lacks_is_written_by_its_number(
    toy: ToyPaper, encoding: str
) -> None:
    paper = toy.folder / "paper.toml"
    paper.write_text(paper.read_text().replace("Squares grow", "\\u2248 \\u03bcPar"))
    for words in (("list", "toylab"), ("list", "toylab", "--json"), ("--help",)):
        done = forked(toy, words, Streams(encoding=encoding))
        assert (done.code, "Traceback" in done.err) == (0, False), (words, done)
    listed = forked(toy, ("list", "toylab"), Streams(encoding=encoding)).out
    assert b"\\u2248" in listed


def test_a_user_without_home_and_without_an_entry_needs_no_cache(
    ran: ToyPaper, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("XDG_CACHE_HOME", "LOCALAPPDATA", "REPRO_CACHE"):
        monkeypatch.delenv(name, raising=False)
    for words in (("doctor",), ("data", "list"), ("plan", "toylab")):
        done = forked(ran, words, Streams(), HOME=NOWHERE)
        assert (done.code, "Traceback" in done.err) == (0, False), (words, done)
    done = forked(ran, ("data", "fetch", "cifar10"), Streams(), HOME=NOWHERE)
    assert done.code == 2 and "set REPRO_CACHE to a folder" in done.err
