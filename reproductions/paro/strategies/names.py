"""What strategies are called elsewhere, and which the authors released."""

from __future__ import annotations

from reproductions.paro.method.peers import NAMED
from reproductions.paro.method.peers import RELEASED as RUN_AS_NAMED

KNOWN_AS = {**NAMED, "GGG": f"{NAMED['GGG']}, FSDP"}
RELEASED = (*RUN_AS_NAMED, "ING")
"""What the configuration of the authors' branch accepts: GitHub HanxiaoZhang/PaRO, branch paro,
deepspeed/runtime/zero/config.py. The first three run stock ZeRO."""


def named(letters: str) -> str:
    """Return a strategy with its other name.

    >>> named("NNG"), named("IIG")
    ('NNG, ZeRO-1', 'IIG')
    """
    return ", ".join(filter(None, (letters, KNOWN_AS.get(letters))))
