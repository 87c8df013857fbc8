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
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from filelock import FileLock

from harness.errors import EnvError, RunError

if TYPE_CHECKING:
    import requests

Message = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""

MAX_REPLY_TOKENS = 2048
LONGEST_QUEUE = 64
"""Requests that may wait for their turn; a later turn is one that a changed clock left behind."""
SHOWN_CHARS = 200
"""Of what an endpoint says about an error."""


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeSettings:
    """Where the judge is, and how patiently it is asked."""

    url: str
    """Base URL, to which `/chat/completions` is added."""
    model: str
    key: str = field(default="", repr=False)
    timeout_s: float = 120.0
    """Silence, in connecting or in answering, after which an attempt is given up."""
    num_attempts: int = 6
    """Of one request, the first included."""
    first_wait_s: float = 1.0
    """Before the second attempt, doubled before each further one, where the endpoint says none."""
    longest_wait_s: float = 120.0
    """An endpoint that asks to wait longer is not waited for."""
    per_minute: float = math.inf
    """Most requests a minute, failed attempts included."""

    def __post_init__(self) -> None:
        if not self.url.startswith(("http://", "https://")):
            raise EnvError(f"the judge's URL {self.url!r} is none: it starts with http or https")
        if not (self.timeout_s > 0 and self.per_minute > 0 and self.num_attempts > 0):
            raise EnvError(f"{self}: times, rates and attempts are positive")

    @property
    def endpoint(self) -> str:
        """The address that is asked."""
        return f"{self.url.rstrip('/')}/chat/completions"


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
        """Open a session; workers that share `pace_file` keep the rate together."""
        import requests

        self.settings = settings
        self._pace = _Pace(pace_file, interval_s=60.0 / settings.per_minute)
        self._session = requests.Session()

    def __enter__(self) -> Judge:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._session.close()

    def ask(self, messages: Sequence[Message]) -> Reply:
        """Return the judge's reply, after as many attempts as the settings allow.

        Tried again: no connection, silence, a reply that is cut, and HTTP 408, 409, 429 and 5xx,
        after the time that the endpoint asks for, where it does.
        Raises EnvError where the endpoint cannot be reached, refuses the key or is not there, and
        RunError where it refuses the request or every attempt failed.
        """
        body = {
            "model": self.settings.model,
            "messages": [dict(message) for message in messages],
            "temperature": 0.0,
            "max_tokens": MAX_REPLY_TOKENS,
        }
        wait_s = self.settings.first_wait_s
        for attempt in range(1, self.settings.num_attempts + 1):
            self._pace.wait()
            try:
                return self._attempt(body)
            except _Passing as failure:
                if attempt == self.settings.num_attempts:
                    raise self._given_up(failure) from failure
                asked_s = failure.wait_s
            if asked_s is not None and asked_s > self.settings.longest_wait_s:
                raise RunError(
                    f"the judge at {self.settings.url} asks to wait {asked_s:.0f} s, more than"
                    f" {self.settings.longest_wait_s:.0f} s: run again then, what it said is kept"
                )
            time.sleep(min(wait_s, self.settings.longest_wait_s) if asked_s is None else asked_s)
            wait_s *= 2.0
        raise AssertionError("an attempt returns or raises")

    def _attempt(self, body: Mapping[str, Any]) -> Reply:
        from requests import exceptions

        try:
            response = self._session.post(
                self.settings.endpoint,
                json=body,
                timeout=self.settings.timeout_s,
                # Else a password file of this machine would stand in for the key.
                auth=self._sign,
                # A redirected post becomes a get.
                allow_redirects=False,
            )
        except exceptions.ChunkedEncodingError as error:
            raise _Passing("cut its reply short") from error
        except exceptions.ConnectionError as error:
            raise self._no_connection(error) from error
        except exceptions.Timeout as error:
            raise _Passing(f"stayed silent for {self.settings.timeout_s:g} s") from error
        except exceptions.RequestException as error:
            raise EnvError(
                f"the judge at {self.settings.url} cannot be asked ({error}): check REPRO_JUDGE_URL"
            ) from error
        if response.status_code != 200:
            raise self._refusal(response)
        return self._reply(response)

    def _sign(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        if self.settings.key:
            request.headers["Authorization"] = f"Bearer {self.settings.key}"
        return request

    def _no_connection(self, error: requests.exceptions.ConnectionError) -> _Passing:
        """Tell an endpoint that is not there from one that hung up, or fell silent midway."""
        from requests.exceptions import ConnectTimeout
        from urllib3.exceptions import MaxRetryError, ReadTimeoutError

        cause = error.args[0] if error.args else None
        if isinstance(error, ConnectTimeout) or isinstance(cause, MaxRetryError):
            return _Passing("cannot be reached", is_absent=True)
        if isinstance(cause, ReadTimeoutError):
            return _Passing(f"stayed silent for {self.settings.timeout_s:g} s amid a reply")
        return _Passing("hung up without a reply")

    def _refusal(self, response: requests.Response) -> _Passing | EnvError | RunError:
        """Return what a status other than 200 means."""
        code, said = response.status_code, self._said(response)
        where = f"the judge at {self.settings.url}"
        if code in (408, 409, 429) or code >= 500:
            wait_s = _seconds_to_wait(response.headers.get("Retry-After"))
            return _Passing(f"answered HTTP {code} ({said})", wait_s=wait_s)
        if code in (401, 403):
            return EnvError(f"{where} refuses the key (HTTP {code}: {said}): check REPRO_JUDGE_KEY")
        if code == 404 or code < 400:
            return EnvError(
                f"{where} has no such endpoint or model (HTTP {code}: {said}): check"
                " REPRO_JUDGE_URL and REPRO_JUDGE_MODEL"
            )
        return RunError(
            f"{where} refuses the request (HTTP {code}: {said}): see what it asks for, or take"
            " another judge"
        )

    def _reply(self, response: requests.Response) -> Reply:
        try:
            body = response.json()
            text = body["choices"][0]["message"]["content"]
        except (ValueError, LookupError, TypeError) as error:
            raise _Passing(f"sent no whole chat completion ({self._said(response)})") from error
        if text is not None and not isinstance(text, str):
            raise _Passing(f"sent a message that is no text ({self._said(response)})")
        model = str(body.get("model") or self.settings.model)
        return Reply(text=_whole(text or ""), model=_whole(model))

    def _said(self, response: requests.Response) -> str:
        """Return the beginning of a body in one line, without the key."""
        text = " ".join(response.text.split())
        text = text.replace(self.settings.key, "***") if self.settings.key else text
        return text[:SHOWN_CHARS] or "an empty body"

    def _given_up(self, failure: _Passing) -> EnvError | RunError:
        attempts = f"in the last of {self.settings.num_attempts} attempts"
        where = f"the judge at {self.settings.url} {failure} {attempts}"
        if failure.is_absent:
            return EnvError(f"{where}: check REPRO_JUDGE_URL, and that it runs")
        return RunError(f"{where}: run again later, judgements so far are kept")


class _Passing(Exception):
    """A failure that another attempt may not meet; its text says what the judge did."""

    def __init__(self, text: str, *, wait_s: float | None = None, is_absent: bool = False) -> None:
        super().__init__(text)
        self.wait_s = wait_s
        self.is_absent = is_absent


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


def _seconds_to_wait(header: str | None) -> float | None:
    """Return what a `Retry-After` asks for, in seconds from now; None where it says nothing.

    >>> _seconds_to_wait("3"), _seconds_to_wait("soon"), _seconds_to_wait(None)
    (3.0, None, None)
    >>> _seconds_to_wait("Wed, 21 Oct 2015 07:28:00 GMT")
    0.0
    """
    if header is None:
        return None
    try:
        seconds = float(header)
    except ValueError:
        try:
            moment = parsedate_to_datetime(header)
        except ValueError:
            return None
        seconds = (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None
