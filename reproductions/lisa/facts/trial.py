"""Facts of a model: what its config says and its modules hold; of a data set: its records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from harness.data.codec import Content
from harness.data.load import find
from harness.declare import Row, RunContext
from reproductions.lisa.facts.experiment import ALL, Count, Model
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.steps.memory import build


def model_row(params: Model, ctx: RunContext) -> list[Row]:
    """Return a model's sizes, with its parameters counted and in closed form.

    Counted are those of the real model class, on the meta device: nothing is allocated.
    Raises SpecError for an unknown name.
    """
    shape = shape_of(params.model)
    with torch.device("meta"):
        model = build(shape.config(), "bfloat16", seed=0)
    blocks = find_blocks(model)
    inside = [sum(p.numel() for p in block) for block in blocks.inside]
    row = {
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
    return [row]


def dataset_row(params: Count, ctx: RunContext) -> list[Row]:
    """Count what a trial asks for; no numbers where the data set is not at hand."""
    if not params.source:
        return [{"num_counted": None, "num_records": None, "catalogue_records": None}]
    content = ctx.dataset(params.source)
    row = {
        "num_counted": count(content, kept=params.kept, field=params.field),
        "num_records": num_records(content),
        "catalogue_records": find(params.source).num_records,
    }
    return [row]


def num_records(content: Content) -> int:
    """Return the records of a data set, or the entries of the first of its arrays."""
    if isinstance(content.value, dict):
        return len(next(iter(content.arrays.values())))
    return len(content.records)


def count(content: Content, *, kept: str, field: str) -> int:
    """Return how many records are kept, or distinct values of a field they have.

    kept: `all`, or `name=value` of a field; field: empty for the records themselves.
    """
    if kept == ALL and not field:
        return num_records(content)
    records: Sequence[Mapping[str, Any]] = content.records
    name, _, value = kept.partition("=")
    chosen = [record for record in records if not value or str(record[name]) == value]
    return len({record[field] for record in chosen}) if field else len(chosen)
