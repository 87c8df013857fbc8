"""Table 14: specifications of the models."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.lisa.claims import ON_A_CPU, exact
from reproductions.lisa.facts.model_experiment import experiment

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Table 14; its values are not known to us"


def _count(name: str, doc: str) -> Column:
    return Column(name=name, type="int", role="value", doc=doc)


COLUMNS = Table(
    (
        Column(name="model", type="str", role="param", doc="The paper's, and two of ours."),
        Column(name="family", type="str", role="value", doc="Class in transformers."),
        _count("hidden", "Width d."),
        _count("ffn", "Width of the feed-forward layer."),
        _count("num_blocks", "Decoder blocks, counted."),
        _count("heads", "Attention heads."),
        _count("kv_heads", "Heads of keys and values."),
        _count("vocab", "Tokens."),
        _count("positions", "Longest sequence."),
        _count("num_params", "Parameters, counted; tied ones once."),
        _count("closed_form_params", "The same in closed form."),
        _count("block_params", "Parameters of one block, counted; all blocks are alike."),
        _count("closed_form_block_params", "The same in closed form."),
        _count("outside_params", "What LISA always trains: embeddings, head, final norm."),
    )
)


def params_error(table: pd.DataFrame) -> float:
    """Return the largest difference of counted parameters from the closed form."""
    whole = (table["num_params"] - table["closed_form_params"]).abs()
    block = (table["block_params"] - table["closed_form_block_params"]).abs()
    return float(max(whole.max(), block.max()))


def parts_error(table: pd.DataFrame) -> float:
    """Return the largest difference of all parameters from blocks and what is outside."""
    parts = table["num_blocks"] * table["block_params"] + table["outside_params"]
    return float((table["num_params"] - parts).abs().max())


CLAIMS = (
    exact(
        "params_as_computed",
        "Every model, and each of its blocks, has as many parameters as the closed form says"
        " (largest difference).",
        where=WHERE,
        form="equal",
        quantity=params_error,
        bound=0.0,
        unit="parameters",
        profiles=ON_A_CPU,
    ),
    exact(
        "blocks_and_ends_are_all",
        "Blocks, and what lies outside of them, are all parameters: LISA with all blocks is full"
        " training (largest difference).",
        where="Algorithm 1",
        form="equal",
        quantity=parts_error,
        bound=0.0,
        unit="parameters",
        profiles=ON_A_CPU,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one bar a model: what lies in its blocks, and what LISA always trains."""
    from reproductions.lisa.facts.figures import model_bars

    return model_bars(context)


task = old_task(
    id="lisa/tab14",
    title="Specifications of the models",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Share of a model's parameters that LISA always trains (embeddings, head, final norm),"
    " and of one block, which it trains for a period. Counted on models that are built and not"
    " allocated; beside each bar the number of all parameters. No seed changes it.",
    alt="One horizontal bar a model: the part outside of the blocks is large for small models and a"
    " few per cent for those of seven billion parameters and more.",
)
