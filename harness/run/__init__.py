"""Plan, run and resume trials; called, it is `harness.api.run`.

The package and the function have one name, `harness.run`, and once anything has imported the
package, that is what Python finds by it.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Callable(ModuleType):
    def __call__(self, *args: Any, **options: Any) -> Any:
        from harness.api import run

        return run(*args, **options)


sys.modules[__name__].__class__ = _Callable
