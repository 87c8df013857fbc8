"""FedSign with a clock on the server's side; a module of its own, so that processes find it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

from reproductions.asymvalley.method.federated.algorithms import FedSign, Server


@dataclass(frozen=True, kw_only=True, slots=True)
class TimedFedSign(FedSign):
    """Notes when each round's aggregation ends."""

    ends_s: list[float] = field(default_factory=list)

    def aggregate(self, *args: Any, **kwargs: Any) -> Server:
        """Aggregate, and note the time."""
        # No bare super(): a slotted dataclass is another class than the one written here.
        server = FedSign.aggregate(self, *args, **kwargs)
        self.ends_s.append(time.perf_counter())
        return server
