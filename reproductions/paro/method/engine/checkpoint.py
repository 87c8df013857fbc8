"""Checkpoints in parts: a file per rank, which any strategy on any number of ranks reads.

Each rank writes its block of every state, as under G, so that each number is stored once. What a
rank needs of a checkpoint are slices of some files, whatever the ranks were that wrote them.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from harness.atomic import write_bytes, write_text
from harness.errors import DataError, HarnessError
from reproductions.paro.method.cluster import unlinked
from reproductions.paro.method.engine.layout import Layout
from reproductions.paro.method.engine.paro import Paro, buffers_of
from reproductions.paro.method.engine.state import FlatState
from reproductions.paro.method.engine.transitions import sync_params
from reproductions.paro.method.strategy import Granularity

SCHEMA_VERSION = 2
INDEX = "checkpoint.json"
"""Written last: a checkpoint is there when it is."""
ANY_TOKEN = "[0-9a-f]" * 16
"""Pattern of what names a checkpoint's files: others in the folder are not ours to remove."""
BUFFER = "buffer/"
"""Before the name of a buffer, in rank 0's file."""
VALUES = "values"
"""Name of parameters beside the optimizer's names for its states."""


def save(engine: Paro, folder: Path, more: Mapping[str, Any] | None = None) -> None:
    """Write parameters, optimizer states and settings, and rank 0's buffers; all ranks call it.

    folder: the same for all ranks, on a file system that all see. An older checkpoint in it stays
    whole until this one is. more: of rank 0, as JSON has it: the state of a scheduler of learning
    rates, a step, a position in the data. Raises RunError on every rank if any cannot write.
    """
    from safetensors.torch import save as serialised

    engine.passes.settle()
    rank = engine.groups.rank
    token = [secrets.token_hex(8)]
    dist.broadcast_object_list(token, src=0)
    blocks = {
        f"{place}/{name}": part[flat.layout.inner(split, "G", rank)] if part.ndim else part
        for place, flat in enumerate(flats_of(engine))
        for name, part, split in states_of(engine, flat)
    }
    if rank == 0:
        blocks |= {BUFFER + name: buffer for name, buffer in buffers_of(engine.model).items()}
    tensors = {name: block.detach().cpu().clone() for name, block in blocks.items()}
    header = {"checkpoint": token[0], "rank": str(rank)}
    path = folder / file_name(token[0], rank)
    together(lambda: write_bytes(path, serialised(tensors, header)))
    if rank == 0:
        index = index_for(engine, token[0], more or {})
        together(lambda: write_text(folder / INDEX, json.dumps(index, indent=1)))
        ours = folder.glob(file_name(ANY_TOKEN, "*"))
        for old in set(ours) - set(folder.glob(file_name(token[0], "*"))):
            old.unlink(missing_ok=True)
    else:
        together(lambda: None)


