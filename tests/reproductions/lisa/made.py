"""What tests of claims on tables made by hand share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from tests.checkout import PAPERS

Case = Literal["holds", "fails"]
FOLDER = PAPERS / "lisa"


@dataclass(frozen=True)
class Kept:
    """A trial that another one starts from: its rows, and who loaded its weights."""

    point: Any
    rows: list[dict[str, Any]]
    loaded: list[Any]
    weights: Callable[[], Any]

    def load(self, name: str) -> Any:
        self.loaded.append(self.point)
        return self.weights()


@dataclass(frozen=True)
class Upstream:
    """The harness's side of a run over trials that came to known ends, by rate and seed."""

    rows: Mapping[float, Any]
    """By learning rate, then by seed."""
    weights: Callable[[], Any] = dict
    loaded: list[Any] = field(default_factory=list)

    def seed(self, stream: str) -> int:
        return 0

    def upstream(self, _: Any, point: Any) -> Kept:
        return Kept(point, self.rows[point.lr][point.seed], self.loaded, self.weights)
