"""A run that is stopped and goes on elsewhere gives the losses of one that was not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist

from harness.errors import DataError
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.engine.checkpoint import INDEX, load, save
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine import nets
from tests.reproductions.paro.method.engine.nets import (
    ADAMW,
    Net,
    assert_near,
    freeze,
    micro_batch,
)

BATCHES = 12
"""Micro-batches of a step, whatever the ranks: 4 and 6 both divide it."""
BEFORE, AFTER = 2, 2
FOREIGN = "model.safetensors"
"""What somebody else put into the folder of a checkpoint."""
DAMAGED = {
    "short": "is cut short or damaged",
    "stranger": "is a file of another checkpoint or rank",
    "missing": "-3.safetensors is missing",
    "index": "is no index of a checkpoint",
    "none": "no checkpoint in",
}
"""What was done to a checkpoint, and what is said of it."""


def engine_of(group_size: int, letters: str, *, mixed: bool = False) -> Paro:
    net = Net()
    freeze(net)
    precision = Precision(param_dtype=torch.float32) if mixed else Precision()
    return Paro(net, mesh_of_groups(group_size), letters, optimizer=ADAMW, precision=precision)


def train(engine: Paro, steps: range) -> list[float]:
    """Return this rank's losses of batches that are the same on any number of ranks."""
    n = dist.get_world_size()
    return nets.train(
        engine, steps, micro_steps=BATCHES // n,
        batch_of=lambda step, k, rank: micro_batch(step, k * n + rank, 0),
    )  # fmt: skip


def go_on(folder: str, group_size: int, letters: str, *, mixed: bool = False) -> list[float]:
    """Return losses of a new engine that starts from a checkpoint."""
    engine = engine_of(group_size, letters, mixed=mixed)
    load(engine, Path(folder))
    return train(engine, range(BEFORE, BEFORE + AFTER))


def write_on_rank(folder: str) -> dict[str, Any]:
    """Train, keep two checkpoints in one folder, go on, and again; so in mixed precision too."""
    plain, mixed = f"{folder}/plain", f"{folder}/mixed"
    engine = engine_of(2, "IIG")
    train(engine, range(1))
    save(engine, Path(plain))
    train(engine, range(1, BEFORE))
    save(engine, Path(plain))
    other = engine_of(2, "NIG", mixed=True)
    train(other, range(BEFORE))
    save(other, Path(mixed))
    later = range(BEFORE, BEFORE + AFTER)
    return {
        "plain": train(engine, later), "in one group": go_on(plain, 4, "NII"),
        "mixed": train(other, later), "mixed again": go_on(mixed, 2, "NIG", mixed=True),
    }  # fmt: skip


def read_on_rank(folder: str) -> list[float]:
    return go_on(f"{folder}/plain", 3, "IGG")


def test_any_strategy_and_number_of_ranks_goes_on(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / FOREIGN).touch()
    ranks = on_ranks(write_on_rank, 4, folder=str(tmp_path))
    names = {path.name for path in (tmp_path / "plain").iterdir()}
    assert len(names) == 4 + 2 and FOREIGN in names, "the older one is gone, and nothing else"
    assert all(rank["mixed again"] == rank["mixed"] for rank in ranks), "to the last bit"
    wanted = mean([rank["plain"] for rank in ranks])
    assert_near(mean([rank["in one group"] for rank in ranks]), wanted, "4 ranks")
    assert_near(mean(on_ranks(read_on_rank, 6, folder=str(tmp_path))), wanted, "6 ranks")


def mean(ranks: list[list[float]]) -> torch.Tensor:
    return torch.tensor(ranks, dtype=torch.float64).mean(dim=0)


def damage(folder: Path) -> None:
    """Make damaged copies of a checkpoint, beside it."""
    for name in DAMAGED:
        shutil.copytree(folder / "whole", folder / name)
    token = json.loads((folder / "whole" / INDEX).read_text())["checkpoint"]
    last = f"{token}-3.safetensors"
    whole = (folder / "whole" / last).read_bytes()
    (folder / "short" / last).write_bytes(whole[:-1])
    shutil.copy(folder / "whole" / f"{token}-2.safetensors", folder / "stranger" / last)
    (folder / "missing" / last).unlink()
    (folder / "index" / INDEX).write_text("[]")
    (folder / "none" / INDEX).unlink()


def attack_on_rank(folder: str) -> dict[str, str]:
    told = {}
    engine = engine_of(2, "IIG")
    save(engine, Path(folder) / "whole")
    if dist.get_rank() == 0:
        damage(Path(folder))
    dist.barrier()
    before = engine.state_dict()
    other = Paro(Net(), mesh_of_groups(2), "IIG", optimizer=ADAMW)
    for name, reader in [*((name, engine) for name in DAMAGED), ("whole", other)]:
        try:
            load(reader, Path(folder) / name)
        except DataError as error:
            told[name] = str(error)
    after = engine.state_dict()
    assert all(before[name].equal(after[name]) for name in before)
    return told


def test_damage_is_told_on_every_rank(tmp_path: Path) -> None:
    wanted = {**DAMAGED, "whole": "is of another model or other units"}
    for told in on_ranks(attack_on_rank, 4, folder=str(tmp_path)):
        assert told.keys() == wanted.keys()
        assert [name for name, words in wanted.items() if words not in told[name]] == []
