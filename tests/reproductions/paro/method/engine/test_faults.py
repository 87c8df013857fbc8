"""A rank that is killed in the middle of a step, and a run that goes on from what was saved."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
import torch.distributed as dist
from torch import Tensor

from harness.errors import RunError
from reproductions.paro.method.engine import Paro, mesh_of_groups
from reproductions.paro.method.engine.checkpoint import load, save
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine.nets import ADAMW, Net, train

NUM_RANKS, SAVED_AFTER, KILLED_IN, STEPS = 4, 1, 2, 4
PATIENCE_S = 30.0


def engine_of() -> Paro:
    return Paro(Net(), mesh_of_groups(2), "IIG", optimizer=ADAMW)


def die_on_rank(folder: str) -> None:
    """Train in full, and again until rank 3 kills itself in a backward pass; tell and end."""
    # What started the ranks ends the others at once, as torchrun does: here they are to say why.
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    home, rank = Path(folder), dist.get_rank()
    (home / f"whole-{rank}").write_text(repr(train(engine_of(), range(STEPS))))
    engine = engine_of()
    train(engine, range(SAVED_AFTER))
    save(engine, home)
    train(engine, range(SAVED_AFTER, KILLED_IN))
    if rank == 3:
        engine.model.get_submodule("blocks.1").register_forward_hook(
            lambda _, args, output: output.register_hook(die) and None
        )
    dist.barrier()
    start_s = time.monotonic()
    try:
        train(engine, range(KILLED_IN, STEPS))
    except RunError as error:
        (home / f"told-{rank}").write_text(f"{time.monotonic() - start_s} {error}")
    os._exit(0)


def die(grad: Tensor) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def go_on_rank(folder: str) -> list[float]:
    engine = engine_of()
    load(engine, Path(folder))
    return train(engine, range(SAVED_AFTER, STEPS))


def test_a_killed_rank_ends_the_others_and_the_checkpoint_goes_on(tmp_path: Path) -> None:
    with pytest.raises(RunError):
        on_ranks(die_on_rank, NUM_RANKS, folder=str(tmp_path))
    told: dict[str, Any] = {path.name: path.read_text() for path in tmp_path.glob("told-*")}
    assert told.keys() == {"told-0", "told-1", "told-2"}
    for words in told.values():
        seconds, _, message = words.partition(" ")
        assert float(seconds) < PATIENCE_S
        assert "lost rank" in message
        assert "go on from the last checkpoint" in message
    assert "lost rank 3" in told["told-2"], "its neighbour within the group"
    for rank, losses in enumerate(on_ranks(go_on_rank, NUM_RANKS, folder=str(tmp_path))):
        whole = (tmp_path / f"whole-{rank}").read_text()
        assert repr(losses) == "[" + ", ".join(whole.strip("[]").split(", ")[SAVED_AFTER:]) + "]"
