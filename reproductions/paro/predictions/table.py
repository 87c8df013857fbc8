"""Tables of predictions, a row per setting, strategy and way of collectives; how they are printed.

The paper's tables are pictures: rows and columns of what is printed are ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from harness.declare import (
    Cell,
    Column,
    Frame,
    Layout,
    Line,
    Scalar,
    Table,
    Tables,
    columns_of,
    param,
    value,
)
from reproductions.paro.method.peers import NAMED
from reproductions.paro.models.paper_inputs import SHARES
from reproductions.paro.predictions.experiment import (
    COMPARED,
    GPUS,
    HPZ,
    MICRO_BATCH,
    ONE_RING,
    SCALED,
    SPLITS,
    STRATEGIES,
    SWEPT,
    Inputs,
    Question,
    predictions,
)

SETTING = (
    param("model", str, "Model: 7e9 or 65e9 parameters, as the guideline takes them."),
    param("trainable", str, "Trainable over all parameters."),
    param("num_gpus", int, "n."),
    param("nic", str, "rail: every GPU has B to itself; shared: the GPUs of a group share it."),
    param("micro_batch", int, "Sequences per GPU and micro-batch; no formula takes it."),
    param("accumulation", int, "Micro-batches per optimizer step, s."),
    param("world", str, "Collectives of all GPUs. flat: one ring; hier: PaRO-CC in two steps."),
    param("strategy", str, "Three letters, or a baseline."),
)
PREDICTED = (
    value("param_s", float, "Gathers of parameters in a micro-batch."),
    value("gradient_s", float, "Reduction of gradients in a micro-batch."),
    value("sync_g_s", float, "Gradients to the optimizer states' granularity, per step."),
    value("sync_p_s", float, "New parameters to theirs, per step."),
    value("comm_s", float, "t_comm of a step, of s micro-batches."),
    value("memory_bytes", float, "Parameters, gradients and optimizer states per GPU."),
    value("fits", bool, "Whether those alone are within a GPU's memory."),
    value(
        "steps_per_s", float, "1/T by communication alone; none where it does not fit.",
        nullable=True,
    ),
    value("log10_steps_per_s", float, "Its logarithm to base 10.", nullable=True),
    value(
        "samples_per_s_at_most", float,
        "Sequences per second of all GPUs were there nothing to compute; memory ignored.",
    ),
    value(
        "rank", int, "Place among the strategies of section 4.3 that fit; none for others.",
        nullable=True,
    ),
    *(
        value(
            f"gain_over_zero{stage}", float,
            f"Speed over that of ZeRO-{stage}, less 1, in percent; none where either does not fit.",
            nullable=True,
        )
        for stage in (1, 2, 3)
    ),
)  # fmt: skip
COLUMNS: tuple[Column, ...] = (*columns_of(Question), *SETTING, *PREDICTED)


def table_of(**wanted: Scalar | tuple[Scalar, ...]) -> Table:
    """Return the table of some of the predictions: those whose columns equal these, or one of."""
    return Table.of(COLUMNS, make=partial(some_rows, wanted=wanted))


def some_rows(tables: Tables, *, wanted: Mapping[str, Scalar | tuple[Scalar, ...]]) -> Frame:
    """Return the rows whose columns equal these, or one of these."""
    rows = tables[predictions.id]
    for column, values in wanted.items():
        rows = rows[rows[column].isin(values if isinstance(values, tuple) else (values,))]
    return rows.reset_index(drop=True)


def scaling_rows(tables: Tables) -> Frame:
    """Return the rows of scaling with each one's speed-up ratio."""
    rows = some_rows(tables, wanted={"about": "scaling"})
    key = ["accumulation", "nic", "world", "strategy"]
    few = rows[rows["num_gpus"] == GPUS[0]].set_index(key)["samples_per_s_at_most"]
    base = few.reindex(rows.set_index(key).index).to_numpy()
    per_gpu = rows["samples_per_s_at_most"] / (rows["num_gpus"] / GPUS[0])
    return rows.assign(speedup_ratio=per_gpu / base)


