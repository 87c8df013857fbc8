"""The collectives of one optimizer step, in order.

Two families of ranks beside the world: the m GPUs of a group (intra), and the g GPUs that have the
same place in theirs (inter). Source: section 3.1.1 and Figure 1; Tables 3 to 7 are pictures, and
rebuilt here from the text and the released code.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.strategy import Granularity, Strategy

Kind = Literal["all_gather", "reduce_scatter", "all_reduce"]
Scope = Literal["world", "intra", "inter"]
Term = Literal["param", "gradient", "sync_g", "sync_p"]
Pass = Literal["forward", "backward"]
TERMS: tuple[Term, ...] = ("param", "gradient", "sync_g", "sync_p")


@dataclass(frozen=True, kw_only=True, slots=True)
class Collective:
    """One collective, on all GPUs at once."""

    kind: Kind
    scope: Scope

    def ranks(self, cluster: Cluster) -> int:
        """Return how many GPUs take part in one of them."""
        return {
            "world": cluster.num_gpus,
            "intra": cluster.group_size,
            "inter": cluster.num_groups,
        }[self.scope]

    def parts(self, cluster: Cluster) -> int:
        """Return which part of the whole is gathered or reduced: one of m between groups."""
        return cluster.group_size if self.scope == "inter" else 1


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """A collective's place in an optimizer step."""

    term: Term
    collective: Collective
    per_micro_batch: bool
    """Whether every micro-batch has it; else it comes once, after the last."""
    during: Pass | None = None
    """The pass of a parameters' gather."""


def gather(held: Granularity, wanted: Granularity = "N") -> Iterator[Collective]:
    """Yield what brings parameters from where they are split to where they are wanted."""
    scopes: dict[tuple[Granularity, Granularity], Scope] = {
        ("I", "N"): "intra", ("G", "N"): "world", ("G", "I"): "inter",
    }  # fmt: skip
    if (held, wanted) in scopes:
        yield Collective(kind="all_gather", scope=scopes[held, wanted])


def reduce_per_micro_batch(grads: Granularity) -> Iterator[Collective]:
    """Yield what a backward pass does to gradients; where every GPU holds all, it adds locally."""
    scopes: dict[Granularity, Scope] = {"I": "intra", "G": "world"}
    if grads in scopes:
        yield Collective(kind="reduce_scatter", scope=scopes[grads])


SYNC_GRADS: dict[tuple[Granularity, Granularity], tuple[tuple[Kind, Scope], ...]] = {
    ("N", "N"): (("all_reduce", "world"),),
    ("N", "I"): (("reduce_scatter", "intra"), ("all_reduce", "inter")),
    ("N", "G"): (("reduce_scatter", "world"),),
    ("I", "N"): (("all_reduce", "inter"), ("all_gather", "intra")),
    ("I", "I"): (("all_reduce", "inter"),),
    ("I", "G"): (("reduce_scatter", "inter"),),
    ("G", "N"): (("all_gather", "world"),),
    ("G", "I"): (("all_gather", "inter"),),
    ("G", "G"): (),
}
"""From the granularity of gradients to that of optimizer states, after the last micro-batch."""


def schedule(strategy: Strategy, *, sync_every_micro_batch: bool = False) -> Iterator[Step]:
    """Yield the collectives of an optimizer step.

    sync_every_micro_batch: whether gradients are brought to the optimizer states' granularity in
    every micro-batch, as frameworks do that are not told which one is the last.
    """
    for held, during in ((strategy.params, "forward"), (strategy.backward_params, "backward")):
        for each in gather(held):
            yield Step(term="param", collective=each, per_micro_batch=True, during=during)  # type: ignore[arg-type]
    for each in reduce_per_micro_batch(strategy.grads):
        yield Step(term="gradient", collective=each, per_micro_batch=True)
    for kind, scope in SYNC_GRADS[strategy.grads, strategy.states]:
        found = Collective(kind=kind, scope=scope)
        yield Step(term="sync_g", collective=found, per_micro_batch=sync_every_micro_batch)
    for each in gather(strategy.states, strategy.params):
        yield Step(term="sync_p", collective=each, per_micro_batch=False)
