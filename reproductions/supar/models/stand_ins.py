"""What small nets and free texts stand in for, by the parameters of a trial. No torch."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal, Protocol

from harness.declare import Profile

TEXTS = {
    "tinyshakespeare": "Tiny Shakespeare",
    "books": "public-domain books",
    "grammar-text": "made-up text",
}
"""Whatever is not SlimPajama itself."""


class Asked(Protocol):
    """Parameters of a net that is asked Table 2's tasks."""

    @property
    def suite(self) -> Literal["grammar", "local", "stock"]: ...


def trained(grid: Callable[[Profile], Iterable[Any]]) -> Callable[[Any], Mapping[str, str]]:
    """Return how a net of a grid, trained on a text, tells what it stands in for.

    The widths that it stands in for are those of the same grid at `paper`.
    """

    @functools.cache
    def asked_for() -> str:
        widths = sorted({point.width for point in grid("paper")})
        if len(widths) > 1:
            return f"widths {widths[0]} to {widths[-1]}"
        return f"width {widths[0]}" if widths else ""

    def tell(params: Any) -> Mapping[str, str]:
        if params.data not in TEXTS:
            return {}
        here = {"SlimPajama": TEXTS[params.data]}
        return here | {asked_for(): str(params.width)} if asked_for() else here

    return tell


def asked(params: Asked) -> Mapping[str, str]:
    """Return what the tasks that a net is asked stand in for."""
    match params.suite:
        case "grammar":
            return dict.fromkeys(("ARC-easy", "LAMBADA", "PIQA", "BoolQ"), "made-up documents")
        case "local":
            return {"BoolQ": "its questions without their passages"}
        case "stock":
            return {}
