"""What a rank does: measures its links, then lets all settings take steps in turns."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor

from reproductions.paro.measured_steps.experiment import (
    SHARES,
    Question,
    Setting,
    Steps,
    questions_of,
    settings_of,
)
from reproductions.paro.measured_steps.trainers import ADAM, Meshes, Net, Trainer, trainer_of
from reproductions.paro.method.engine.groups import Groups
from reproductions.paro.method.engine.wire import Purpose, Wire
from reproductions.paro.method.schedule import Collective, Scope
from reproductions.paro.method.testbed.network import sent_bytes
from reproductions.paro.models.storages import bytes_by_storage

LINK_BYTES, LINK_TIMES = 2**22, 3
"""What is sent to measure a link, and how often."""
PROBE = Purpose("probe", Collective(kind="all_gather", scope="inter"))


def measure(**asked: Any) -> dict[str, Any]:
    """Return what this rank measured: its links, and rows of every question.

    asked: the fields of `Steps`.
    """
    steps = Steps.from_json(asked)
    torch.manual_seed(steps.seed)
    meshes = Meshes.of(steps.group_size)
    links = Links(Groups(meshes.groups))
    if steps.probed == "before":
        for _ in range(LINK_TIMES):
            links.send_known()
    rows = [
        row
        for question in questions_of(steps.about)
        for row in answered(question, steps, meshes, links)
    ]
    return {"rates": links.rates(), "rows": rows}


def answered(
    question: Question, steps: Steps, meshes: Meshes, links: Links
) -> list[dict[str, Any]]:
    """Let all settings of a question take steps in turns; return a row of each."""
    share = SHARES.get(question, "1")

    def net() -> Net:
        # Every rank has first values of its own, and all end with rank 0's.
        return Net(steps.width, steps.num_layers, share)

    data = torch.Generator().manual_seed(steps.seed * steps.num_ranks + dist.get_rank())

    def batches(setting: Setting) -> list[Tensor]:
        shape = setting.accumulation, steps.batch_size, steps.width
        return list(torch.randn(shape, generator=data))

    settings = settings_of(question, steps.num_micro_batches)
    names = dict.fromkeys(setting.name for setting in settings)
    trainers = {name: trainer_of(name, net(), meshes) for name in names}
    total, trained = net().num_params()
    rows: list[dict[str, Any]] = []
    for setting in settings:
        alone = step_alone(net(), batches(setting))
        rows.append({
            "question": question, "name": setting.name, "accumulation": setting.accumulation,
            "num_params": total, "num_trained": trained, "seconds": [],
            "compute_s": [timed(alone) for _ in range(steps.num_timed)],
            **counted(trainers[setting.name], batches(setting)),
        })  # fmt: skip
    turns = random.Random(steps.seed)
    probes = [len(rows)] * (steps.probed == "in turns")
    for _ in range(steps.num_timed):
        for number in turns.sample([*range(len(rows)), *probes], len(rows) + len(probes)):
            if number == len(rows):
                links.send_known()
                continue
            trainer, given = trainers[settings[number].name], batches(settings[number])
            rows[number]["seconds"].append(timed(partial(trainer.step, given)))
    return rows


def timed(job: Callable[[], None]) -> float:
    """Return the seconds of a job that all ranks begin together."""
    dist.barrier()
    begin = time.perf_counter()
    job()
    return time.perf_counter() - begin


def step_alone(net: Net, batches: list[Tensor]) -> Callable[[], None]:
    """Return a step that sends nothing: passes, and Adam on all that trains."""
    optimizer = ADAM([param for param in net.parameters() if param.requires_grad])

    def step() -> None:
        for batch in batches:
            net(batch).backward()
        optimizer.step()

    step()
    return step


class Links:
    """What known bytes take to the next rank of a ring, all ranks sending at once."""

    def __init__(self, groups: Groups) -> None:
        self.wire = Wire(groups)
        self.wire.purpose = PROBE
        self.out, self.into = torch.ones(LINK_BYTES // 4), torch.empty(LINK_BYTES // 4)
        # A ring of one has no link.
        scopes: tuple[Scope, ...] = ("intra", "inter")
        self.seconds: dict[Scope, list[float]] = {
            scope: [] for scope in scopes if len(groups.peers(scope).ranks) > 1
        }
        for scope in self.seconds:
            self._exchange(scope)

    def _exchange(self, scope: Scope) -> None:
        self.wire.exchange(self.out, self.into, self.wire.groups.peers(scope))()

    def send_known(self) -> None:
        """Send them within groups, then between."""
        for scope, seconds in self.seconds.items():
            seconds.append(timed(partial(self._exchange, scope)))

    def rates(self) -> dict[str, float]:
        """Return bytes per second by scope; 0 where nothing was sent."""
        rates = {"intra": 0.0, "inter": 0.0}
        return rates | {scope: LINK_BYTES / median(own) for scope, own in self.seconds.items()}


def counted(trainer: Trainer, batches: list[Tensor]) -> dict[str, Any]:
    """Take two steps that are not timed; return what is kept after them, and what the second sent.

    From the first on Adam has its moments. between_bytes: of the engine's messages out of this
    group; interface_bytes: of this rank's node, with headers and whatever its other ranks send.
    """
    trainer.step(batches)
    dist.barrier()
    before, wire = sent_bytes(), trainer.wire
    if wire is not None:
        wire.sent_bytes.clear()
    trainer.step(batches)
    dist.barrier()
    after = sent_bytes()
    between = None
    if wire is not None:
        between = sum(size for sent, size in wire.sent_bytes.items() if sent.leaves_group)
    return {
        "held_bytes": sum(bytes_by_storage(trainer.states()).values()),
        "between_bytes": between,
        "interface_bytes": None if before is None or after is None else after - before,
    }
