"""Bytes that a GPU keeps throughout training. Source: the paper's text on them."""

from __future__ import annotations

from dataclasses import dataclass

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.strategy import Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Memory:
    """Bytes per GPU by what holds them. Activations and gathered units come on top."""

    params: float
    second_params: float
    """What the backward pass gathers from, where that is kept beside the parameters' own part."""
    grads: float
    states: float

    @property
    def total(self) -> float:
        return self.params + self.second_params + self.grads + self.states


def memory_of(strategy: Strategy, workload: Workload, cluster: Cluster) -> Memory:
    """Return what a GPU keeps: each state's bytes over the parts it is split into."""
    params = workload.param_bytes * workload.num_params
    trainable = workload.num_trainable
    second = params / cluster.parts(strategy.between) if strategy.between else 0.0
    return Memory(
        params=params / cluster.parts(strategy.params),
        second_params=second,
        grads=workload.grad_bytes * trainable / cluster.parts(strategy.grads),
        states=workload.state_bytes * trainable / cluster.parts(strategy.states),
    )
