"""Facts of a model: what its config says, and what its modules hold."""

from __future__ import annotations

import torch

from harness.declare.experiment import Row
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.step_memory import build


def facts_row(name: str) -> Row:
    """Return a model's sizes, with its parameters counted and in closed form.

    Counted are those of the real model class, on the meta device: nothing is allocated.
    Raises SpecError for an unknown name.
    """
    shape = shape_of(name)
    with torch.device("meta"):
        model = build(shape.config(), "bfloat16", seed=0)
    blocks = find_blocks(model)
    inside = [sum(p.numel() for p in block) for block in blocks.inside]
    return {
        "family": shape.family,
        "hidden": shape.hidden,
        "ffn": shape.ffn,
        "num_blocks": len(blocks),
        "heads": shape.heads,
        "kv_heads": shape.kv_heads,
        "vocab": shape.vocab,
        "positions": shape.positions,
        "num_params": sum(p.numel() for p in model.parameters()),
        "closed_form_params": shape.num_params,
        "block_params": max(inside),
        "closed_form_block_params": shape.block_params,
        "outside_params": sum(p.numel() for p in blocks.outside),
    }