SCALING = Table.of(
    COLUMNS,
    value(
        "speedup_ratio", float,
        f"Samples per second over those of {GPUS[0]} GPUs, over how many times as many GPUs.",
    ),
    make=scaling_rows,
)  # fmt: skip
COMPUTE = Table.of(
    columns_of(Inputs),
    *SETTING[:2],
    param("strategy", str, "The faster one."),
    param("baseline", str, "The slower one."),
    param("reading", str, "more: so many percent faster; times: so many percent of its speed."),
    param("world", str, SETTING[-2].doc),
    param("assembly", str, "T of communication and computation: max of both, or their sum."),
    value("quoted_percent", float, "As the text prints it."),
    value("quoted_ratio", float, "Speed over the baseline's by this reading."),
    value("comm_ratio", float, "The same by communication alone: the most that is possible."),
    value(
        "compute_s",
        float,
        "t_comp of a step at which the formulas give the quoted ratio; none where no time does.",
        nullable=True,
    ),
    value(
        "ratio_at_compute", float, "The formulas' ratio at that time, worked out again.",
        nullable=True,
    ),
)  # fmt: skip
KNOWN_AS = {**NAMED, HPZ: "ZeRO++"}
BASELINES = {letters: NAMED[letters] for letters in ("NNG", "NGG", "GGG")}
UNREADABLE = "The paper's own cells are not readable."
ROWS_OURS = f"{UNREADABLE} Rows are those of section 4.3."
THREE_ROWS = f"{UNREADABLE} The paper has GGG, ING and ZeRO++; the other rows are ours."
COLUMNS_OURS = {
    "LLaMA-7B": f"{UNREADABLE} The text names NNI and ZeRO-1; the other columns are ours.",
    "LLaMA-65B": f"{UNREADABLE} The paper has IIG and GGG; the other columns are ours.",
}
TWO_HSZ = (
    "FSDP-hsz reduces gradients between groups in every micro-batch, as the authors' script does (s"
    " syncs), or once a step, as FSDP2 can (one sync)."
)
A_DASH = "A dash: the three states alone exceed 80 GB."
COMM_ALONE = "Ours is communication alone: compare orders, not sizes."
AT_MOST = "At most: without computation, and memory ignored."
WAYS = {
    "flat": "collectives of all GPUs as one ring",
    "hier": "collectives of all GPUs by PaRO-CC",
}
LINKS = {"rail": "a link per GPU", "shared": "one link that the GPUs of a group share"}


def name_of(strategy: str) -> str:
    """Return a strategy as a table names it.

    >>> name_of("GGG"), name_of("IGG")
    ('GGG (ZeRO-3)', 'IGG')
    """
    return f"{strategy} ({KNOWN_AS[strategy]})" if strategy in KNOWN_AS else strategy


def place(rows: Frame) -> str:
    """Return a strategy's place among those of section 4.3 that fit; nothing for others."""
    ranks = rows["rank"].dropna()
    return "" if ranks.empty else f"{int(ranks.iloc[0])}."


SPEED = Cell("steps_per_s", unit="1/s", digits=4, remark=place)
MEMORY = Cell("memory_bytes", unit="GB", scale=1e9, digits=1)
COMM = Cell("comm_s", unit="s", digits=2)
SAMPLES = Cell("samples_per_s_at_most", unit="samples/s", digits=1)


def by_strategy(
    names: Iterable[str], *, cell: Cell | None = None, series: Mapping[str, str] | None = None
) -> tuple[Line, ...]:
    """Return a line per strategy; series: what the reference calls those that it has."""
    return tuple(
        Line(
            name_of(name), where={"strategy": name}, cell=cell,
            paper={} if series is None else {"series": series.get(name, name)},
        )
        for name in names
    )  # fmt: skip


def gain_over(stage: int, *, digits: int = 0) -> Cell:
    """Return the cell of gains over a ZeRO stage."""
    return Cell(f"gain_over_zero{stage}", unit="%", digits=digits)


def guideline_layouts(shares: dict[str, str]) -> tuple[Layout, ...]:
    """Return 1/T and memory of every strategy; shares: trainable share -> head of its columns."""
    return tuple(
        Layout(
            rows=by_strategy(STRATEGIES),
            columns=tuple(
                Line(head, group=group, where={"trainable": share}, cell=cell)
                for share, group in shares.items()
                for head, cell in (("1/T", SPEED), ("Mem", MEMORY))
            ),
            where={"nic": nic, "world": world},
            title=f"1/T and memory: {way}, {link}",
            inferred=True,
            notes=(
                f"{UNREADABLE} Rows are all 14 strategies and the baselines.",
                A_DASH,
                TWO_HSZ,
                "1/T is of communication alone. In brackets: the place among section 4.3's"
                " strategies that fit.",
            ),
        )
        for nic, link in LINKS.items()
        for world, way in WAYS.items()
    )


def gain_layout(share: str, *models: str, rows: str) -> Layout:
    """Return memory, t_comm and gains of the strategies that the paper compares.

    share: what of the models trains. rows: a note on which of them the paper's table has.
    """

    def quoted(model: str, stage: int) -> dict[str, str]:
        gain = f"throughput_gain_over_ZeRO-{stage}"
        return {"series": model, "x": str(SHARES[share]), "y_name": gain}

    return Layout(
        rows=by_strategy(COMPARED, series={}),
        columns=tuple(
            Line(head, group=model, where={"model": model}, cell=cell, paper=paper)
            for model in models
            for head, cell, paper in (
                ("Mem", MEMORY, {}),
                ("t_comm", COMM, {}),
                *((f"gain over ZeRO-{n}", gain_over(n), quoted(model, n)) for n in (2, 3)),
            )
        ),
        where=ONE_RING,
        title="Predicted memory, communication and gains, beside the gains that the text quotes",
        inferred=True,
        notes=(rows, TWO_HSZ, COMM_ALONE, "A dash: it or the baseline does not fit in 80 GB."),
    )


