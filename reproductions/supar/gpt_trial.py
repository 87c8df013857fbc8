"""From the parameters of a trial to a net, its data, and what a dry run learns of it."""

from __future__ import annotations

from typing import Any, cast

import torch

from harness.errors import SpecError
from harness.task import DryRun, Params, RunContext
from reproductions.nets.gpt import GPT, GPTConfig, next_token_loss, num_params
from reproductions.supar.base import base_for
from reproductions.supar.costs import vocabulary
from reproductions.supar.parameterization import BaseHyperparameters, Parameterization
from reproductions.supar.text import Corpus, character_corpus, gpt2_corpus
from reproductions.supar.training import Seeds, Settings, build_adamw, build_gpt


def parameterization_of(
    params: Params, base: BaseHyperparameters, *, lr: float
) -> Parameterization:
    """Return what `scheme`, `width`, `base_width` and `density` of a trial say."""
    multiplier = float(params["width"]) / float(params["base_width"])
    scheme: Any = params["scheme"]
    return Parameterization(
        scheme=scheme,
        width_multiplier=multiplier,
        density=float(params["density"]),
        base=base_for(scheme, base, lr=lr, width_multiplier=multiplier),
    )


def gpt_config(params: Params, parameterization: Parameterization, vocab_size: int) -> GPTConfig:
    """Return the net of a trial: no biases, F = 4 D with GELU, 8 D / 3 with SwiGLU."""
    width, head_size = int(params["width"]), int(params["head_size"])
    feed_forward: Any = params["feed_forward"]
    positions: Any = params["positions"]
    return GPTConfig(
        vocab_size=vocab_size,
        width=width,
        num_layers=int(params["num_layers"]),
        head_size=head_size,
        context=int(params["context"]),
        feed_forward=feed_forward,
        # The closest multiple of 8, for the GPU's sake, to the size of a GELU block.
        feed_forward_width=4 * width if feed_forward == "gelu" else 8 * round(width / 3),
        positions=positions,
        bias=False,
        embedding_multiplier=parameterization.embedding_multiplier,
        logit_multiplier=parameterization.logit_multiplier,
        attention_scale=parameterization.attention_scale(head_size),
    )


def corpus_of(params: Params, ctx: RunContext) -> Corpus:
    """Return the tokens of a trial's data set; records are joined in their order."""
    value = ctx.dataset(str(params["data"])).value
    if not isinstance(value, str):
        value = "\n\n".join(str(record["text"]) for record in cast(list[dict[str, Any]], value))
    if params["tokenizer"] == "characters":
        return character_corpus(value)
    if params["tokenizer"] == "gpt2":
        return gpt2_corpus(value)
    raise SpecError(f"tokenizer={params['tokenizer']!r}: need 'characters' or 'gpt2'")


def dry_run(params: Params, parameterization: Parameterization, settings: Settings) -> DryRun:
    """Build the net on the meta device, count it, and run one step under FakeTensorMode."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    from torch.utils.flop_counter import FlopCounterMode

    from harness.measure.memory import count_bytes

    config = gpt_config(params, parameterization, vocabulary(params))
    real = GPT(config, generator=torch.Generator(), device="meta")
    batch_size = -(-int(params["batch_size"]) // settings.num_micro_batches)
    with FakeTensorMode(), FlopCounterMode(display=False) as counter:
        model = build_gpt(config, parameterization, Seeds(init=0, masks=0))
        optimizer = build_adamw(model, parameterization, settings)
        tokens_BT = torch.zeros(batch_size, config.context, dtype=torch.long)
        memory = count_bytes(model, optimizer, lambda: next_token_loss(model(tokens_BT), tokens_BT))
    return DryRun(
        num_params=sum(parameter.numel() for parameter in real.parameters()),
        expected_num_params=num_params(config),
        memory_bytes=memory.total,
        step_flops=counter.get_total_flops() * settings.num_micro_batches,
        num_steps=settings.num_steps,
    )
