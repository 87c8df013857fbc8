"""Settings from the environment that are checked when they are read; no message shows a secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.outgoing import LEAST_SECRET_CHARS, register

JUDGE_URL = "REPRO_JUDGE_URL"
JUDGE_MODEL = "REPRO_JUDGE_MODEL"
JUDGE_KEY = "REPRO_JUDGE_KEY"


def checked_key(name: str, text: str) -> str:
    """Return a key without the line end that a file left on it, and have it masked from now on.

    Raises UsageError for one that no header may carry, or that is too short to be masked.
    """
    key = text.strip()
    if key and not re.fullmatch(rf"[!-~]{{{LEAST_SECRET_CHARS},}}", key):
        raise UsageError(
            f"{name} is no key: a key has at least {LEAST_SECRET_CHARS} characters, printable ASCII"
            " without white space; leave it unset where the endpoint wants none"
        )
    register(key)
    return key


def checked_url(name: str, text: str) -> str:
    """Return a base URL. Raises UsageError for what is none, or holds more than a place."""
    url = text.strip()
    try:
        parts = urlsplit(url)
        is_place = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_place = False
    if not is_place or not url.isprintable() or re.search(r"\s", url):
        raise UsageError(f"{name} is no URL: write http:// or https://, a host, and a path")
    # A password with a slash ends the host early: its "@" is then in the path.
    if "@" in url or parts.query or parts.fragment:
        raise UsageError(
            f"{name} holds a user, a password or a query, which errors would repeat:"
            f" leave them out and set {JUDGE_KEY}"
        )
    return url


def checked_name(name: str, text: str) -> str:
    """Return a model's name. Raises UsageError where it is not printable."""
    if not text.strip().isprintable():
        raise UsageError(f"{name} is no name: it holds a character that cannot be printed")
    return text.strip()


def judge_fault(environment: Mapping[str, str] = os.environ) -> str:
    """Return what is wrong with the judge's settings as they are; empty where nothing is."""
    checks = {JUDGE_URL: checked_url, JUDGE_MODEL: checked_name, JUDGE_KEY: checked_key}
    try:
        for name, check in checks.items():
            if environment.get(name):
                check(name, environment[name])
    except UsageError as error:
        return str(error)
    return ""
