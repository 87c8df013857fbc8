"""Messages: rings by hand, what is never sent, the search, and that it knows no formula."""

from __future__ import annotations

import re

import numpy as np
import pytest

from reproductions.paro.collectives.messages import Held, Move, Net, Traffic, run
from reproductions.paro.collectives.routes import (
    gather_route,
    held_by,
    reduce_route,
    sync_route,
)
from reproductions.paro.collectives.simulated_step import Job, SimulatedStep
from reproductions.paro.method.strategy import strategy_of
from tests.checkout import PAPERS

ALL_GATHER = Move(operation="all_gather", among="world")


@pytest.mark.parametrize("name", ["messages", "routes", "simulated_step"])
def test_it_knows_no_formula(name: str) -> None:
    text = (PAPERS / "paro" / "collectives" / f"{name}.py").read_text()
    told = set(re.findall(r"from reproductions\.paro\.(\S+)", text))
    assert told <= {
        "method.blocks", "method.cluster", "method.strategy",
        "collectives.messages", "collectives.routes",
    }  # fmt: skip


def test_a_ring_of_four_by_hand() -> None:
    net = Net(num_gpus=4, group_size=2)
    whole = [[number, 10 * number] for number in range(4)]
    held = Held(np.array([whole] * 4), np.ones((4, 4), bool)).only(net.owned("G"))
    traffic = Traffic(net=net, entry_bytes=2)
    run(ALL_GATHER, held, traffic)
    assert held.values_NBE.tolist() == [whole] * 4 and held.there_NB.all()
    # Three rounds of a block of 4 bytes; GPUs 1 and 3 are at a border.
    assert traffic.steps == 3
    assert traffic.sent.tolist() == [[12, 0, 12, 0], [0, 12, 0, 12]]
    assert (traffic.of_gpu(leaves=True), traffic.of_link, traffic.of_gpu()) == (12, 12, 12)


def test_paro_cc_of_four_by_hand() -> None:
    net = Net(num_gpus=4, group_size=2, world="sequential")
    held, traffic = held_by(net, "G", np.arange(1, 5)), Traffic(net=net)
    run(ALL_GATHER, held, traffic)
    # Contiguous: the block of GPU 1 is the third.
    assert held.values_NBE[..., 0].tolist() == [[1, 3, 2, 4]] * 4
    # One block between groups, then two rows of one within them.
    assert traffic.steps == 1 + 2
    assert traffic.sent.tolist() == [[2] * 4, [1] * 4]
    assert traffic.of_link == 2


def test_the_search_finds_figure_1() -> None:
    net = Net(num_gpus=4, group_size=2)
    # IIG.
    assert [str(each) for each in gather_route(net, "I", "N")] == ["intra all-gather"]
    assert [str(each) for each in reduce_route(net, "I")] == ["intra reduce-scatter"]
    assert [str(each) for each in sync_route(net, "I", "G")] == ["inter reduce-scatter"]
    assert [str(each) for each in gather_route(net, "G", "I")] == ["inter all-gather"]
    # NIG.
    assert gather_route(net, "N", "N") == ()
    assert [str(each) for each in gather_route(net, "G", "N")] == ["world all-gather"]


def test_ing_sends_nothing_of_gradients_before_the_boundary() -> None:
    job = Job(net=Net(num_gpus=6, group_size=3), num_trainable=12, num_frozen=0, accumulation=4)
    step = SimulatedStep(job=job, strategy=strategy_of("ING")).take()
    assert step.traffic["gradient"].steps == 0
    assert step.traffic["sync_g"].steps == 5
