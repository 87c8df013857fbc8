"""A harness that reproduces tables and figures of papers; what Python needs of it stands here.

`harness.load`, `verdicts`, `table`, `figure` and `reproduce` are those of `harness.api`, imported
when they are first asked for: a bare `import harness` loads nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from harness.api import figure, load, reproduce, table, verdicts

__all__ = ["load", "verdicts", "table", "figure", "reproduce"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        from harness.errors import nearest

        raise AttributeError(f"module 'harness' has no attribute {name!r}{nearest(name, __all__)}")
    from harness import api

    return getattr(api, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
