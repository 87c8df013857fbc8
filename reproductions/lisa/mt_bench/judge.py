"""A judge model behind any endpoint that speaks OpenAI's chat completions.

Settings come from the environment:

- `REPRO_JUDGE_URL`: base URL, such as `http://127.0.0.1:8000/v1`, without user or password;
- `REPRO_JUDGE_MODEL`: the model to ask for;
- `REPRO_JUDGE_KEY`: sent as bearer token, where the endpoint wants one; it is stored nowhere;
- `REPRO_JUDGE_PER_MINUTE`: most requests a minute, of all workers together; no limit without it;
- `REPRO_JUDGE_TIMEOUT_S`: how long one attempt may take to its last byte, 120 s without it.

What an endpoint sends is a stranger's: its size and its time are limited, and neither the key nor
a control character in it goes further than here.
"""

from __future__ import annotations

import asyncio
import importlib
import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from filelock import FileLock

from harness.errors import EnvError, RunError, UsageError
from harness.outgoing import tidy
from harness.settings import (
    JUDGE_KEY,
    JUDGE_MODEL,
    JUDGE_URL,
    checked_key,
    checked_name,
    checked_url,
)

Message = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""

MAX_REPLY_TOKENS = 2048
LONGEST_QUEUE = 64
"""Requests that may wait for their turn; a later turn is one that a changed clock left behind."""
MOST_REPLY_BYTES = 2**20
SHOWN_CHARS = 200
"""Characters of what an endpoint says about an error, or of its own name."""
UNREADABLE = (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError)
"""What the client raises where a reply is none that it expects."""
UNWANTED = ("OpenAI-Organization", "OpenAI-Project")
"""Headers that the client takes from the environment, and that are no business of a judge."""
KEPT_HEADERS = ("Content-Type", "Retry-After", "Retry-After-Ms", "X-Should-Retry")
"""Headers of a reply that decide how it is read, and whether it is tried again."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """Where the judge is, and how patiently it is asked."""

    url: str
    """Base URL, to which `/chat/completions` is added."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    """How long an attempt may take, from connecting to the last byte."""
    max_retries: int = 5
    """Attempts after the first, where there is no connection or an answer that may pass."""
    per_minute: float = math.inf
    """Most requests a minute, failed attempts included."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "url", checked_url(JUDGE_URL, self.url))
        object.__setattr__(self, "model", checked_name(JUDGE_MODEL, self.model))
        object.__setattr__(self, "key", checked_key(JUDGE_KEY, self.key))
        if not (self.timeout_s > 0 and self.per_minute > 0 and self.max_retries >= 0):
            raise UsageError(f"{self}: times and rates are positive, retries not negative")


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> JudgeSettings:
    """Return the judge's settings. Raises EnvError for what is missing, UsageError for a fault."""
    for name in (JUDGE_URL, JUDGE_MODEL):
        if not environment.get(name):
            raise EnvError(f"no judge is configured: set {name}")
    return JudgeSettings(
        url=environment[JUDGE_URL],
        model=environment[JUDGE_MODEL],
        key=environment.get(JUDGE_KEY, ""),
        timeout_s=_number(environment, "REPRO_JUDGE_TIMEOUT_S", 120.0),
        per_minute=_number(environment, "REPRO_JUDGE_PER_MINUTE", math.inf),
    )


def _number(environment: Mapping[str, str], name: str, otherwise: float) -> float:
    text = environment.get(name)
    try:
        number = float(text) if text else otherwise
    except ValueError:
        number = math.nan
    if not number > 0:
        raise UsageError(f"{name}={text!r}: need a positive number, or leave it unset")
    return number


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the judge said."""

    text: str
    """As it came, but for control characters and the key; empty where a message has no content."""
    model: str
    """Who answered, in the endpoint's words; the model asked for where it does not say."""


