"""Tables of memory: a row per method and setting, and a row per policy and period."""

from __future__ import annotations

from harness.declare import (
    Cell,
    Frame,
    Layout,
    Line,
    Series,
    Table,
    Tables,
    columns_of,
    measured,
    param,
    seed_column,
)
from reproductions.lisa.memory.experiment import (
    DROPOUT,
    GAMMAS,
    MODELS,
    NUM_PERIODS,
    RANKS,
    SEQ_LEN,
    SEQ_LENS,
    TINY_RANKS,
    Step,
    policies,
    steps,
)
from reproductions.lisa.models.layouts import blocks_head
from reproductions.lisa.models.names import TITLES
from reproductions.lisa.models.steps.held import BYTES

STEP = columns_of(Step, without=("seed",))
GPU_PEAKS = (
    measured(
        "peak_allocated_bytes",
        int,
        "Largest sum of live tensors on the GPU; none without room.",
        nullable=True,
    ),
    measured("peak_reserved_bytes", int, "Largest memory taken from the driver.", nullable=True),
)
BREAKDOWN_SHAPES = ("tiny-smoke", "tiny-deep", "llama-2-7b")


def peak_rows(tables: Tables) -> Frame:
    """Return the rows of both experiments, one above the other."""
    import pandas as pd

    parts = [tables[steps.id].assign(part="step", policy="drop_refrozen", period_number=0)]
    if len(tables.get(policies.id, ())):
        periods = tables[policies.id].assign(part="periods", how="count", method="lisa")
        parts.append(periods.assign(rank=0, dropout=0.0))
    return pd.concat(parts, ignore_index=True).reindex(columns=PEAKS.names)


def breakdown_rows(tables: Tables) -> Frame:
    """Return the four methods of Figure 3: full, LoRA of the least rank, LISA with two blocks."""
    rows = tables[steps.id]
    rows = rows[rows["shape"].isin(BREAKDOWN_SHAPES)]
    lora = (rows["method"] == "lora") & (rows["rank"] == _least_rank(rows))
    lisa = (rows["method"] == "lisa") & (rows["gamma"] == 2)
    chosen = rows[(rows["method"] == "full") | lora | lisa]
    return chosen.reindex(columns=BREAKDOWN.names).reset_index(drop=True)


def _least_rank(rows: Frame) -> Series:
    """Return, for each row, the least rank that its model has."""
    ranks = rows["rank"].where(rows["method"] == "lora")
    return ranks.groupby(rows["shape"]).transform("min")


PEAKS = Table.of(
    param("part", str, "step: one step of a method; periods: moments over periods."),
    STEP,
    param("policy", str, "What happens to the states of blocks that are frozen again."),
    param("period_number", int, "From 1; 0 where a single step is counted."),
    seed_column("One draw of layers."),
    BYTES,
    GPU_PEAKS,
    make=peak_rows,
)
BREAKDOWN = Table.of(STEP, BYTES, GPU_PEAKS, make=breakdown_rows)


def method_lines(ranks: tuple[int, ...]) -> tuple[Line, ...]:
    """Return the columns of Table 1; last LoRA without dropout, which the paper has not."""
    lora = (
        Line(
            f"r = {rank}",
            group="LoRA",
            where={"method": "lora", "rank": rank, "dropout": DROPOUT},
            paper={"y_name": f"lora_r{rank}"},
        )
        for rank in ranks
    )
    lisa = (
        Line(
            blocks_head(gamma),
            group="LISA",
            where={"method": "lisa", "gamma": gamma},
            paper={"y_name": f"lisa_{blocks_head(gamma)}"},
        )
        for gamma in GAMMAS
    )
    full = Line("Vanilla", where={"method": "full"}, paper={"y_name": "vanilla"})
    plain = Line(
        f"r = {ranks[0]}, no dropout",
        group="LoRA",
        where={"method": "lora", "rank": ranks[0], "dropout": 0.0},
    )
    return full, *lora, *lisa, plain