def split_layout(model: str) -> Layout:
    """Return samples per second at one batch per GPU, by how it is split."""
    return Layout(
        rows=tuple(
            Line(f"{batch} x {times}", where={"micro_batch": batch, "accumulation": times})
            for batch, times in SPLITS[model]
        ),
        columns=by_strategy(("NNG", "NNI", "NIG", "IIG", "GGG")),
        cell=SAMPLES,
        where=ONE_RING,
        title="Samples per second at most, by micro-batch and accumulation",
        inferred=True,
        notes=(f"{COLUMNS_OURS[model]} So are the splits.", AT_MOST),
    )


def sweep_layout(model: str, num_gpus: int) -> Layout:
    """Return samples per second and GPU at the paper's micro-batch, by accumulation."""
    per_gpu = replace(SAMPLES, scale=num_gpus, digits=3)
    return Layout(
        rows=tuple(
            Line(f"{MICRO_BATCH} x {times}", where={"accumulation": times}) for times in SWEPT
        ),
        columns=(
            *by_strategy(("IIG", "NIG", "GGG"), cell=per_gpu),
            Line("IIG over GGG", where={"strategy": "IIG"}, cell=gain_over(3)),
        ),
        cell=per_gpu,
        where={**ONE_RING, "micro_batch": MICRO_BATCH},
        title=f"{model}: samples per second and GPU at most, by micro-batch and accumulation",
        inferred=True,
        notes=(f"{COLUMNS_OURS[model]} So are the accumulations.",),
    )


NNI_LAYOUT = Layout(
    rows=(
        Line(
            "NNI over ZeRO-1",
            where={"strategy": "NNI", "micro_batch": 27, "accumulation": 20},
            paper={"series": "LLaMA-7B NNI"},
        ),
    ),
    columns=(
        Line("gain in throughput", paper={"x": "1", "y_name": "throughput_gain_over_ZeRO-1"}),
    ),
    cell=gain_over(1, digits=1),
    where=ONE_RING,
    title="The gain that the text quotes",
    inferred=True,
    notes=(COMM_ALONE, "Every split gives the same, as both send only at the end of a step."),
)
BEST_LAYOUT = Layout(
    rows=(Line("best", where={"micro_batch": 16, "accumulation": 10}, paper={"x": "1"}),),
    columns=(
        *(
            Line(
                f"{name_of(name)}, per second and GPU",
                where={"strategy": name},
                paper={"series": f"LLaMA-65B {name}", "y_name": "best_throughput"},
            )
            for name in ("IIG", "GGG")
        ),
        Line(
            "IIG over GGG, %",
            where={"strategy": "IIG"},
            cell=Cell("gain_over_zero3", digits=0),
            paper={"series": "LLaMA-65B IIG", "y_name": "throughput_gain_over_GGG"},
        ),
    ),
    # The text prints no unit; of a whole cluster it would be below 1 % of what its GPUs can do.
    cell=Cell("samples_per_s_at_most", scale=64, digits=2),
    where=ONE_RING,
    title="Best throughput over batches, as the text quotes it",
    inferred=True,
    notes=(
        COMM_ALONE,
        "Ours is at 16 x 10. The paper's text prints no unit: per GPU is our reading.",
    ),
)


def scaling_layout(world: str) -> Layout:
    """Return samples per second by GPUs, and the ratio of speed-ups; the paper's beside one."""
    return Layout(
        rows=by_strategy(SCALED, series=BASELINES),
        columns=(
            *(
                Line(f"{number}", group="GPUs", where={"num_gpus": number}, cell=SAMPLES)
                for number in GPUS
            ),
            Line(
                f"speed-up ratio, {GPUS[0]} to {GPUS[-1]}",
                where={"num_gpus": GPUS[-1]},
                cell=Cell("speedup_ratio", unit="ratio"),
                paper={"y_name": "speed_up_ratio"},
            ),
        ),
        cell=SAMPLES,
        where={**ONE_RING, "world": world, "accumulation": 10},
        title=f"Samples per second at most: {WAYS[world]}",
        inferred=True,
        notes=(
            "The paper's text quotes speed-up ratios without defining them. Ours: samples per"
            " second over those of 16 GPUs, over 8.",
            AT_MOST,
        ),
    )
