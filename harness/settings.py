"""Settings from the environment that are checked when they are read; no message shows a secret."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping

from harness.errors import UsageError
from harness.outgoing import LEAST_SECRET_CHARS, register

JUDGE_URL = "REPRO_JUDGE_URL"
JUDGE_MODEL = "REPRO_JUDGE_MODEL"
JUDGE_KEY = "REPRO_JUDGE_KEY"
URL = re.compile(r"https?://(\[[0-9a-fA-F:]+\]|[^\s/@?#:[\]]+)(:\d{1,5})?(/[^\s@?#]*)?")


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
    # A password with a slash ends the host early: its "@" is then in the path.
    if not url.isprintable() or not URL.fullmatch(url):
        raise UsageError(
            f"{name} is no URL: write http:// or https://, a host and a path, without a user, a"
            f" password or a query, which errors would repeat; a key goes into {JUDGE_KEY}"
        )
    return url


def checked_name(name: str, text: str) -> str:
    """Return a model's name. Raises UsageError where it is not printable."""
    if not text.strip().isprintable():
        raise UsageError(f"{name} is no name: it holds a character that cannot be printed")
    return text.strip()


def judge_fault(environment: Mapping[str, str] = os.environ) -> str:
    """Return why the settings give no judge; empty where they do.

    Needed are the base URL of an OpenAI-compatible endpoint, and the model it is asked for.
    """
    if not (environment.get(JUDGE_URL) and environment.get(JUDGE_MODEL)):
        return f"set {JUDGE_URL} and {JUDGE_MODEL}"
    checks = {JUDGE_URL: checked_url, JUDGE_MODEL: checked_name, JUDGE_KEY: checked_key}
    try:
        for name, check in checks.items():
            if environment.get(name):
                check(name, environment[name])
    except UsageError as error:
        return str(error)
    return ""
