"""The scales at which everything can run, and how ids read."""

from __future__ import annotations

import re
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
ID = re.compile(rf"[a-z0-9_]{{1,{MAX_WORD}}}/[a-z0-9_]{{1,{MAX_WORD}}}")


def check_id(name: str) -> None:
    """Raise SpecError unless `name` reads `<paper>/<word>` in lower case, not too long."""
    if not ID.fullmatch(name):
        raise SpecError(
            f"id {name[: 2 * MAX_WORD]!r}: need <paper>/<word> in lower case, digits and"
            f" underscores, at most {MAX_WORD} characters each"
        )