class Judge:
    """Asks one endpoint, one request at a time."""

    def __init__(self, settings: JudgeSettings, *, pace_file: Path) -> None:
        """Open a client; workers that share `pace_file` keep the rate together."""
        from openai import AsyncOpenAI

        self.settings = settings
        self._pace = _Pace(pace_file, interval_s=60.0 / settings.per_minute)
        # A deadline for a whole exchange is something only an event loop can keep.
        self._loop = asyncio.Runner()
        self._client = AsyncOpenAI(
            base_url=settings.url,
            # The client wants one; it is taken off again.
            api_key=settings.key or "none",
            max_retries=settings.max_retries,
            timeout=settings.timeout_s,
            http_client=_bounded_client(settings, self._pace),
        )

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.run(self._client.close())
        self._loop.close()

    def ask(self, messages: Sequence[Message]) -> Reply:
        """Return the judge's reply, after as many attempts as the settings allow.

        Raises EnvError where the endpoint cannot be reached, refuses the key or is not there, and
        RunError where it refuses the request, every attempt failed or its reply is none.
        """
        from openai import APIError

        told: list[Any] = [dict(message) for message in messages]
        request = self._client.chat.completions.create(
            model=self.settings.model,
            messages=told,
            temperature=0.0,
            max_tokens=MAX_REPLY_TOKENS,
        )
        try:
            found = self._loop.run(request)
            text, model = found.choices[0].message.content, found.model or self.settings.model
        except (APIError, *UNREADABLE) as error:
            # Without its cause, whose text may hold the key.
            raise self._failure(error) from None
        if not isinstance(text, str | None) or not isinstance(model, str):
            raise self._failure(TypeError("its message is no text"))
        # Its whole text: no reply is longer than what was read of it.
        text = tidy(text or "", most=MOST_REPLY_BYTES)
        return Reply(text=text, model=tidy(model, most=SHOWN_CHARS))

    def _failure(self, error: Exception) -> EnvError | RunError:
        """Return what a failure means, and what to do."""
        import openai

        where, said = f"the judge at {self.settings.url}", _said(error)
        code = getattr(error, "status_code", 0)
        later = f"in the last of {1 + self.settings.max_retries} attempts: run again later,"
        later += " judgements so far are kept"
        if isinstance(error, openai.APITimeoutError):
            patience_s = self.settings.timeout_s
            return RunError(f"{where} gave no whole answer in {patience_s:g} s {later}")
        if isinstance(error, openai.APIConnectionError):
            if type(error.__cause__).__name__ == "ConnectError":
                return EnvError(
                    f"{where} cannot be reached: check REPRO_JUDGE_URL, and that it runs"
                )
            return RunError(f"{where} hung up or cut its reply short {later}")
        if code in (401, 403):
            return EnvError(f"{where} refuses the key ({said}): check REPRO_JUDGE_KEY")
        if code == 404 or 300 <= code < 400:
            return EnvError(
                f"{where} has no such endpoint or model ({said}): check REPRO_JUDGE_URL and"
                " REPRO_JUDGE_MODEL"
            )
        if code in (408, 409, 429) or code >= 500:
            return RunError(f"{where} answered with an error ({said}) {later}")
        if code:
            return RunError(
                f"{where} refuses the request ({said}): see what it asks for, or take another judge"
            )
        return RunError(
            f"{where} sent no chat completion ({said}): run again later, judgements so far are"
            " kept, or take another judge"
        )


def _said(error: Exception) -> str:
    """Return the beginning of what the endpoint said in one line, without the key."""
    response = getattr(error, "response", None)
    said = str(error) if response is None else f"HTTP {response.status_code}: {response.text}"
    return tidy(" ".join(said.split()), most=SHOWN_CHARS)


def _bounded_client(settings: JudgeSettings, pace: _Pace) -> Any:
    """Return an HTTP client with a limit on an exchange's time and on a reply's size."""
    import openai

    async def strip(request: Any) -> None:
        """Take off what is not to be sent."""
        for name in UNWANTED if settings.key else (*UNWANTED, "Authorization"):
            request.headers.pop(name, None)

    class Bounded(openai.DefaultAsyncHttpxClient):
        async def send(self, request: Any, **options: Any) -> Any:
            pace.wait()
            # Unpacked it could be a thousand times as long.
            request.headers["Accept-Encoding"] = "identity"
            try:
                async with asyncio.timeout(settings.timeout_s):
                    reply = await super().send(request, **{**options, "stream": True})
                    data = await _read(reply)
            except TimeoutError as error:
                # httpx or httpx2, whichever this version of openai is built on.
                http = importlib.import_module(type(request).__module__.partition(".")[0])
                raise http.ReadTimeout(str(error), request=request) from None
            kept = {n: reply.headers[n] for n in KEPT_HEADERS if n in reply.headers}
            return type(reply)(reply.status_code, headers=kept, content=data, request=request)

    # A redirected post becomes a get.
    return Bounded(follow_redirects=False, event_hooks={"request": [strip]})


async def _read(reply: Any) -> bytes:
    """Return a reply's bytes as sent. Raises ValueError for more than there may be."""
    data = b""
    try:
        async for piece in reply.aiter_raw():
            data += piece
            if len(data) > MOST_REPLY_BYTES:
                raise ValueError(f"it is longer than {MOST_REPLY_BYTES} bytes")
    finally:
        await reply.aclose()
    return data


class _Pace:
    """Gives requests their turns, one every `interval_s`, to all that share a file.

    The file's time of change is the start of the last turn that was given.
    """

    def __init__(self, path: Path, *, interval_s: float) -> None:
        self._path, self._interval_s = path, interval_s

    def wait(self) -> None:
        """Take the next turn and sleep until it comes."""
        if self._interval_s == 0.0:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self._path}.lock"):
            now = time.time()
            last = self._path.stat().st_mtime if self._path.exists() else 0.0
            turn = max(now, last + self._interval_s)
            turn = min(turn, now + LONGEST_QUEUE * self._interval_s)
            self._path.touch()
            os.utime(self._path, (turn, turn))
        time.sleep(turn - now)
