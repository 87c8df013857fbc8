"""Checkpoints of long trials: one safetensors file, its counters as JSON in the header.

Nothing is pickled: a checkpoint is tensors and numbers, so a foreign one can do no harm.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.atomic import write_bytes

if TYPE_CHECKING:
    import torch
    from torch import Tensor, nn

log = logging.getLogger(__name__)

SCHEMA_VERSION = 1
EVERY_S = 120.0
"""Between checkpoints of one run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Restored:
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
        self.path, self.model, self.optimizer = path, model, optimizer
        self.generators, self.tensors = dict(generators or {}), dict(tensors or {})
        self.kept_at = time.monotonic()

    def resume(self) -> int:
        """Restore the run if it left a checkpoint; return how many steps it had done."""
        if self.path is None:
            return 0
        restored = load_checkpoint(
            self.path, model=self.model, optimizer=self.optimizer, generators=self.generators
        )
        if restored is None:
            return 0
        for name, values in self.tensors.items():
            values.copy_(restored.tensors[name])
        return restored.step

    def keep(self, step: int) -> None:
        """Write the state after `step` steps, if it was not written for two minutes."""
        if self.path is None or time.monotonic() - self.kept_at <= EVERY_S:
            return
        save_checkpoint(
            self.path,
            step=step,
            model=self.model,
            optimizer=self.optimizer,
            generators=self.generators,
            tensors=self.tensors,
        )
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
    """Write all that a run needs to go on as if it had never stopped.

    generators: the random streams still in use; tensors: logs and whatever else the run keeps.
    """
    from safetensors.torch import save

    state = optimizer.state_dict()
    content: dict[str, Tensor] = {}
    numbers: dict[str, Any] = {}
    for index, entries in state["state"].items():
        for name, value in entries.items():
            key = f"optimizer.{index}.{name}"
            if hasattr(value, "detach"):
                content[key] = value
            else:
                numbers[key] = value
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
            content = {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, KeyError, ValueError, RecursionError) as error:
        log.warning("checkpoint %s cannot be used (%s): starting over", path, error)
        return None
    if header["schema_version"] != SCHEMA_VERSION:
        log.warning("checkpoint %s is of another version: starting over", path)
        return None
    model.load_state_dict(_below("model.", content))
    _restore_optimizer(optimizer, _below("optimizer.", content), header["numbers"])
    for name, state in _below("generator.", content).items():
        generators[name].set_state(state)
    return Restored(step=int(header["step"]), tensors=_below("tensor.", content))


def _below(prefix: str, content: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {n.removeprefix(prefix): value for n, value in content.items() if n.startswith(prefix)}


def _restore_optimizer(
    optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor], numbers: Mapping[str, Any]
) -> None:
    state: dict[int, dict[str, Any]] = {}
    plain = {name.removeprefix("optimizer."): value for name, value in numbers.items()}
    for name, value in {**tensors, **plain}.items():
        index, entry = name.split(".", 1)
        state.setdefault(int(index), {})[entry] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
