"""A judge model behind any endpoint that speaks OpenAI's chat completions.

Settings come from the environment:

- `REPRO_JUDGE_URL`: base URL, such as `http://127.0.0.1:8000/v1`, without user or password;
- `REPRO_JUDGE_MODEL`: the model to ask for;
- `REPRO_JUDGE_KEY`: sent as bearer token, where the endpoint wants one; it is stored nowhere;
- `REPRO_JUDGE_TIMEOUT_S`: how long the judge may be silent before it is asked again, 120 s without
  it.

OpenAI's own client retries errors that may pass, and waits as long as the judge asks it to.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

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

JUDGE_TIMEOUT = "REPRO_JUDGE_TIMEOUT_S"
MAX_REPLY_TOKENS = 2048
MOST_REPLY_CHARS = 2**20
"""Longer than any reply of that many tokens."""
SHOWN_CHARS = 200
"""Characters of what an endpoint says about an error, or of its own name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """Where the judge is, and how patiently it is asked."""

    url: str
    """Base URL, to which `/chat/completions` is added."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    max_retries: int = 5
    """Attempts after the first, where there is no connection or an error that may pass."""


def settings_from_environment(environment: Mapping[str, str] = os.environ) -> JudgeSettings:
    """Return the judge's settings. Raises EnvError for what is missing, UsageError for a fault."""
    for name in (JUDGE_URL, JUDGE_MODEL):
        if not environment.get(name):
            raise EnvError(f"no judge is configured: set {name}")
    return JudgeSettings(
        url=checked_url(JUDGE_URL, environment[JUDGE_URL]),
        model=checked_name(JUDGE_MODEL, environment[JUDGE_MODEL]),
        key=checked_key(JUDGE_KEY, environment.get(JUDGE_KEY, "")),
        timeout_s=_seconds(environment.get(JUDGE_TIMEOUT) or "120"),
    )


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not seconds > 0:
        raise UsageError(f"{JUDGE_TIMEOUT}={text!r}: need a positive number, or leave it unset")
    return seconds


@dataclass(frozen=True, kw_only=True, slots=True)
class Judgement:
    """What the judge said."""

    text: str
    """As it came, but for control characters and the key; empty where a message has no content."""
    judge: str
    """Who answered, in the endpoint's words; the model asked for where it does not say."""


class Judge:
    """Asks one endpoint, one request at a time."""

    def __init__(self, settings: JudgeSettings) -> None:
        from openai import OpenAI

        self.settings = settings
        self._client = OpenAI(
            base_url=settings.url,
            # The client wants one.
            api_key=settings.key or "none",
            max_retries=settings.max_retries,
            timeout=settings.timeout_s,
        )

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def ask(self, messages: Sequence[Message]) -> Judgement:
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
            text, model = found.choices[0].message.content, found.model
        # A reply that is no completion lacks these fields.
        except (APIError, AttributeError, LookupError, TypeError, ValueError) as error:
            # Without its cause, whose text may hold the key.
            raise self._failure(error) from None
        return Judgement(
            text=tidy(text or "", most=MOST_REPLY_CHARS),
            judge=tidy(model or self.settings.model, most=SHOWN_CHARS),
        )

    def _failure(self, error: Exception) -> EnvError | RunError:
        """Return what a failure means, and what to do."""
        from openai import APIConnectionError

        where, said = f"the judge at {self.settings.url}", _said(error)
        again = "run again later, judgements so far are kept"
        code = getattr(error, "status_code", 0)
        if type(error.__cause__).__name__ == "ConnectError":
            return EnvError(f"{where} cannot be reached: check {JUDGE_URL}, and that it runs")
        if code in (401, 403):
            return EnvError(f"{where} refuses the key ({said}): check {JUDGE_KEY}")
        if code == 404:
            return EnvError(
                f"{where} has no such endpoint or model ({said}): check {JUDGE_URL} and"
                f" {JUDGE_MODEL}"
            )
        if isinstance(error, APIConnectionError) or code in (408, 409, 429) or code >= 500:
            attempts = 1 + self.settings.max_retries
            return RunError(f"{where} gave no answer in {attempts} attempts ({said}): {again}")
        if code:
            return RunError(
                f"{where} refuses the request ({said}): see what it asks for, or take another judge"
            )
        return RunError(f"{where} sent no chat completion ({said}): {again}, or take another judge")


def _said(error: Exception) -> str:
    """Return the beginning of what the endpoint said in one line, without the key."""
    response = getattr(error, "response", None)
    said = str(error) if response is None else f"HTTP {response.status_code}: {response.text}"
    return tidy(" ".join(said.split()), most=SHOWN_CHARS)
