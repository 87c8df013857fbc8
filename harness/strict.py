"""Models of what is read from a file, and what is wrong with a file in one line."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, ValidationError


class Strict(BaseModel):
    """Base of what is read from a file: unknown keys are errors, values are not coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


def explain(error: ValidationError) -> str:
    """Say the first thing wrong, by place and reason: `item[2].file: Field required`."""
    errors = error.errors(include_url=False)
    # A key that is unknown explains the one that is missing, not the other way round.
    first = min(errors, key=lambda found: found["type"] != "extra_forbidden")
    parts = [f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"]]
    place = "".join(parts).removeprefix(".")
    message = first["msg"].removeprefix("Value error, ")
    return f"{place}: {message}" if place else message
