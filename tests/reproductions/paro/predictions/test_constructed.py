"""What the formulas cannot deny with one ring: asked of random clusters and models."""

from __future__ import annotations

from collections import Counter
from functools import cache
from random import Random

import pytest

from harness.declare.claims import Claim
from harness.declare.task import Task
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.step_time import TimeModel, World, step_time
from reproductions.paro.predictions.experiment import STRATEGIES
from tests.reproductions.paro.predictions.test_claims import TASKS

NUM_CLUSTERS = 100
ORDERS = {
    "tab11:faster_than_zero": ("IIG GGG", "NII NGG"),
    "tab12:faster_than_zero": ("NIG NGG", "NII NIG", "IIG GGG"),
    "tab13:zeropp_lies_between": ("hpZ GGG", "ING hpZ"),
    "tab14:nni_over_zero1": ("NNI NNG",),
    "tab15:best_iig_over_best_zero3": ("IIG GGG",),
    "fig06:order_with_one_ring": ("IGG GGG", "IIG IGG", "NIG IGG", "NIG NGG"),
    "tab09:iig_is_best": ("IIG IGG", "IIG GGG"),
}
"""Check -> which strategies it has faster than which."""
PAIRS = sorted({pair for pairs in ORDERS.values() for pair in pairs})


def claim_of(name: str) -> tuple[Task, Claim]:
    """Return the claim of a name, `tab08:id`, and its task."""
    word, id = name.split(":")
    task = next(task for task in TASKS if task.word == word)
    return task, next(claim for claim in task.claims if claim.id == id)


def settings() -> list[tuple[Cluster, Workload]]:
    """Clusters of a link per GPU, faster within groups or between them; any share and steps."""
    draw, found = Random(0), []
    for _ in range(NUM_CLUSTERS):
        size, groups = draw.randint(2, 16), draw.randint(2, 32)
        inter = 10 ** draw.uniform(0, 3.5)
        cluster = Cluster(
            num_gpus=size * groups,
            group_size=size,
            inter_gbit_per_s=inter,
            intra_gbit_per_s=inter * 10 ** (draw.choice((1, 1, 1, -1)) * draw.uniform(0.01, 2.5)),
        )
        workload = Workload(
            num_params=10 ** draw.uniform(6, 12),
            trainable_share=10 ** draw.uniform(-4, 0),
            accumulation=draw.choice((1, 1, 2, 3, 5, 10, 40, 100)),
        )
        found.append((cluster, workload))
    return found


@cache
def not_faster(world: World) -> Counter[str]:
    """Return on how many clusters a pair's first strategy is not the faster one."""
    model, denied = TimeModel(world=world), Counter[str]()
    for cluster, workload in settings():
        comm = {
            name: step_time(STRATEGIES[name].strategy, workload, cluster, model).comm
            for name in {name for pair in PAIRS for name in pair.split()}
        }
        for pair in PAIRS:
            one, over = pair.split()
            denied[pair] += comm[one] >= comm[over]
    return denied


@pytest.mark.parametrize("name", ORDERS)
def test_with_one_ring_no_cluster_denies_it_and_with_paro_cc_some_does(name: str) -> None:
    assert [not_faster("flat")[pair] for pair in ORDERS[name]] == [0] * len(ORDERS[name])
    assert any(not_faster("hier")[pair] for pair in ORDERS[name])


def test_with_paro_cc_nni_and_nii_are_always_slower() -> None:
    """As the page says: to spread the rest while it arrives beats to spread it in the end."""
    assert not_faster("hier")["NNI NNG"] == not_faster("hier")["NII NIG"] == NUM_CLUSTERS
