"""A judge model behind any endpoint that speaks OpenAI's chat completions.

Settings come from the environment:

- `REPRO_JUDGE_URL`: base URL, such as `http://127.0.0.1:8000/v1`;
- `REPRO_JUDGE_MODEL`: the model to ask for;
- `REPRO_JUDGE_KEY`: sent as bearer token, where the endpoint wants one; it is stored nowhere;
- `REPRO_JUDGE_PER_MINUTE`: most requests a minute, of all workers together; no limit without it;
- `REPRO_JUDGE_TIMEOUT_S`: how long the endpoint may stay silent, 120 s without it.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from filelock import FileLock

from harness.errors import EnvError, RunError

Message = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""

MAX_REPLY_TOKENS = 2048
LONGEST_QUEUE = 64
"""Requests that may wait for their turn; a later turn is one that a changed clock left behind."""
SHOWN_CHARS = 200
"""Characters of what an endpoint says about an error."""
UNWANTED = ("OpenAI-Organization", "OpenAI-Project")
"""Headers that the client takes from the environment, and that are no business of a judge."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """Where the judge is, and how patiently it is asked."""

    url: str = field(repr=False)
    """Base URL, to which `/chat/completions` is added; it may hold a password."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    """Silence, in connecting or in answering, after which an attempt is given up."""
    max_retries: int = 5
    """Attempts after the first, where there is no connection or an answer that may pass."""
    per_minute: float = math.inf
    """Most requests a minute, failed attempts included."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise EnvError("REPRO_JUDGE_URL is no URL: it starts with http:// or https://")
        if not (self.timeout_s > 0 and self.per_minute > 0 and self.max_retries >= 0):
            raise EnvError(f"{self}: times and rates are positive, retries not negative")

    @property
    def place(self) -> str:
        """The URL without user and password."""
        parts = urlsplit(self.url)
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> JudgeSettings:
    """Return the judge's settings. Raises EnvError for what is missing or no number."""
    for name in ("REPRO_JUDGE_URL", "REPRO_JUDGE_MODEL"):
        if not environment.get(name):
            raise EnvError(f"no judge is configured: set {name}")
    return JudgeSettings(
        url=environment["REPRO_JUDGE_URL"],
        model=environment["REPRO_JUDGE_MODEL"],
        key=environment.get("REPRO_JUDGE_KEY", ""),
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
        raise EnvError(f"{name}={text!r}: need a positive number, or leave it unset")
    return number


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """What the judge said."""

    text: str
    """As it came; empty where the endpoint sent a message without content."""
    model: str
    """Who answered, in the endpoint's words; the model asked for where it does not say."""


class Judge:
    """Asks one endpoint, one request at a time."""

    def __init__(self, settings: JudgeSettings, *, pace_file: Path) -> None:
        """Open a client; workers that share `pace_file` keep the rate together."""
        from openai import DefaultHttpxClient, OpenAI

        self.settings = settings
        self._pace = _Pace(pace_file, interval_s=60.0 / settings.per_minute)
        self._client = OpenAI(
            base_url=settings.url,
            # The client wants one; it is taken off again.
            api_key=settings.key or "none",
            max_retries=settings.max_retries,
            timeout=settings.timeout_s,
            http_client=DefaultHttpxClient(
                # A redirected post becomes a get.
                follow_redirects=False,
                event_hooks={"request": [self._before]},
            ),
        )

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, messages: Sequence[Message]) -> Reply:
        """Return the judge's reply, after as many attempts as the settings allow.

        Raises EnvError where the endpoint cannot be reached, refuses the key or is not there, and
        RunError where it refuses the request, every attempt failed or its reply is none.
        """
        from openai import APIError

        told: list[Any] = [dict(message) for message in messages]
        try:
            found = self._client.chat.completions.create(
                model=self.settings.model,
                messages=told,
                temperature=0.0,
                max_tokens=MAX_REPLY_TOKENS,
            )
            text = found.choices[0].message.content
        except (APIError, LookupError, TypeError, AttributeError, ValueError) as error:
            # Without its cause, whose text may hold the key.
            raise self._failure(error) from None
        if text is not None and not isinstance(text, str):
            raise self._failure(TypeError("its message is no text"))
        return Reply(text=_whole(text or ""), model=_whole(found.model or self.settings.model))

    def _before(self, request: Any) -> None:
        """Wait for a request's turn, and take off what is not to be sent."""
        self._pace.wait()
        for name in UNWANTED if self.settings.key else (*UNWANTED, "Authorization"):
            request.headers.pop(name, None)

    def _failure(self, error: Exception) -> EnvError | RunError:
        """Return what a failure means, and what to do."""
        import openai

        where, said = f"the judge at {self.settings.place}", self._said(error)
        code = getattr(error, "status_code", 0)
        later = f"in the last of {1 + self.settings.max_retries} attempts: run again later,"
        later += " judgements so far are kept"
        if isinstance(error, openai.APITimeoutError):
            return RunError(f"{where} stayed silent for {self.settings.timeout_s:g} s {later}")
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

    def _said(self, error: Exception) -> str:
        """Return the beginning of what the endpoint said in one line, without key and password."""
        response = getattr(error, "response", None)
        said = str(error) if response is None else f"HTTP {response.status_code}: {response.text}"
        text = " ".join(said.split())
        for secret in (self.settings.key, urlsplit(self.settings.url).password):
            text = text.replace(secret, "***") if secret else text
        return text[:SHOWN_CHARS]


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


def _whole(text: str) -> str:
    # JSON can spell half a surrogate pair, which no file of ours could hold.
    return text.encode(errors="replace").decode()
