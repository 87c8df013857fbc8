"""The client of a judge: what it sends, tries again, gives up, and never gives away."""

from __future__ import annotations

import socket
from dataclasses import replace
from traceback import format_exception

import pytest

from harness.declare.experiment import Needs
from harness.errors import EnvError, HarnessError, RunError, UsageError
from harness.run.plan import lacking, probe_limits
from reproductions.lisa.mt_bench.judge import (
    Judge,
    Judgement,
    JudgeSettings,
    settings_from_environment,
)
from tests.reproductions.lisa.scripted_judge import (
    MODEL,
    Action,
    ScriptedJudge,
    body,
    completion,
    cut,
    hangs_up,
    says,
    settings,
    silent,
    status,
)

KEY = "sk-very-secret"
MESSAGES = [{"role": "user", "content": "Grade this."}]
PASSING = {"429": status(429), "503": status(503), "cut reply": cut, "hang-up": hangs_up}


def environment(url: str) -> dict[str, str]:
    """Return all settings of a judge; the key as a file with Windows line ends gives it."""
    return {
        "REPRO_JUDGE_URL": url,
        "REPRO_JUDGE_MODEL": "grader",
        "REPRO_JUDGE_KEY": f"{KEY}\r\n",
        "REPRO_JUDGE_TIMEOUT_S": "9.5",
    }


def ask(given: JudgeSettings) -> Judgement:
    with Judge(given) as judge:
        return judge.ask(MESSAGES)


def test_request_is_a_chat_completion(server: ScriptedJudge) -> None:
    server.script = [says("\x1b[2JGood. [[7]]")]
    given = settings_from_environment(environment(server.url))
    assert given.timeout_s == 9.5
    # What steers a terminal is no part of a judgement.
    assert ask(given) == Judgement(text="Good. [[7]]", judge=MODEL)
    (asked,) = server.asked
    assert asked.path == "/v1/chat/completions"
    assert asked.headers["Authorization"] == f"Bearer {KEY}"
    assert {name: asked.body[name] for name in ("model", "messages", "temperature")} == {
        "model": "grader", "messages": MESSAGES, "temperature": 0.0,
    }  # fmt: skip


@pytest.mark.parametrize("failure", PASSING.values(), ids=PASSING.keys())
def test_what_may_pass_is_tried_again(failure: Action, server: ScriptedJudge) -> None:
    server.script = [failure, says(None)]
    # No content is a judgement too: one without a grade.
    assert ask(settings(server.url)).text == ""
    assert len(server.asked) == 2


@pytest.mark.parametrize(
    ("action", "attempts", "error", "words"),
    [
        (status(401), 1, EnvError, "refuses the key .*: check REPRO_JUDGE_KEY"),
        (status(404), 1, EnvError, "no such endpoint or model .*: check REPRO_JUDGE_URL and"),
        (status(400, "prompt too long"), 1, RunError, "refuses the request .*prompt too long"),
        (status(503), 2, RunError, "gave no answer in 2 attempts .*: run again later"),
        (silent, 2, RunError, "gave no answer in 2 attempts .*timed out"),
        (body(b"<html>busy</html>"), 1, RunError, "sent no chat completion"),
        (body(b'{"choices": []}'), 1, RunError, "sent no chat completion"),
    ],
    ids=["401", "404", "400", "503", "silent", "no JSON", "no choices"],
)
def test_a_failure_is_one_sentence_that_says_what_to_do(
    action: Action, attempts: int, error: type[HarnessError], words: str, server: ScriptedJudge
) -> None:
    server.then = action
    with pytest.raises(error, match=words):
        ask(replace(settings(server.url), timeout_s=0.2 if action is silent else 5.0))
    assert len(server.asked) == attempts


def test_nobody_there_is_the_machine_s_lack() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(EnvError, match="cannot be reached: check REPRO_JUDGE_URL"):
        ask(settings(f"http://127.0.0.1:{port}/v1"))


def test_a_key_that_is_repeated_comes_back_nowhere(server: ScriptedJudge) -> None:
    said = f"your key is {KEY}"
    named = completion("[[7]]").replace(MODEL.encode(), said.encode())
    given = settings_from_environment(environment(server.url))
    seen = repr(given)
    for action in (says(said), body(named)):
        server.then = action
        seen += repr(ask(given))
    for action in (status(401, said), status(400, said)):
        server.then = action
        with pytest.raises(HarnessError) as caught:
            ask(given)
        seen += "".join(format_exception(caught.value))
    assert seen.count("***") == 4
    assert KEY not in seen


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("REPRO_JUDGE_URL", ""),
        ("REPRO_JUDGE_MODEL", ""),
        ("REPRO_JUDGE_URL", "judge.example/v1"),
        ("REPRO_JUDGE_KEY", "two words"),
        ("REPRO_JUDGE_TIMEOUT_S", "many"),
        ("REPRO_JUDGE_TIMEOUT_S", "0"),
    ],
)
def test_wrong_settings_are_named(name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for each, value in (environment("http://h/v1") | {name: text}).items():
        monkeypatch.setenv(each, value)
    with pytest.raises((EnvError, UsageError), match=name):
        settings_from_environment()
    # A plan asks for what the client needs.
    if "TIMEOUT" not in name:
        assert name in lacking(Needs(judge=True), probe_limits())
