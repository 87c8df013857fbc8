"""A run that is stopped and goes on elsewhere gives the losses of one that was not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist

from harness.errors import DataError
from reproductions.paro.method.engine import Paro, Precision, mesh_of_groups
from reproductions.paro.method.engine.checkpoint import INDEX, load, save
from reproductions.paro.models.gloo_ranks import on_ranks
from tests.reproductions.paro.method.engine import nets
from tests.reproductions.paro.method.engine.nets import ADAMW, Net, freeze, micro_batch

BATCHES = 12
"""Micro-batches of a step, whatever the ranks: 4 and 6 both divide it."""
BEFORE, AFTER = 2, 2
FOREIGN = "model.safetensors"
"""What somebody else put into the folder of a checkpoint."""
TOLERANCE = 1e-12
"""As of training: other ranks sum in another order."""
READERS = [(4, 4, "NII", "plain"), (4, 2, "NIG", "mixed"), (6, 3, "IGG", "plain")]


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


def write_on_rank(folder: str) -> list[Any]:
    """Train, keep two checkpoints in one folder, and go on; one more of mixed precision."""
    engine = engine_of(2, "IIG")
    train(engine, range(1))
    save(engine, Path(folder) / "plain")
    train(engine, range(1, BEFORE))
    save(engine, Path(folder) / "plain")
    losses = train(engine, range(BEFORE, BEFORE + AFTER))
    mixed = engine_of(2, "NIG", mixed=True)
    train(mixed, range(BEFORE))
    save(mixed, Path(folder) / "mixed")
    return [losses, train(mixed, range(BEFORE, BEFORE + AFTER))]


def read_on_rank(folder: str, cases: list[list[Any]]) -> list[list[float]]:
    found = []
    for group_size, letters, name in cases:
        engine = engine_of(group_size, letters, mixed=name == "mixed")
        load(engine, Path(folder) / name)
        found.append(train(engine, range(BEFORE, BEFORE + AFTER)))
    return found


def mean(ranks: list[list[float]]) -> torch.Tensor:
    return torch.tensor(ranks, dtype=torch.float64).mean(dim=0)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[list[Any]]]:
    folder = tmp_path_factory.mktemp("checkpoints")
    (folder / "plain").mkdir()
    (folder / "plain" / FOREIGN).touch()
    return folder, on_ranks(write_on_rank, 4, folder=str(folder))


def test_any_strategy_and_number_of_ranks_goes_on(
    written: tuple[Path, list[list[Any]]],
) -> None:
    folder, ranks = written
    names = {path.name for path in (folder / "plain").iterdir()}
    assert len(names) == 4 + 2, "the older one is gone"
    assert FOREIGN in names
    wanted = mean([losses for losses, _ in ranks])
    for n in (4, 6):
        cases = [[m, letters, name] for k, m, letters, name in READERS if k == n]
        found = on_ranks(read_on_rank, n, folder=str(folder), cases=cases)
        for case, *losses in zip(cases, *found, strict=True):
            if case[-1] == "mixed":
                assert losses == [mixed for _, mixed in ranks], "to the last bit"
            else:
                error = float((mean(losses) - wanted).abs().max())
                assert error <= TOLERANCE, case


def attack_on_rank(folders: dict[str, str], other: str) -> dict[str, str]:
    told = {}
    engine = engine_of(2, "IIG")
    before = engine.state_dict()
    for name, folder in folders.items():
        try:
            load(engine, Path(folder))
        except DataError as error:
            told[name] = str(error)
    after = engine.state_dict()
    assert all(before[name].equal(after[name]) for name in before)
    whole = Paro(Net(), mesh_of_groups(2), "IIG", optimizer=ADAMW)
    try:
        load(whole, Path(other))
    except DataError as error:
        told["units"] = str(error)
    return told


def test_damage_is_told_on_every_rank(
    written: tuple[Path, list[list[Any]]], tmp_path: Path
) -> None:
    source = written[0] / "plain"
    token = json.loads((source / INDEX).read_text())["checkpoint"]
    folders = {name: tmp_path / name for name in ("short", "stranger", "missing", "index", "none")}
    for folder in folders.values():
        folder.mkdir()
        for file in source.iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
    last = f"{token}-3.safetensors"
    whole = (source / last).read_bytes()
    (folders["short"] / last).write_bytes(whole[:-1])
    (folders["stranger"] / last).write_bytes((source / f"{token}-2.safetensors").read_bytes())
    (folders["missing"] / last).unlink()
    (folders["index"] / INDEX).write_text("[]")
    (folders["none"] / INDEX).unlink()
    wanted = {
        "short": f"{last} is cut short or damaged",
        "stranger": f"{last} is a file of another checkpoint or rank",
        "missing": f"{last} is missing",
        "index": "is no index of a checkpoint",
        "none": "no checkpoint in",
        "units": "is of another model or other units",
    }
    given = {name: str(folder) for name, folder in folders.items()}
    for told in on_ranks(attack_on_rank, 4, folders=given, other=str(source)):
        assert told.keys() == wanted.keys()
        for name, words in wanted.items():
            assert words in told[name]
