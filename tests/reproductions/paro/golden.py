"""Golden trials of PaRO, by study.

Ranks are processes of their own, which no mutation reaches: they run once for all runs of a trial.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from tests.golden_trials import Golden, Short
from tests.patches import Mutation, Patch, around

PAPER = "reproductions.paro"
SAID: dict[str, Any] = {}
"""What ranks said, by what they were told."""


def once(call: Callable[..., Any], function: Any, params: Any, *given: Any, **more: Any) -> Any:
    """Return what ranks say."""
    told = json.dumps([function.__name__, params, str(given)])
    if told not in SAID:
        SAID[told] = call(function, params, *given, **more)
    return SAID[told]


RANKS = Patch(where=f"{PAPER}.models.gloo_ranks:call_fresh", instead=around(once))
ON_LINKS = Patch(where=f"{PAPER}.links.trial:run_ranks", instead=around(once))
ON_STEPS = Patch(where=f"{PAPER}.measured_steps.trial:run_ranks", instead=around(once))


def golden(
    name: str, breaks: str, where: str, instead: Any, *points: Short, double: bool = False,
    patches: tuple[Patch, ...] = (),
) -> Golden:  # fmt: skip
    """Return an experiment's golden trials, and a mutation that changes their rows."""
    return Golden(
        experiment=f"paro/{name}", points=points or (Short(),), double=double, patches=patches,
        mutation=Mutation(where=f"{PAPER}.{where}", instead=instead, breaks=breaks),
    )  # fmt: skip


def sent_twice(gather: Any, held: Any, rings: Any, chunks: Any, traffic: Any) -> None:
    """Gather as a ring does, but sending every chunk twice."""
    before, steps = traffic.sent.copy(), traffic.steps
    gather(held, rings, chunks, traffic)
    traffic.sent += traffic.sent - before
    traffic.steps += traffic.steps - steps


def backward_without_gathers(schedule: Any, *given: Any, **named: Any) -> Any:
    return (step for step in schedule(*given, **named) if step.during != "backward")


SPLITS_NOTHING = around(lambda parts, self, granularity: parts(self, "N"))
AS_ONE_RING = around(lambda traffic, found, *rest: traffic(found, *rest[:-1], "flat"))
REDUCES_NOTHING = around(lambda reduced, grads: iter(()))

GOLDEN = (
    golden(
        "blocks", "Every group holds the first group's blocks.", "collectives.trial:blocks_of",
        around(lambda blocks, split, group, local, *rest: blocks(split, 0, local, *rest)),
        Short(of={"numbering": "contiguous"}), Short(of={"numbering": "strided"}),
    ),
    golden(
        "collectives", "A gather sends every chunk twice.",
        "collectives.messages:ring_all_gather", around(sent_twice),
        Short(of={"num_gpus": 8}), Short(of={"num_gpus": 15}),
    ),
    golden(
        "cost_terms", "IIG and NIG sum gradients between groups with an all-reduce.",
        "method.schedule:SYNC_GRADS", lambda table: {**table, ("I", "G"): table["I", "I"]},
        Short(of={"trainable_share": 1 / 16}), Short(of={"num_gpus": 48}),
    ),
    golden(
        "counted_steps", "The schedule of NNI and INI sums gradients on all GPUs.",
        "method.schedule:SYNC_GRADS",
        lambda table: {**table, ("N", "I"): (("all_reduce", "world"),)},
        Short(of={"num_gpus": 6}),
    ),
    golden(
        "predictions", "No micro-batch reduces its gradients.",
        "method.schedule:reduce_per_micro_batch", REDUCES_NOTHING,
        Short(of={"about": "scaling"}), double=True,
    ),
    golden(
        "compute_times", "Frozen parameters are reduced and sent anew as if they trained.",
        "method.step_time:bytes_of", around(lambda moved, term, load: 2 * load.num_params),
        double=True,
    ),
    golden(
        "strategy_sweep", "Coarser optimizer states take no memory.",
        "method.guideline:memory_of",
        around(lambda memory, strategy, *given: memory(strategy.kept, *given)),
        Short(of={"world": "flat"}), Short(of={"world": "hier"}),
    ),
    golden(
        "strategy_costs", "The backward pass gathers no parameters.",
        "method.step_time:schedule", around(backward_without_gathers),
        Short(of={"trainable_share": 1 / 16}),
    ),
    golden(
        "peers", "New parameters are gathered whole, whatever part a GPU keeps.",
        "method.schedule:gather",
        around(lambda gather, held, wanted="N": gather(held, "N")),
    ),
    golden(
        "ring_times", "A row that has arrived is not spread within the group.",
        "method.rings:hop_and_row_s", around(lambda timed, *given: (timed(*given)[0], 0.0)),
        double=True,
    ),
    golden(
        "convergence", "The first parameter's gradient is neither clipped nor in the norm.",
        "convergence.loops:stepped",
        around(lambda stepped, training, optimizer, params: stepped(
            training, optimizer, params[1:])),
        Short(of={"precision": "float64"}), double=True, patches=(RANKS,),
    ),
    golden(
        "held_bytes", "The formula splits nothing.", "method.cluster:Cluster.parts",
        SPLITS_NOTHING, Short(of={"num_ranks": 4}), patches=(RANKS,),
    ),
    golden(
        "measured_steps", "The formula splits nothing.", "method.cluster:Cluster.parts",
        SPLITS_NOTHING, Short(to={"about": "scaling"}), patches=(ON_STEPS,),
    ),
    golden(
        "link_bandwidths", "Ranks of a group are given a whole link each.",
        "method.cluster:Cluster.sharing", lambda sharing: property(lambda self: 1),
        patches=(ON_LINKS,),
    ),
    golden(
        "gather_times", "PaRO-CC is said to send what one ring sends.",
        "links.trial:traffic_of", AS_ONE_RING,
        patches=(ON_LINKS,),
    ),
    golden(
        "step_pilots", "The formula splits nothing.", "method.cluster:Cluster.parts",
        SPLITS_NOTHING, patches=(ON_STEPS,),
    ),
    golden(
        "gather_pilots", "PaRO-CC is said to send what one ring sends.",
        "links.trial:traffic_of", AS_ONE_RING,
        patches=(ON_LINKS,),
    ),
    golden(
        "traced_step", "The schedule reduces no gradient in a backward pass.",
        "method.schedule:reduce_per_micro_batch", REDUCES_NOTHING, patches=(RANKS,),
    ),
    golden(
        "traced_gather", "Groups that a part came through are counted with one too many.",
        "traces.trial:groups_come",
        around(lambda come, part, rank, gather: 1 + come(part, rank, gather)),
        patches=(RANKS,),
    ),
)  # fmt: skip
