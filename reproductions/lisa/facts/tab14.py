"""Table 14: specifications of the models."""

from __future__ import annotations

from harness.declare import (
    CHECK,
    SMOKE_AND_CPU,
    Cell,
    Frame,
    Layout,
    Line,
    Table,
    Task,
    claims,
    equal,
    value,
)
from reproductions.lisa.facts.experiment import Model, models
from reproductions.lisa.memory.experiment import MODELS
from reproductions.lisa.models.names import NAMES, QUALITY

COUNTED = CHECK.at(*SMOKE_AND_CPU)
COUNTS = {
    "hidden": "Width d.",
    "ffn": "Width of the feed-forward layer.",
    "num_blocks": "Decoder blocks, counted.",
    "heads": "Attention heads.",
    "kv_heads": "Heads of keys and values.",
    "vocab": "Tokens.",
    "positions": "Longest sequence.",
    "num_params": "Parameters, counted; tied ones once.",
    "closed_form_params": "The same in closed form.",
    "block_params": "Parameters of one block, counted; all blocks are alike.",
    "closed_form_block_params": "The same in closed form.",
    "outside_params": "What LISA always trains: embeddings, head, final norm.",
}

HEADS = {
    "num_blocks": "layers",
    "hidden": "hidden size",
    "heads": "heads",
    "kv_heads": "heads of keys and values",
    "ffn": "feed-forward size",
    "vocab": "vocabulary",
    "positions": "positions",
}
LAYOUT = Layout(
    rows=tuple(
        Line(NAMES[name], where={"model": name}) for name in (*MODELS, "tiny-deep", QUALITY)
    ),
    columns=(
        Line("parameters", cell=Cell("num_params", unit="M", scale=1e6, digits=1)),
        *(Line(head, cell=Cell(name, digits=0)) for name, head in HEADS.items()),
        *(
            Line(head, cell=Cell(name, unit="M", scale=1e6, digits=1))
            for name, head in (
                ("block_params", "parameters of a block"),
                ("outside_params", "parameters outside of the blocks"),
            )
        ),
    ),
    notes=("The last two models and the last two columns are not the paper's.",),
    ours=True,
)


def params_error(table: Frame) -> float:
    """Return the largest difference of counted parameters from the closed form."""
    whole = (table["num_params"] - table["closed_form_params"]).abs()
    block = (table["block_params"] - table["closed_form_block_params"]).abs()
    return float(max(whole.max(), block.max()))


def parts_error(table: Frame) -> float:
    """Return the largest difference of all parameters from blocks and what is outside."""
    parts = table["num_blocks"] * table["block_params"] + table["outside_params"]
    return float((table["num_params"] - parts).abs().max())


task = Task(
    "lisa/tab14",
    reads=(models,),
    table=Table.of(
        Model,
        value("family", str, "Class in transformers."),
        (value(name, int, doc) for name, doc in COUNTS.items()),
    ),
    layout=LAYOUT,
    claims=claims(
        "Table 14",
        (
            "params_as_computed",
            COUNTED,
            equal(params_error, 0, "parameters").measuring("largest difference"),
            "The closed form gives the parameters of every model and of its blocks.",
        ),
    )
    + claims(
        "Algorithm 1",
        (
            "blocks_and_ends_are_all",
            COUNTED,
            equal(parts_error, 0, "parameters").measuring("largest difference"),
            "The blocks and what lies outside of them are all of a model's parameters.",
        ),
    ),
    figure="figures:model_bars",
    caption="Share of a model's parameters in what LISA always trains (embeddings, head, final"
    " norm), and in one block. Beside each bar: all parameters. No seed changes it.",
    alt="One horizontal bar per model: the part outside of the blocks is large for small models and"
    " a few per cent for those of seven billion parameters and more.",
)
