"""A judge that repeats the key, never ends, or sends what breaks a reader; keys with odd ends."""

from __future__ import annotations

import json
import string
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from traceback import format_exception
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import settings as budget
from hypothesis import strategies as st

from harness import outgoing
from harness.errors import HarnessError, RunError, UsageError
from reproductions.lisa.mt_bench.grading import Grades
from reproductions.lisa.mt_bench.judge import Judge, JudgeSettings, settings_from_environment
from tests.reproductions.lisa.scripted_judge import (
    MESSAGES,
    Action,
    ScriptedJudge,
    ask,
    body,
    completion,
    says,
    scripted_judge,
    send,
    settings,
    status,
)

KEY = "sk-very-secret-7f3a"
ODD = string.ascii_letters + string.digits + string.punctuation
KEYS = st.text(ODD, min_size=8, max_size=24)
ANYTHING = st.text(max_size=40)


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask no proxy, and let no key of one test be masked in another."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr(outgoing, "_registered", set())


@pytest.fixture(scope="module")
def server() -> Iterator[ScriptedJudge]:
    with scripted_judge() as judge:
        yield judge


def told(server: ScriptedJudge, **more: Any) -> JudgeSettings:
    return settings(server.url, **{"key": KEY, "max_retries": 0} | more)


@pytest.mark.parametrize("end", ["\r", "\n", "\r\n", " "])
def test_a_line_end_of_the_key_s_file_is_no_part_of_it(
    end: str, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = says("[[7]]")
    assert ask(told(server, key=f"{KEY}{end}"), tmp_path).text == "[[7]]"
    assert server.asked[-1].headers["Authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize(
    "key", ["sk-very\rsecret", "sk-very secret", "sk-verys\x07cret", "sk-é" * 3]
)
def test_a_key_that_no_header_carries_is_refused_unseen(key: str) -> None:
    given = {"REPRO_JUDGE_URL": "http://h/v1", "REPRO_JUDGE_MODEL": "m", "REPRO_JUDGE_KEY": key}
    with pytest.raises(UsageError, match="REPRO_JUDGE_KEY is no key") as caught:
        settings_from_environment(given)
    assert "sk-" not in "".join(format_exception(caught.value))


@pytest.mark.parametrize(
    "url",
    [
        "http://me:hidden-word@h/v1",
        "https://hidden-word@h/v1",
        "http://h/v1?key=hidden-word",
        "http://h/v1#hidden-word",
        "http://me:hidden-word@h:port/v1",
        "http://[hidden-word/v1",
        "http://h/hidden-word\x1b[2J",
        "ftp://hidden-word/v1",
    ],
)
def test_a_url_with_more_than_a_place_is_refused_unseen(url: str) -> None:
    with pytest.raises(UsageError, match="REPRO_JUDGE_URL") as caught:
        settings_from_environment({"REPRO_JUDGE_URL": url, "REPRO_JUDGE_MODEL": "m"})
    assert "hidden-word" not in "".join(format_exception(caught.value))


def trickling(piece: bytes, pieces: int, *, head: bytes = b"") -> Action:
    """Answer a piece every twentieth of a second, never silent, and a completion in the end."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        whole = head + piece * pieces + completion("[[7]]")
        send(handler, 200, b"", length=len(whole))
        try:
            for _ in range(pieces):
                handler.wfile.write(piece)
                time.sleep(0.05)
            handler.wfile.write(completion("[[7]]"))
        except OSError:
            handler.close_connection = True

    return answer


def trickling_head(handler: BaseHTTPRequestHandler) -> None:
    """Send one header after the other, never silent."""
    try:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
        for number in range(80):
            handler.wfile.write(b"X-%d: 1\r\n" % number)
            time.sleep(0.05)
    except OSError:
        handler.close_connection = True


@pytest.mark.parametrize("action", [trickling(b" ", 80), trickling_head], ids=["body", "head"])
def test_an_answer_that_never_ends_is_given_up(
    action: Action, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = action
    with pytest.raises(RunError, match=r"gave no whole answer in 0\.3 s"):
        ask(told(server, timeout_s=0.3), tmp_path)


def test_a_reply_is_read_up_to_a_limit(server: ScriptedJudge, tmp_path: Path) -> None:
    server.then = body(b" " * 2**21 + completion("[[7]]"))
    with pytest.raises(RunError, match="longer than 1048576 bytes"):
        ask(told(server), tmp_path)


def test_a_packed_reply_is_not_unpacked(server: ScriptedJudge, tmp_path: Path) -> None:
    import gzip

    packed = gzip.compress(b" " * 2**23 + completion("[[7]]"))
    server.then = lambda handler: send(handler, 200, packed, headers={"Content-Encoding": "gzip"})
    with pytest.raises(RunError, match="sent no chat completion"):
        ask(told(server), tmp_path)
    assert server.asked[-1].headers["Accept-Encoding"] == "identity"


BREAKING: dict[str, Action] = {
    "nested": body(b"[" * 200_000),
    "nested inside": body(b'{"choices": ' + b'{"a":' * 100_000),
    "nested error": lambda handler: send(handler, 500, b"[" * 200_000),
    "year": status(429, retry_after="Fri, 31 Dec 99999999999 23:59:59 GMT"),
    "digits": body(b'{"choices": ' + b"9" * 5000 + b"}"),
    "number": body(b'{"choices": [{"index": 1e999, "message": {"content": "[[7]]"}}], "model": 3}'),
    "charset": lambda handler: send(
        handler, 200, b"x", headers={"Content-Type": "a/b; charset=hex"}
    ),
}


@pytest.mark.parametrize("action", BREAKING.values(), ids=BREAKING.keys())
def test_what_breaks_a_reader_is_one_sentence(
    action: Action, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = action
    try:
        ask(told(server), tmp_path)
    except HarnessError as error:
        assert str(error).startswith("the judge at ")


def test_no_escape_of_the_terminal_comes_through(server: ScriptedJudge, tmp_path: Path) -> None:
    said = "\x1b]0;owned\x07\x1b[2J\u202e gone".encode()
    server.then = lambda handler: send(handler, 400, said)
    with pytest.raises(RunError) as caught:
        ask(told(server), tmp_path)
    server.then = says("\x1b[2Jfine \x9b31m [[7]]")
    reply = ask(told(server), tmp_path)
    assert reply.text == "fine ?31m [[7]]"
    for text in (str(caught.value), reply.text):
        assert text.isprintable(), ascii(text)


def test_what_is_kept_on_disk_holds_no_key(server: ScriptedJudge, tmp_path: Path) -> None:
    server.then = says(f"Your key is {KEY}. [[7]]")
    with Judge(told(server), pace_file=tmp_path / "pace") as judge:
        judgement = Grades(judge, tmp_path / "kept.jsonl").grade(MESSAGES)
    assert judgement.text == "Your key is ***. [[7]]"
    assert KEY not in (tmp_path / "kept.jsonl").read_text()


def replies(key: str, before: str, after: str) -> list[Action]:
    """Return ways to repeat a key: in a judgement, as who answers, in an error, in no JSON."""
    said = f"{before}{key}{after}"
    named = json.loads(completion("[[7]]")) | {"model": said}
    plain = said.encode(errors="replace")
    return [
        says(said),
        body(json.dumps(named).encode()),
        status(400, said),
        body(plain),
        lambda handler: send(handler, 401, plain),
        body(json.dumps({"choices": said}).encode()),
    ]


@budget(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(key=KEYS, before=ANYTHING, after=ANYTHING, kind=st.integers(0, 5))
def test_a_key_that_is_repeated_comes_back_nowhere(
    key: str, before: str, after: str, kind: int, server: ScriptedJudge, tmp_path: Path
) -> None:
    server.then = replies(key, before, after)[kind]
    given = told(server, key=key)
    try:
        reply = ask(given, tmp_path)
        seen = reply.text + reply.model + repr(reply)
    except HarnessError as error:
        seen = "".join(format_exception(error)) + repr(error)
    for spelling in (key, json.dumps(key)[1:-1], repr(key)[1:-1]):
        assert spelling not in seen + repr(given)


@example(url="https://{}@h", word="/", key="0", model="")
@given(
    url=st.sampled_from(
        ["http://h/v1", "http://me:{}@h/v1", "https://{}@h", "http://h?k={}", "{}"]
    ),
    word=st.text(),
    key=st.text(),
    model=st.text(),
)
def test_no_setting_shows_a_secret(url: str, word: str, key: str, model: str) -> None:
    word, key = f"pw-{word}-zq7", f"sk-{key}-zq8"
    environment = {
        "REPRO_JUDGE_URL": url.format(word),
        "REPRO_JUDGE_MODEL": f"m{model}",
        "REPRO_JUDGE_KEY": key,
    }
    try:
        shown = repr(settings_from_environment(environment))
    except HarnessError as error:
        shown = repr(error) + "".join(format_exception(error))
    for secret in (word, key, "zq7", "zq8"):
        assert secret not in shown
