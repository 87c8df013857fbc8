"""Golden trials of LISA: three steps of the smallest model, with a switch of blocks after each."""

from __future__ import annotations

from typing import Any

import torch

from tests.golden_trials import MAX_STEPS, Golden, Point, Short, golden
from tests.patches import Mutation, Patch, around

WIDE = Patch(
    where="reproductions.lisa.models.steps.memory:DTYPES",
    instead=lambda dtypes: {**dtypes, "float32": torch.float64},
)
"""Models are built in the dtype of a name."""
METHODS = "reproductions.lisa.method.methods"
TUNED: Point = {"num_steps": 3, "period": 1, "evaluate_every": 1, "lr": 0.03}
"""The rate of the last step is 0; that of the others is one whose effect is seen after two."""
TINY: Point = {"num_steps": 3, "period": 1, "lr": 0.03, "benchmarks": "none"}
STAGES: Point = {"text_steps": 2, "problems_steps": 1, "period": 1}


def first_draw(draw: Any, sampler: Any) -> tuple[int, ...]:
    """Return what a sampler draws first, however often it is asked."""
    if not hasattr(sampler, "first"):
        sampler.first = draw(sampler)
    return tuple(sampler.first)


NO_SWITCH = Mutation(
    where="reproductions.lisa.method.sampling:RandomSampler.draw",
    instead=around(first_draw),
    breaks="LISA never switches its blocks.",
)
ALL_BLOCKS = Mutation(
    where="reproductions.lisa.method.lisa:Lisa._draw",
    instead=around(lambda draw, self: tuple(range(len(self.blocks)))),
    breaks="LISA freezes no block.",
)
NO_FALL = Mutation(
    where="reproductions.lisa.models.training:Recipe.share_at",
    instead=around(lambda share, self, step: 1.0),
    breaks="The learning rate does not fall.",
)
UNTUNED = Mutation(
    where="torch.nn:Module.load_state_dict",
    instead=around(lambda load, net, tensors: None),
    breaks="The weights of training are not loaded: an untrained model is scored.",
)


def of_policy(policy: str, *, breaks: str) -> Mutation:
    """Return a fault: LISA has another policy for moments than it was told."""
    return Mutation(
        where=f"{METHODS}:Lisa",
        instead=around(lambda lisa, *given, **named: lisa(*given, **{**named, "policy": policy})),
        breaks=breaks,
    )


LATER_TEXT = Patch(
    where="reproductions.lisa.models.benchmarks.lm_tasks:made_up_documents",
    instead=around(lambda made_up, text, count: made_up(text[500:], count)),
)
"""The text's first sentence is longer than the context: of its two choices nothing is left that
differs, and which one is the likelier is for rounding to say."""


def in_float64(
    name: str, mutation: Mutation, *points: Short, patches: tuple[Patch, ...] = ()
) -> Golden:
    """Return golden trials of an experiment whose models compute in float64."""
    return golden(f"lisa/{name}", mutation, *points, patches=(WIDE, *patches))


def counted(name: str, mutation: Mutation, *points: Short, max_steps: int = MAX_STEPS) -> Golden:
    """Return golden trials of an experiment that counts what a model of float32 holds."""
    return golden(f"lisa/{name}", mutation, *points, max_steps=max_steps, double=False)


