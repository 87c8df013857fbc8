"""Text on its way out of the process.

What ends in a record, a results file or a message may quote what came from elsewhere: an
endpoint's reply, an error of a library, an argument. Records and messages lose secrets, control
characters and what is overlong; every other line that a process of ours prints loses secrets.
"""

from __future__ import annotations

import io
import json
import os
import re
import sys
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any, TextIO, cast
from urllib.parse import quote, unquote

from harness.errors import RunError

SECRET_NAME = re.compile(
    r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|(?:JUDGE|API|ACCESS|ADMIN|PRIVATE)_KEY)$",
    re.IGNORECASE,
)
"""Names of environment variables that hold a secret: ours, the hub's, those of any service."""
LEAST_SECRET_CHARS = 8
"""A shorter value is no secret: to take it out would take words out of every text."""
MESSAGE_CHARS = 2000
TRACEBACK_CHARS = 20_000
MASK = "***"
UNREADABLE = "?"

_USER_INFO = re.compile(r"(?<=://)([^\s/?#]+)@")
_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_registered: set[str] = set()


def register(secret: str) -> None:
    """Have a secret masked that is in no environment variable whose name tells."""
    _registered.add(secret)


def mask(text: str) -> str:
    """Return a text without the secrets that this process can know.

    They are found anew each time: the environment is all that a worker shares with its runner.
    """
    named = [value for name, value in os.environ.items() if SECRET_NAME.search(name)]
    urls = [value for value in os.environ.values() if "://" in value]
    pattern = _pattern_of(tuple(named), tuple(urls), frozenset(_registered))
    return pattern.sub(MASK, text) if pattern else text


@lru_cache(maxsize=8)
def _pattern_of(
    named: tuple[str, ...], urls: tuple[str, ...], more: frozenset[str]
) -> re.Pattern[str] | None:
    """Return what finds secrets as they are, as URLs spell them, and as JSON does."""
    passwords = [user.partition(":")[2] for url in urls for user in _USER_INFO.findall(url)]
    secrets = {each.strip() for each in (*named, *passwords, *map(unquote, passwords), *more)}
    long_enough = [secret for secret in secrets if len(secret) >= LEAST_SECRET_CHARS]
    spelled = {s for each in long_enough for s in (each, quote(each, ""), json.dumps(each)[1:-1])}
    # The longest first: one secret may begin with another.
    ordered = sorted(spelled, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, ordered))) if ordered else None


def tidy(text: str, *, most: int = MESSAGE_CHARS) -> str:
    """Return what a message or a note may say of a text from elsewhere.

    Without control characters, secrets and what stands before the @ of a URL; the middle of a
    text with over `most` characters is left out.

    >>> tidy("no \\x1b[2Jhttp://me:pw@host/v1\\r")
    'no http://***@host/v1?'
    >>> tidy("a" * 5000, most=60)
    'aaaaaaaaaaaaaaaaaaaaaaa ... (of 5000 characters) ... aaaaaaa'
    """
    # Secrets last: what is taken out before may have stood inside one.
    plain = _CONTROL.sub(UNREADABLE, _SEQUENCE.sub("", text))
    plain = mask(_USER_INFO.sub(f"{MASK}@", plain))
    if len(plain) <= most:
        return plain
    gap = f" ... (of {len(plain)} characters) ... "
    tail = (most - len(gap)) // 4
    return plain[: most - len(gap) - tail] + gap + plain[-tail:]


class ReaderGone(Exception):
    """Nobody reads our results any more."""


class GuardedStream:
    """A text stream of this process that lets no secret through; it has no `buffer`.

    Results that cannot be written are an error, told once; a message that cannot be is lost, and
    nothing ends for it.
    """

    def __init__(self, stream: TextIO, *, is_results: bool) -> None:
        self._stream, self._is_results = stream, is_results

    def write(self, text: str) -> int:
        # Nothing is written by who asks what a stream takes, and hides the answer.
        if text != "":
            self._try(lambda: self._stream.write(mask(text)))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        self._try(self._stream.flush)

    def _try(self, action: Callable[[], object]) -> None:
        try:
            action()
        except OSError as error:
            # What is still in a buffer must not fail again when the interpreter ends.
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self._stream.fileno())
            os.close(null)
            if not self._is_results:
                return
            if isinstance(error, BrokenPipeError):
                raise ReaderGone from None
            raise RunError(
                f"the results cannot be written to stdout ({error.strerror}): send them elsewhere"
            ) from None

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "_stream"):
            raise AttributeError(name)
        return getattr(self._stream, name)


def guard_streams() -> None:
    """Guard what this process prints from here on: its tracebacks, logs and warnings too."""
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            # A file that is opened later would get the number of a closed stream, and whatever is
            # written to it. Writing results stays an error.
            null = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            os.set_inheritable(null, True)
    sys.stdout = _guarded(sys.stdout, 1)
    sys.stderr = _guarded(sys.stderr, 2)


def _guarded(stream: TextIO | None, number: int) -> TextIO:
    if isinstance(stream, GuardedStream):
        return stream
    if stream is None:
        stream = os.fdopen(number, "w", buffering=1, closefd=False)
    if isinstance(stream, io.TextIOWrapper):
        # A letter that its encoding lacks is written by its number.
        stream.reconfigure(errors="backslashreplace")
    return cast(TextIO, GuardedStream(stream, is_results=number == 1))
