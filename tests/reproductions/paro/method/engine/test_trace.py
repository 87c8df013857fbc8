"""Every strategy runs the collectives of the schedule, in its order, and notes them."""

from __future__ import annotations

from typing import Any

import torch.distributed as dist

from reproductions.paro.method.engine import Paro, Trace, mesh_of_groups
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.models.gloo_ranks import on_ranks
from reproductions.paro.traces.experiment import Step
from reproductions.paro.traces.ranks import noted
from reproductions.paro.traces.trial import num_planned, planned, row_of
from tests.reproductions.paro.method.engine.nets import ADAMW, Net, loss_of, micro_batch

STEP = Step(num_ranks=4, group_size=2, micro_steps=2, width=5, num_layers=2)
"""Of `Net`: two blocks, and the rest."""


def note_on_rank() -> dict[str, Any]:
    found: dict[str, Any] = {}
    mesh = mesh_of_groups(2)
    for strategy in EFFECTIVE:
        trace = Trace()
        engine = Paro(Net(), mesh, strategy, optimizer=ADAMW, trace=trace)
        engine.collectives.wire.sent_bytes.clear()
        for k in range(STEP.micro_steps):
            engine.backward(loss_of(engine.model, micro_batch(0, k, dist.get_rank())))
        engine.step()
        sent = sum(engine.collectives.wire.sent_bytes.values())
        found[strategy.letters] = {"events": noted(trace), "sent": sent}
    return found


def test_collectives_are_the_schedules() -> None:
    ranks = on_ranks(note_on_rank, STEP.num_ranks)
    for rank in ranks:
        for letters, found in rank.items():
            work = {name: [e for e in found["events"] if e["work"] == name]
                    for name in ("forward", "backward", "collective", "message")}  # fmt: skip
            assert len(work["forward"]) == len(work["backward"]) == 3 * STEP.micro_steps
            own = [e for e in found["events"] if e["work"] in ("collective", "optimizer")]
            done = [row_of(event, 0.0)["done"] for event in own]
            assert done == list(planned(own, letters, STEP)), letters
            assert len(own) == num_planned(letters, STEP), letters
            for kind in ("collective", "message"):
                assert sum(e["num_bytes"] for e in work[kind]) == found["sent"], (letters, kind)