def index_for(engine: Paro, token: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a checkpoint says of itself."""
    return {
        "schema_version": SCHEMA_VERSION,
        "checkpoint": token,
        "num_ranks": engine.groups.cluster.num_gpus,
        "group_size": engine.groups.cluster.group_size,
        "strategy": str(engine.strategy),
        "flats": described(engine),
        "buffers": sorted(buffers_of(engine.model)),
        "settings": [settings_of(group) for group in engine.optimizer.param_groups],
        "more": dict(more),
    }


def load(engine: Paro, folder: Path) -> dict[str, Any]:
    """Restore what `save` wrote, by whatever strategy and ranks, and return `more` of it.

    All ranks call it, and have rank 0's buffers then. Raises DataError on every rank, and changes
    nothing, if a file is missing, cut short or of another checkpoint, or if the model's units,
    buffers or groups are others.
    """
    engine.passes.settle()
    found: list[Found] = []
    together(lambda: found.append(read(engine, folder)))
    (taken,) = found
    for flat, states in zip(flats_of(engine), taken.states, strict=True):
        restore(engine, flat, states)
    for name, buffer in buffers_of(engine.model).items():
        buffer.copy_(taken.buffers[name])
    for group, settings in zip(engine.optimizer.param_groups, taken.index["settings"], strict=True):
        group |= {name: tuple(value) if isinstance(value, list) else value
                  for name, value in settings.items()}  # fmt: skip
    sync_params(engine.trained)
    more: dict[str, Any] = taken.index["more"]
    return more


def settings_of(group: Mapping[str, Any]) -> dict[str, Any]:
    """Return an optimizer group's settings, such as its learning rate."""
    return {name: value.item() if isinstance(value, Tensor) else value
            for name, value in group.items() if name != "params"}  # fmt: skip


def together(act: Callable[[], None]) -> None:
    """Do something on every rank, and raise what any rank's raised on all of them."""
    told: list[HarnessError | None] = [None] * dist.get_world_size()
    mine: HarnessError | None = None
    try:
        act()
    except HarnessError as error:
        mine = error
    dist.all_gather_object(told, mine)
    for each in told:
        if each is not None:
            raise each


def file_name(token: str, rank: int | str) -> str:
    return f"{token}-{rank}.safetensors"


def flats_of(engine: Paro) -> list[FlatState]:
    return [flat for unit in engine.units for flat in unit.flats]


def described(engine: Paro) -> list[dict[str, Any]]:
    """Return what flat states are made of: names, lengths, and whether they are trained."""
    return [
        {"params": {name: param.numel() for name, param in flat.params.items()},
         "is_trained": flat.is_trained}
        for flat in flats_of(engine)
    ]  # fmt: skip


def states_of(engine: Paro, flat: FlatState) -> Iterator[tuple[str, Tensor, Granularity]]:
    """Yield this rank's part of parameters and optimizer states, and how they are split."""
    if not flat.is_trained:
        yield VALUES, flat.own, engine.strategy.params
        return
    yield VALUES, flat.master.detach(), engine.strategy.states
    for name, value in engine.optimizer.state[flat.master].items():
        if isinstance(value, Tensor):
            yield name, value, engine.strategy.states


@torch.no_grad()
def restore(engine: Paro, flat: FlatState, states: dict[str, Tensor]) -> None:
    """Put this rank's parts of states in their places."""
    values = states.pop(VALUES)
    (flat.master if flat.is_trained else flat.own).copy_(values)
    if flat.is_trained:
        engine.optimizer.state[flat.master] = {
            # As torch has it: single numbers, such as a count of steps, stay on the CPU.
            name: state.to(flat.master.device) if state.ndim else state
            for name, state in states.items()
        }


@dataclass(frozen=True, slots=True)
class Found:
    """What a rank needs of a checkpoint."""

    index: dict[str, Any]
    states: list[dict[str, Tensor]]
    """Its part of every state, flat by flat."""
    buffers: dict[str, Tensor]


def read(engine: Paro, folder: Path) -> Found:
    """Return what this rank needs. Raises DataError."""
    index = index_of(engine, folder)
    wrote = unlinked(index["num_ranks"], index["group_size"])
    with ExitStack() as stack:
        files = [
            stack.enter_context(opened(folder, index["checkpoint"], rank))
            for rank in range(wrote.num_gpus)
        ]
        found = []
        for place, flat in enumerate(flats_of(engine)):
            names = [name for name in files[0].keys() if name.startswith(f"{place}/")]  # noqa: SIM118
            split = engine.strategy.states if flat.is_trained else engine.strategy.params
            layout = Layout(flat.layout.num_entries, wrote)
            found.append({
                name.partition("/")[2]: part_of(name, files, layout, flat, split) for name in names
            })  # fmt: skip
        buffers = {name: files[0].get_tensor(BUFFER + name) for name in index["buffers"]}
        return Found(index, found, buffers)


def part_of(
    name: str, files: list[Any], wrote: Layout, flat: FlatState, split: Granularity
) -> Tensor:
    """Return the entries that this rank holds of a state that others wrote in blocks."""
    first = files[0].get_slice(name)
    if not first.get_shape():
        number: Tensor = files[0].get_tensor(name)
        return number
    span = flat.span(split)
    part = torch.zeros(span.stop - span.start, dtype=first[:0].dtype)
    for rank, file in enumerate(files):
        block = wrote.span("G", rank)
        start, stop = max(span.start, block.start), min(span.stop, block.stop, wrote.num_entries)
        if start < stop:
            taken = file.get_slice(name)[start - block.start : stop - block.start]
            part[start - span.start : stop - span.start] = taken
    return part


def index_of(engine: Paro, folder: Path) -> dict[str, Any]:
    """Return what a checkpoint says of itself, if it is of this model. Raises DataError."""
    path = folder / INDEX
    try:
        index: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        version = index["schema_version"]
    except FileNotFoundError as error:
        raise DataError(f"no checkpoint in {folder}: {INDEX} is missing") from error
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path} is no index of a checkpoint: take another folder") from error
    if version != SCHEMA_VERSION:
        raise DataError(f"{path} has schema {version}, this code reads {SCHEMA_VERSION}")
    check_model(engine, index, path)
    return index


def check_model(engine: Paro, index: dict[str, Any], path: Path) -> None:
    """Raise DataError if a checkpoint is of another model, in other units or groups."""
    flats, mine = index["flats"], described(engine)
    for theirs, ours in zip(flats, mine, strict=False):
        if theirs != ours:
            name = next(iter(theirs["params"].items() ^ ours["params"].items()), ("", 0))[0]
            raise DataError(
                f"{path} is of another model or other units: they differ in"
                f" {name or 'what is trained'}"
            )
    for word, there, here in (
        ("states", len(flats), len(mine)),
        ("buffers", index["buffers"], sorted(buffers_of(engine.model))),
        ("optimizer groups", len(index["settings"]), len(engine.optimizer.param_groups)),
    ):
        if there != here:
            raise DataError(f"{path} has {word} {there}, this model {here}: wrap it alike")


def opened(folder: Path, token: str, rank: int) -> Any:
    """Open a rank's file of a checkpoint. Raises DataError if it is cut short or a stranger."""
    from safetensors import SafetensorError, safe_open

    path = folder / file_name(token, rank)
    try:
        file = safe_open(path, framework="pt")
    except FileNotFoundError as error:
        raise DataError(f"{path} is missing: copy all files of the checkpoint") from error
    except SafetensorError as error:
        raise DataError(f"{path} is cut short or damaged ({error}): take another copy") from error
    header: dict[str, str] = file.metadata()  # type: ignore[no-untyped-call]
    if header != {"checkpoint": token, "rank": str(rank)}:
        raise DataError(f"{path} is a file of another checkpoint or rank: take another copy")
    return file
