"""Checkpoints of long trials: one safetensors file, its counters as JSON in the header.

Nothing is pickled: a checkpoint is tensors and numbers, so a foreign one can do no harm.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from harness.atomic import write_bytes

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
EVERY_S = 120.0
"""Between checkpoints of one run."""


class Restored(NamedTuple):
    """What a checkpoint held beside model, optimizer and generators."""

    step: int
    """Optimizer steps done, which is also the position in the data."""
    tensors: dict[str, Tensor]


class Checkpoints:
    """Keeps the state of one run: restored when it starts, written every two minutes."""

    def __init__(
        self,
        path: Path | None,
        *,
        model: nn.Module,
        optimizer: torch.optim.Optimizer,
        generators: Mapping[str, torch.Generator] | None = None,
        tensors: Mapping[str, Tensor] | None = None,
    ) -> None:
        """path: None keeps nothing. generators: the random streams in use; tensors: logs, which
        are filled in place when the run is restored."""
        self.path, self.tensors = path, dict(tensors or {})
        self.parts: dict[str, Any] = {
            "model": model, "optimizer": optimizer, "generators": dict(generators or {}),
        }  # fmt: skip
        self.kept_at = time.monotonic()

    def resume(self) -> int:
        """Restore the run if it left a checkpoint; return how many steps it had done."""
        restored = load_checkpoint(self.path, **self.parts) if self.path else None
        if restored is None:
            return 0
        for name, values in self.tensors.items():
            values.copy_(restored.tensors[name])
        return restored.step

    def keep(self, step: int) -> None:
        """Write the state after `step` steps, if it was not written for two minutes."""
        if self.path is not None and time.monotonic() - self.kept_at > EVERY_S:
            save_checkpoint(self.path, step=step, tensors=self.tensors, **self.parts)
            self.kept_at = time.monotonic()


def save_checkpoint(
    path: Path,
    *,
    step: int,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    generators: Mapping[str, torch.Generator],
    tensors: Mapping[str, Tensor],
) -> None:
    """Write all that a run needs to go on as if it had never stopped; parts as `Checkpoints`."""
    from safetensors.torch import save

    entries = {
        f"optimizer.{index}.{name}": value
        for index, values in optimizer.state_dict()["state"].items()
        for name, value in values.items()
    }
    content = {key: value for key, value in entries.items() if hasattr(value, "detach")}
    numbers = {key: value for key, value in entries.items() if key not in content}
    content |= {f"model.{name}": value for name, value in model.state_dict().items()}
    content |= {f"generator.{name}": each.get_state() for name, each in generators.items()}
    content |= {f"tensor.{name}": value for name, value in tensors.items()}
    header = {"schema_version": SCHEMA_VERSION, "step": step, "numbers": numbers}
    # A clone each: safetensors refuses tensors that share memory, as tied weights do.
    plain = {name: value.detach().cpu().contiguous().clone() for name, value in content.items()}
    write_bytes(path, save(plain, metadata={"state": json.dumps(header)}))


def load_checkpoint(
    path: Path,
    *,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    generators: Mapping[str, torch.Generator],
) -> Restored | None:
    """Restore a run in place; None where there is no checkpoint, or none that can be used."""
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        return None
    try:
        with safe_open(path, framework="pt") as stream:
            header = json.loads((stream.metadata() or {})["state"])
            if header["schema_version"] != SCHEMA_VERSION:
                raise ValueError("of another version")
            content = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, RecursionError) as error:
        log.warning("checkpoint %s cannot be used (%s): starting over", path, error)
        return None
    model.load_state_dict(_below("model.", content))
    state: dict[int, dict[str, Any]] = {}
    for name, value in _below("optimizer.", {**content, **header["numbers"]}).items():
        index, entry = name.split(".", 1)
        state.setdefault(int(index), {})[entry] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    for name, value in _below("generator.", content).items():
        generators[name].set_state(value)
    return Restored(step=int(header["step"]), tensors=_below("tensor.", content))


def _below(prefix: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {n.removeprefix(prefix): value for n, value in content.items() if n.startswith(prefix)}
