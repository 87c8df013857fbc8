"""Text on its way out of the process: no secret, no control character, nothing overlong.

What ends in a record, a results file or a message may quote what came from elsewhere: an
endpoint's reply, an error of a library, an argument. Records and messages pass through here, and
so does every line that a process of ours prints.
"""

from __future__ import annotations

import base64
import html
import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, TextIO, cast
from urllib.parse import quote, quote_plus, unquote

from harness.streams import mend_streams

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
_LIVE = re.compile(r"\x1b\[(?:[0-9;]*m|[0-9]*[AK]|\?25[hl])|\r")
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
_registered: set[str] = set()


def register(secret: str) -> None:
    """Have a secret masked that is in no environment variable whose name tells."""
    if len(secret) >= LEAST_SECRET_CHARS:
        _registered.add(secret)


def mask(text: str) -> str:
    """Return a text without the secrets that this process can know, in any usual spelling.

    They are found anew each time: the environment is all that a worker shares with its runner.
    """
    pattern = _pattern()
    return _mask(text, pattern) if pattern else text


def masked(rows: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows whose texts hold no secret, and are otherwise as they were."""
    pattern = _pattern()
    if pattern is None:
        return [dict(row) for row in rows]
    return [
        {name: _mask(v, pattern) if isinstance(v, str) else v for name, v in row.items()}
        for row in rows
    ]


def tidy(text: str, *, most: int = MESSAGE_CHARS) -> str:
    """Return what a message or a note may say of a text from elsewhere.

    Without control characters, secrets and what stands before the @ of a URL; the middle of a
    text with over `most` characters is left out.

    >>> tidy("no \\x1b[2Jhttp://me:pw@host/v1\\r")
    'no http://***@host/v1?'
    >>> tidy("a" * 5000, most=60)
    'aaaaaaaaaaaaaaaaaaaaaaaa ... (4967 characters) ... aaaaaaaaa'
    """
    # Secrets last: what is taken out before may have stood inside one.
    plain = _CONTROL.sub(UNREADABLE, _SEQUENCE.sub("", text))
    return cut(mask(_USER_INFO.sub(f"{MASK}@", plain)), most)


def cut(text: str, most: int) -> str:
    """Return a text whose middle is left out where it has over `most` characters."""
    if len(text) <= most:
        return text
    room = max(most - len(_gap(len(text))), 2)
    head = room * 3 // 4
    tail = room - head
    return text[:head] + _gap(len(text) - head - tail) + text[-tail:]


def _gap(count: int) -> str:
    return f" ... ({count} characters) ... "


class GuardedStream:
    """A text stream of this process that lets nothing through that is not to be seen.

    It has no `buffer`: bytes could not be looked at.
    """

    def __init__(self, stream: TextIO, clean: Callable[[str], str]) -> None:
        self._stream, self._clean = stream, clean

    def write(self, text: str) -> int:
        self._stream.write(self._clean(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        if name in ("buffer", "_stream"):
            raise AttributeError(name)
        return getattr(self._stream, name)


def guard_streams() -> None:
    """Guard what this process prints from here on: its tracebacks, logs and warnings too."""
    mend_streams()
    sys.stdout = _guarded(sys.stdout, lambda text: text)
    sys.stderr = _guarded(sys.stderr, _shortened)


def _guarded(stream: TextIO, shorten: Callable[[str], str]) -> TextIO:
    # A caller in this process may have none.
    if stream is None or isinstance(stream, GuardedStream):
        return stream
    clean = _on_terminal
    if not stream.isatty():
        # Results in a file or a pipe stay as they are but for secrets.
        clean = mask if stream is sys.stdout else lambda text: tidy(text, most=len(text) + 1)
    return cast(TextIO, GuardedStream(stream, lambda text: shorten(clean(text))))


def _on_terminal(text: str) -> str:
    """Return a text as `tidy` does, whole, with colours and the moves of bars."""
    kept = [*_LIVE.findall(text), ""]
    parts = [_CONTROL.sub(UNREADABLE, part) for part in _LIVE.split(text)]
    joined = "".join(part + end for part, end in zip(parts, kept, strict=True))
    return mask(_USER_INFO.sub(f"{MASK}@", joined))


def _shortened(text: str) -> str:
    return cut("\n".join(cut(line, MESSAGE_CHARS) for line in text.split("\n")), TRACEBACK_CHARS)


def _mask(text: str, pattern: re.Pattern[str]) -> str:
    # What two masks leave side by side may read as a secret again; it only ever gets shorter.
    while (found := pattern.sub(MASK, text)) != text:
        text = found
    return text


def _pattern() -> re.Pattern[str] | None:
    named = [value for name, value in os.environ.items() if SECRET_NAME.search(name)]
    urls = [value for value in os.environ.values() if "://" in value]
    return _pattern_of(tuple(named), tuple(urls), frozenset(_registered))


@lru_cache(maxsize=8)
def _pattern_of(
    named: tuple[str, ...], urls: tuple[str, ...], more: frozenset[str]
) -> re.Pattern[str] | None:
    users = [user for url in urls for user in _USER_INFO.findall(url)]
    passwords = [user.partition(":")[2] for user in users]
    secrets = {*named, *users, *passwords, *map(unquote, [*users, *passwords]), *more}
    spelled = {s for secret in secrets for s in _spellings(secret.strip())}
    long_first = sorted(spelled, key=lambda spelling: (-len(spelling), spelling))
    return re.compile("|".join(map(re.escape, long_first))) if spelled else None


def _spellings(secret: str) -> Iterable[str]:
    """Yield a secret as headers, URLs, pages, JSON and representations may spell it."""
    if len(secret) < LEAST_SECRET_CHARS:
        return
    in_json, data = json.dumps(secret)[1:-1], secret.encode(errors="surrogateescape")
    yield from (secret, _CONTROL.sub(UNREADABLE, secret), repr(secret)[1:-1], html.escape(secret))
    yield from (in_json, in_json.replace("/", "\\/"), base64.b64encode(data).decode())
    yield from (quote(data, safe=""), quote(data), quote_plus(data))