GOLDEN = (
    in_float64("pretrain", NO_FALL, Short(to={"num_steps": 3, "lr": 0.01})),
    in_float64(
        "finetune",
        Mutation(
            where=f"{METHODS}:Lisa",
            instead=around(
                lambda lisa, *given, period, **named: lisa(*given, period=period + 10, **named)
            ),
            breaks="Neither LISA nor BAdam ever switches its blocks.",
        ),
        Short(of={"method": "lisa", "gamma": 2}, to=TUNED),
        Short(of={"method": "cyclic"}, to=TUNED),
        Short(of={"method": "galore"}, to={**TUNED, "period": 0}),
        Short(of={"policy": "reset_all"}, to=TUNED),
        Short(of={"outside": True}, to={**TUNED, "period": 0}),
    ),
    in_float64("continual", ALL_BLOCKS, Short(of={"method": "lisa", "gamma": 2}, to=STAGES)),
    in_float64(
        "convex",
        NO_SWITCH,
        Short(to={"steps": 3, "period": 1}),
        Short(of={"policy": "reset_all"}, to={"steps": 3, "period": 1}),
    ),
    in_float64(
        "norms",
        Mutation(
            where="reproductions.lisa.norms.layers:Adapter.update",
            instead=around(
                lambda update, one: None if update(one) is None else update(one) / one.scale
            ),
            breaks="Updates are measured without the adapters' scale.",
        ),
        Short(of={"method": "lora"}),
        Short(of={"method": "full"}),
    ),
    in_float64(
        "initial_norms",
        Mutation(
            where="reproductions.lisa.norms.layers:adapter_norm",
            instead=around(lambda norm, weights: norm(list(weights)[1:])),
            breaks="The first of a layer's adapters is left out.",
        ),
        Short(to={"dtype": "float32"}),
    ),
    counted(
        "memory",
        Mutation(
            where=f"{METHODS}:_linears",
            instead=around(lambda linears, model, embeddings: linears(model, embeddings=False)),
            breaks="Embedding and head get no adapters.",
        ),
        Short(of={"method": "lora", "how": "count"}),
        Short(of={"method": "lisa", "how": "count", "gamma": 2}),
        Short(of={"method": "full", "how": "count"}),
        Short(of={"method": "galore", "how": "count"}),
    ),
    counted(
        "continual_memory", ALL_BLOCKS, Short(of={"method": "full"}), Short(of={"method": "lisa"})
    ),
    counted(
        "state_policies",
        of_policy("keep_all", breaks="Moments of blocks that are frozen again are kept."),
        Short(of={"policy": "drop_refrozen"}, to={"num_periods": 2}),
        Short(of={"policy": "keep_all"}, to={"num_periods": 2}),
        # A period has two steps, and a switch needs two periods; bytes alone are counted.
        max_steps=4,
    ),
    counted("step_time", ALL_BLOCKS, Short(of={"methods": "all"}, to={"num_timed": 2})),
    # The first step, two that are timed, and one whose bytes are counted.
    counted("kernel_step", ALL_BLOCKS, Short(to={"num_timed": 2}), max_steps=4),
    counted(
        "models",
        Mutation(
            where="reproductions.lisa.models.shapes:Shape.block_params",
            instead=lambda params: property(lambda self: params.fget(self) - self.hidden),
            breaks="One of a block's norms is not counted.",
        ),
        Short(of={"model": "gpt2-small"}),
        Short(of={"model": "llama-2-7b"}),
    ),
    counted(
        "datasets",
        Mutation(
            where="reproductions.lisa.facts.trial:num_records",
            instead=around(lambda num_records, content: len(content.arrays)),
            breaks="Fields are counted instead of records.",
        ),
        Short(),
    ),
    in_float64(
        "dola",
        Mutation(
            where="reproductions.lisa.dola.decoding:divergence",
            instead=around(lambda divergence, *given: -divergence(*given)),
            breaks="DoLa contrasts the last block with the nearest exit, not the farthest.",
        ),
        *(Short(to={"num_questions": 16, "max_new_tokens": most}) for most in (1, 2)),
    ),
    in_float64("evaluate", UNTUNED, Short(to={"max_documents": 12}), patches=(LATER_TEXT,)),
    in_float64("evaluate_base", UNTUNED, Short(to={"max_documents": 12}), patches=(LATER_TEXT,)),
    in_float64("mt_bench", UNTUNED, Short()),
    in_float64("mt_bench_untuned", UNTUNED, Short()),
    in_float64(
        "compared",
        ALL_BLOCKS,
        Short(of={"method": "lisa"}, to=TINY),
        Short(of={"method": "lora_ends"}, to={**TINY, "period": 0}),
        Short(of={"method": "untuned"}, to={"benchmarks": "none"}),
    ),
    in_float64("pilot_rates", NO_SWITCH, Short(of={"method": "lisa"}, to=TINY)),
    counted(
        "compared_memory",
        ALL_BLOCKS,
        Short(of={"method": "lisa", "how": "count"}),
        Short(of={"method": "lora_ends", "how": "count"}),
        Short(of={"method": "lora", "how": "arithmetic"}),
    ),
    counted("compared_time", ALL_BLOCKS, Short(of={"methods": "all"}, to={"num_timed": 2})),
    in_float64("finetune_rates", NO_SWITCH, Short(of={"method": "lisa"}, to=TUNED)),
    in_float64(
        "pilot_in_house",
        of_policy("drop_refrozen", breaks="Moments of embeddings and head outlive a switch."),
        Short(of={"policy": "reset_all"}, to=TUNED),
    ),
    in_float64("pilot_continual", NO_FALL, Short(to={"text_steps": 2, "problems_steps": 2})),
)
