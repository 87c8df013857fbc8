"""The scales at which everything can run, and how ids read."""

from __future__ import annotations

from typing import Literal

from harness.errors import SpecError, one_of

Profile = Literal["smoke", "cpu", "gpu", "paper"]
PROFILES: tuple[Profile, ...] = ("smoke", "cpu", "gpu", "paper")
SMOKE_AND_CPU: tuple[Profile, ...] = ("smoke", "cpu")
CPU: tuple[Profile, ...] = ("cpu",)
CPU_UP: tuple[Profile, ...] = ("cpu", "gpu", "paper")
GPU_UP: tuple[Profile, ...] = ("gpu", "paper")
PAPER: tuple[Profile, ...] = ("paper",)


def parse_profile(name: str) -> Profile:
    """Return the profile. Raises UsageError that names the nearest one."""
    profile: Profile = one_of(name, PROFILES, "profile")
    return profile


MAX_WORD = 100
"""Characters of each half of an id, which names folders and files."""


def check_id(name: str) -> None:
    """Raise SpecError unless `name` reads `<paper>/<word>` in lower case, not too long."""
    paper, slash, word = name.partition("/")
    allowed = set("abcdefghijklmnopqrstuvwxyz0123456789_")
    if not (slash and paper and word and set(paper) <= allowed and set(word) <= allowed):
        raise SpecError(f"id {name!r}: need <paper>/<word> in lower case, digits and underscores")
    if max(len(paper), len(word)) > MAX_WORD:
        raise SpecError(f"id {name[:MAX_WORD]!r}...: need at most {MAX_WORD} characters a word")
