"""Golden trials of blocks, collectives, terms and counted steps."""

from __future__ import annotations

from typing import Any

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, around


def sent_twice(gather: Any, held: Any, rings: Any, chunks: Any, traffic: Any) -> None:
    """Gather as a ring does, but sending every chunk twice."""
    before, steps = traffic.sent.copy(), traffic.steps
    gather(held, rings, chunks, traffic)
    traffic.sent.update(traffic.sent - before)
    traffic.steps += traffic.steps - steps


GOLDEN = (
    Golden(
        experiment="paro/blocks",
        points=(Short(of={"numbering": "contiguous"}), Short(of={"numbering": "strided"})),
        mutation=Mutation(
            where="reproductions.paro.collectives.trial:blocks_of",
            instead=around(
                lambda blocks, split, group, local, *rest: blocks(split, 0, local, *rest)
            ),
            breaks="Every group holds the first group's blocks.",
        ),
        double=False,
    ),
    Golden(
        experiment="paro/collectives",
        points=(Short(of={"num_gpus": 8}), Short(of={"num_gpus": 15})),
        mutation=Mutation(
            where="reproductions.paro.collectives.messages:ring_all_gather",
            instead=around(sent_twice),
            breaks="A gather sends every chunk twice.",
        ),
        double=False,
    ),
    Golden(
        experiment="paro/cost_terms",
        points=(Short(of={"trainable_share": 1 / 16}), Short(of={"num_gpus": 48})),
        mutation=Mutation(
            where="reproductions.paro.method.schedule:SYNC_GRADS",
            instead=lambda table: {**table, ("I", "G"): table["I", "I"]},
            breaks="IIG and NIG sum gradients between groups with an all-reduce.",
        ),
        double=False,
    ),
    Golden(
        experiment="paro/counted_steps",
        points=(Short(of={"num_gpus": 6}),),
        mutation=Mutation(
            where="reproductions.paro.method.schedule:SYNC_GRADS",
            instead=lambda table: {**table, ("N", "I"): (("all_reduce", "world"),)},
            breaks="The schedule of NNI and INI sums gradients on all GPUs.",
        ),
        double=False,
    ),
)
