"""The client of a judge: what it sends, tries again, waits for, gives up, and never gives away."""

from __future__ import annotations

import math
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.declare.experiment import Needs
from harness.errors import EnvError, HarnessError, RunError, UsageError
from harness.run.plan import lacking, probe_limits
from harness.settings import JUDGE_MODEL, JUDGE_URL
from reproductions.lisa.mt_bench import judge as judge_module
from reproductions.lisa.mt_bench.judge import Reply, settings_from_environment
from tests.reproductions.lisa.scripted_judge import (
    MESSAGES,
    MODEL,
    Action,
    ScriptedJudge,
    ask,
    body,
    completion,
    cut,
    hangs_up,
    says,
    scripted_judge,
    settings,
    silent,
    status,
)

KEY = "sk-very-secret"


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture
def server() -> Iterator[ScriptedJudge]:
    with scripted_judge() as judge:
        yield judge


class Clock:
    """A clock that the judge's sleeps alone move, for each thread on its own.

    What is asked for, no load of the machine can stretch or shrink.
    """

    def __init__(self) -> None:
        self.slept_s: list[float] = []
        """By all threads, in the order in which they went to sleep."""
        self.woke: list[float] = []
        """When each of them woke."""
        self._of_thread = threading.local()

    def time(self) -> float:
        return float(getattr(self._of_thread, "now", 1e6))

    def sleep(self, seconds: float) -> None:
        self._of_thread.now = self.time() + seconds
        self.slept_s.append(seconds)
        self.woke.append(self._of_thread.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    stand_in = SimpleNamespace(time=clock.time, sleep=clock.sleep)
    monkeypatch.setattr(judge_module, "time", stand_in)
    return clock


def test_request_is_a_chat_completion(server: ScriptedJudge, tmp_path: Path) -> None:
    server.script = [says("Good. [[7]]")]
    reply = ask(settings(f"{server.url}/", key=KEY), tmp_path)
    assert reply == Reply(text="Good. [[7]]", model=MODEL)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert {name: asked.body[name] for name in ("model", "messages", "temperature")} == {
        "model": "grader", "messages": MESSAGES, "temperature": 0.0,
    }  # fmt: skip


def test_without_a_key_none_is_sent_not_even_one_of_the_machine(
    server: ScriptedJudge, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login me password mine\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(netrc))
    ask(settings(server.url), tmp_path)
    assert "Authorization" not in server.asked[0].headers


def soon(code: int) -> Action:
    """Answer with an error that asks for another attempt at once."""
    return status(code, retry_after_ms="10")


PASSING: dict[str, Action] = {
    "408": soon(408),
    "429": soon(429),
    "500": soon(500),
    "503": soon(503),
    "cut reply": cut("Good. [[9]]"),
    "hang-up": hangs_up,
}
NO_COMPLETION: dict[str, Action] = {
    "half a JSON": body(completion("Good. [[9]]")[:-9]),
    "no JSON": body(b"<html>busy</html>"),
    "no choices": body(b'{"choices": []}'),
    "not a list": body(b'{"choices": {"message": 3}}'),
    "a bare number": body(b"7"),
    "empty body": body(b""),
    "content is no text": says([{"type": "text"}]),
}


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING.keys())
def test_what_may_pass_is_tried_again(
    failure: Action, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.script = [failure, says("Good. [[7]]")]
    assert ask(settings(server.url), tmp_path).text == "Good. [[7]]"
    assert len(server.asked) == 2


@pytest.mark.parametrize("failure", [PASSING["503"], PASSING["hang-up"]], ids=["503", "hang-up"])
def test_attempts_are_bounded(failure: Action, server: ScriptedJudge, tmp_path: Path) -> None:
    server.then = failure
    with pytest.raises(RunError, match=r"in the last of 2 attempts: run again later"):
        ask(settings(server.url, max_retries=1), tmp_path)
    assert len(server.asked) == 2


@pytest.mark.timing
@pytest.mark.parametrize("waits", [("0", "-1"), ("1",)], ids=["none named", "a second"])
def test_a_judge_is_given_time(waits: Sequence[str], server: ScriptedJudge, tmp_path: Path) -> None:
    """What it asks for, or else some: all attempts at once would be spent before it is back.

    A load only makes it longer.
    """
    server.script = [status(429, retry_after=wait) for wait in waits]
    began = time.monotonic()
    assert ask(settings(server.url), tmp_path).text == "It will do. [[5]]"
    assert time.monotonic() - began >= 1.0
    assert len(server.asked) == 1 + len(waits)


@pytest.mark.parametrize("reply", NO_COMPLETION.values(), ids=NO_COMPLETION.keys())
def test_a_reply_that_is_no_completion_is_no_rating(
    reply: Action, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = reply
    with pytest.raises(RunError, match="sent no chat completion"):
        ask(settings(server.url), tmp_path)


def test_silence_is_given_up_after_the_timeout(server: ScriptedJudge, tmp_path: Path) -> None:
    """The judge would be silent for ten minutes; whoever waits for it is seen to hang."""
    server.then = silent(600.0)
    with pytest.raises(RunError, match=r"gave no whole answer in 0\.2 s"):
        ask(settings(server.url, timeout_s=0.2, max_retries=1), tmp_path)
    assert len(server.asked) == 2


def test_silence_that_ends_is_forgotten(server: ScriptedJudge, tmp_path: Path) -> None:
    server.script = [silent(600.0), says("[[3]]")]
    assert ask(settings(server.url, timeout_s=1.0), tmp_path).text == "[[3]]"


@pytest.mark.parametrize(
    ("action", "error", "words"),
    [
        (status(401), EnvError, "refuses the key"),
        (status(403), EnvError, "refuses the key"),
        (status(404), EnvError, "no such endpoint or model"),
        (status(301, Location="http://127.0.0.1:9/v1"), EnvError, "no such endpoint or model"),
        (status(400, "prompt too long"), RunError, "prompt too long"),
        (status(422), RunError, "refuses the request"),
    ],
    ids=["401", "403", "404", "301", "400", "422"],
)
def test_a_refusal_is_final_and_says_what_to_do(
    action: Action, error: type[HarnessError], words: str, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = action
    with pytest.raises(error, match=words):
        ask(settings(server.url), tmp_path)
    assert len(server.asked) == 1


def test_nobody_there_is_the_machine_s_lack(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EnvError, match="cannot be reached: check REPRO_JUDGE_URL"):
        ask(settings(f"http://127.0.0.1:{port}/v1", max_retries=1), tmp_path)


def test_content_may_be_missing_or_broken_unicode(server: ScriptedJudge, tmp_path: Path) -> None:
    server.script = [says(None), says("\ud83d [[4]]")]
    assert ask(settings(server.url), tmp_path).text == ""
    assert ask(settings(server.url), tmp_path).text == "? [[4]]"


def test_rate_is_kept(server: ScriptedJudge, tmp_path: Path, clock: Clock) -> None:
    ask(settings(server.url, per_minute=300.0), tmp_path, times=4)
    # The file that keeps the pace stores a float's worth of a second.
    assert clock.slept_s == pytest.approx([0.0, 0.2, 0.2, 0.2], abs=1e-6)
    assert len(server.asked) == 4


def test_rate_holds_over_workers_and_failures(
    server: ScriptedJudge, tmp_path: Path, clock: Clock
) -> None:
    server.script = [soon(500)] * 2
    given = settings(server.url, per_minute=300.0)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: ask(given, tmp_path), range(3)))
    starts = sorted(set(clock.woke))
    assert len(server.asked) == len(starts) == 5
    gaps_s = [after - before for before, after in pairwise(starts)]
    assert gaps_s == pytest.approx([0.2] * 4, abs=1e-6)


def test_settings_come_from_the_environment() -> None:
    given = {"REPRO_JUDGE_URL": "http://h/v1", "REPRO_JUDGE_MODEL": "m"}
    plain = settings_from_environment(given)
    assert (plain.url, plain.model, plain.key) == ("http://h/v1", "m", "")
    assert math.isinf(plain.per_minute)
    more = {"REPRO_JUDGE_KEY": KEY, "REPRO_JUDGE_PER_MINUTE": "20", "REPRO_JUDGE_TIMEOUT_S": "9.5"}
    full = settings_from_environment({**given, **more})
    assert (full.key, full.per_minute, full.timeout_s) == (KEY, 20.0, 9.5)


@pytest.mark.parametrize(
    "changed",
    [
        {"REPRO_JUDGE_URL": ""},
        {"REPRO_JUDGE_MODEL": ""},
        {"REPRO_JUDGE_URL": "judge.example/v1"},
        {"REPRO_JUDGE_PER_MINUTE": "many"},
        {"REPRO_JUDGE_PER_MINUTE": "0"},
        {"REPRO_JUDGE_TIMEOUT_S": "nan"},
    ],
    ids=str,
)
def test_wrong_settings_are_named(changed: dict[str, str]) -> None:
    given = {"REPRO_JUDGE_URL": "http://h/v1", "REPRO_JUDGE_MODEL": "m"}
    (name,) = changed
    with pytest.raises((EnvError, UsageError), match=name):
        settings_from_environment({**given, **changed})


def test_a_plan_asks_for_the_settings_that_the_client_needs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in (JUDGE_URL, JUDGE_MODEL):
        monkeypatch.setenv(name, "http://h/v1")
    assert lacking(Needs(judge=True), probe_limits()) == ""
    settings_from_environment()
    monkeypatch.setenv("REPRO_JUDGE_KEY", "two words")
    assert "needs a judge model: REPRO_JUDGE_KEY is no key" in lacking(
        Needs(judge=True), probe_limits()
    )
    for name in (JUDGE_URL, JUDGE_MODEL):
        with monkeypatch.context() as patch:
            patch.delenv(name)
            assert name in lacking(Needs(judge=True), probe_limits())
            with pytest.raises(EnvError, match=name):
                settings_from_environment()