GALORE = Line(f"r = {RANKS[0]}", group="GaLore", where={"method": "galore", "rank": RANKS[0]})
"""A column of ours: the paper's table has no GaLore."""
NO_DROPOUT = f"LoRA has dropout {DROPOUT:g}; the last column, without, is not the paper's."
OURS_LAST = (
    f"LoRA has dropout {DROPOUT:g}; the last two columns, LoRA without it and GaLore, are not the"
    " paper's.",
    "GaLore keeps the gradients of a whole step, and has the rank that transformers gives it. The"
    " room for its decompositions, one in 200 steps, is not counted.",
)
A_SUM = "by arithmetic, nothing run: sum of tensors"
SHARED, A_SHARE = MODELS[-1], "one GPU's share"
"""The model of which the early version's Table 1 has a part alone, and which."""
SHAPES = {**{shape: TITLES[shape] for shape in MODELS}, "Phi-2": "Phi-2"}
"""The last is a model of the early version's Table 1 that has no shape here."""
PEAK_TABLE = Layout(
    rows=(
        *(
            Line(title, group=A_SUM, where={"shape": shape}, paper={"series": title})
            for shape, title in SHAPES.items()
        ),
        *(
            Line(
                TITLES[shape],
                group="reserved on a GPU",
                where={"shape": shape, "how": "gpu"},
                cell=Cell("peak_reserved_bytes", unit="GB", scale=1e9, digits=1),
                paper={"series": TITLES[shape]},
            )
            for shape in MODELS[:-1]
        ),
    ),
    columns=(*method_lines(RANKS), GALORE),
    cell=Cell("total_bytes", unit="GB", scale=1e9, digits=1),
    where={"part": "step", "seq_len": SEQ_LEN},
    title="Peak memory",
    notes=(
        f"Ours has one sequence of {SEQ_LEN} tokens; the paper does not state its length.",
        f"On {TITLES[SHARED]} the paper's is {A_SHARE} of a model in parallel, ours is the"
        " whole. The proceedings repeat two values of that row in their text.",
        "Vanilla is full training here; in Tables 2, 4 and 5 it is the untuned model.",
        *OURS_LAST,
    ),
)
LENGTH_TABLE = Layout(
    rows=tuple(
        Line(f"{seq_len} tokens", where={"seq_len": seq_len}) for seq_len in SEQ_LENS["llama-2-7b"]
    ),
    columns=(*method_lines(RANKS), GALORE),
    cell=Cell("total_bytes", unit="GB", scale=1e9, digits=1),
    where={"part": "step", "shape": "llama-2-7b"},
    title=f"{TITLES['llama-2-7b']} by sequence length, by arithmetic",
    notes=("The paper has one length, which it does not state.", *OURS_LAST),
)
SMALL_TABLE = Layout(
    rows=(Line(TITLES["tiny-deep"], where={"shape": "tiny-deep"}),),
    columns=method_lines(TINY_RANKS),
    cell=Cell("total_bytes", unit="MB", scale=1e6, digits=1),
    where={"part": "step", "how": "count"},
    title="The same for a small model, counted in a real step",
    notes=(
        "The paper has no such model.",
        NO_DROPOUT,
    ),
)
POLICY_TABLE = Layout(
    rows=tuple(
        Line(head, where={"policy": policy})
        for policy, head in (
            ("drop_refrozen", "dropped when frozen again"),
            ("keep_all", "all kept"),
            ("reset_all", "all reset"),
        )
    ),
    columns=tuple(
        Line(str(number), group="period", where={"period_number": number})
        for number in range(1, NUM_PERIODS + 1)
    ),
    cell=Cell("moments_bytes", unit="MB", scale=1e6),
    where={"part": "periods"},
    title=f"Optimizer states over the periods, {TITLES['tiny-deep']}",
    notes=("The paper prints no such table.",),
)
