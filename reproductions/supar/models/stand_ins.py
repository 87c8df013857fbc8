"""What small nets and free texts stand in for, by the parameters of a trial. No torch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, Protocol

TEXTS = {
    "tinyshakespeare": "Tiny Shakespeare",
    "books": "public-domain books",
    "grammar-text": "made-up text",
}
"""Whatever is not SlimPajama itself."""


class OnText(Protocol):
    """Parameters that name a text and a width."""

    @property
    def data(self) -> str: ...
    @property
    def width(self) -> int: ...


class Asked(OnText, Protocol):
    """Parameters of a net that is asked Table 2's tasks."""

    @property
    def suite(self) -> Literal["grammar", "local", "stock"]: ...


def trained(params: OnText) -> Mapping[str, str]:
    """Return what a net trained on a text stands in for."""
    if params.data not in TEXTS:
        return {}
    return {"SlimPajama": TEXTS[params.data], "widths up to 4096": f"width {params.width}"}


def asked(params: Asked) -> Mapping[str, str]:
    """Return what the tasks that a net is asked stand in for."""
    match params.suite:
        case "grammar":
            return dict.fromkeys(("ARC-easy", "LAMBADA", "PIQA", "BoolQ"), "made-up documents")
        case "local":
            return {"BoolQ": "its questions without their passages"}
        case "stock":
            return {}
