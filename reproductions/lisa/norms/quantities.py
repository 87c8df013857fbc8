"""What the claims on layerwise norms measure, from the tables of Figures 2 and 12."""

from __future__ import annotations

import itertools
from collections.abc import Collection

from harness.declare import Frame, MissingRows, Series, pick
from reproductions.lisa.norms.experiment import EMBEDDING, HEAD, MEAN, POSITIONS, START

NO_BLOCKS = (EMBEDDING, POSITIONS, HEAD)
RUN = ["model", "num_blocks", "method", "rank", "lr", "when", "seed"]
"""What the layers of one model in one state share."""
LORA, FULL = "lora", "full"


def start_error(table: Frame) -> float:
    """Return the largest change before any step, or relative difference of a merged weight's norm
    from that of the weight alone, over all layers."""
    rows = pick(table, when=START)
    off = (rows["weight_norm"] / rows["base_norm"] - 1.0).abs()
    return float(max(off.max(), rows["change_norm"].abs().max()))


def drawn_error(table: Frame, *, models: Collection[str]) -> float:
    """Return the largest relative difference of drawn adapters' norms from the closed form."""
    rows = _drawn(table, models)
    return float((rows["adapter_norm"] / rows["drawn_norm"] - 1.0).abs().max())


def drawn_embedding_ratio(table: Frame, *, models: Collection[str]) -> float:
    """Return the embedding's norm over the blocks' median, of drawn adapters.

    The least ratio of all models.
    """
    rows = _drawn(table, models)
    return min(_embedding_ratio(own) for _, own in rows.groupby("model"))


def adapters_moved(table: Frame, *, model: str) -> list[float]:
    """Return per layer the relative difference of an adapter's mean norm from that before any
    step, signed."""
    mean, start = (
        _chosen(table, model, LORA, when).set_index("layer")["adapter_norm"]
        for when in (MEAN, START)
    )
    return [float(moved) for moved in mean / start - 1.0]


def weights_moved(table: Frame, *, model: str) -> list[float]:
    """Return per layer how far LoRA moves the weights in training, as a share of their norm."""
    rows = _chosen(table, model, LORA, MEAN)
    return [float(share) for share in rows["change_norm"] / rows["base_norm"]]


def block_pairs(table: Frame, *, model: str) -> list[float]:
    """Return norms of the weights of each two blocks under full training, for their ratios."""
    blocks = _blocks(_chosen(table, model, FULL, MEAN))["weight_norm"]
    return list(itertools.chain.from_iterable(itertools.combinations(map(float, blocks), 2)))


def skew(values: Series) -> float:
    """Return the largest of some layers' norms over their median; not a number where that is 0."""
    median = float(values.median())
    return float(values.max()) / median if median > 0.0 else float("nan")


def _chosen(table: Frame, model: str, method: str, when: str) -> Frame:
    """Return a model's layers at the learning rate of the least validation loss."""
    return pick(table, model=model, method=method, when=when, chosen=True)


def _drawn(table: Frame, models: Collection[str]) -> Frame:
    rows = table[table["model"].isin(models) & (table["when"] == START)]
    missing = set(models) - set(rows["model"])
    if missing:
        raise MissingRows(f"no adapters were drawn for {', '.join(sorted(missing))}")
    return rows


def _embedding_ratio(rows: Frame) -> float:
    embedding = float(pick(rows, layer=EMBEDDING)["adapter_norm"].iloc[0])
    return embedding / float(_blocks(rows)["adapter_norm"].median())


def _blocks(rows: Frame) -> Frame:
    return rows[~rows["layer"].isin(NO_BLOCKS)]
