"""How tables of predictions are printed. The paper's are pictures: rows and columns are ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.declare import Cell, Layout, Line
from reproductions.paro.predictions.experiment import (
    COMPARED,
    GPUS,
    HPZ,
    MICRO_BATCH,
    MODELS,
    QUOTED,
    SCALED,
    SHARES,
    SPLITS,
    STRATEGIES,
    SWEPT,
)

if TYPE_CHECKING:
    import pandas as pd

KNOWN_AS = {
    "NNN": "NNN (DDP)", "NNG": "NNG (ZeRO-1)", "NGG": "NGG (ZeRO-2)", "GGG": "GGG (ZeRO-3)",
    "III": "III (MiCS)", HPZ: "hpZ (ZeRO++)",
}  # fmt: skip
BASELINES = {"NNG": "ZeRO-1", "NGG": "ZeRO-2", "GGG": "ZeRO-3"}
A_PICTURE = (
    "The paper's table is a picture that is stored nowhere: its cells are not known, and rows and"
    " columns here follow its caption and text."
)
A_DASH = "A dash: the three states alone exceed the memory of 80 GB (1e9 bytes), activations aside."
COMM_ALONE = (
    "Ours is communication alone, so that a gain is the largest that the formulas allow; compare"
    " orders, not sizes."
)
WAYS = {
    "flat": "collectives of all GPUs as one ring",
    "hier": "collectives of all GPUs by PaRO-CC",
}


def name_of(strategy: str) -> str:
    """Return a strategy as a table names it."""
    return KNOWN_AS.get(strategy, strategy)


def place(rows: pd.DataFrame) -> str:
    """Return a strategy's place among those of section 4.3 that fit; nothing for others."""
    ranks = rows["rank"].dropna()
    return "" if ranks.empty else f"{int(ranks.iloc[0])}."


SPEED = Cell("steps_per_s", unit="1/s", digits=4, remark=place)
MEMORY = Cell("memory_bytes", unit="GB", scale=1e9, digits=1)


def guideline_layouts(shares: dict[str, str]) -> tuple[Layout, ...]:
    """Return 1/T and memory of every strategy; shares: trainable share -> head of its columns."""
    return tuple(
        Layout(
            rows=tuple(Line(name_of(name), where={"strategy": name}) for name in STRATEGIES),
            columns=tuple(
                Line(head, group=group, where={"trainable": share}, cell=cell)
                for share, group in shares.items()
                for head, cell in (("1/T", SPEED), ("Mem", MEMORY))
            ),
            cell=SPEED,
            where={"world": world},
            title=f"1/T and memory: {words}",
            inferred=True,
            notes=(
                A_PICTURE,
                A_DASH,
                "In brackets: the place among NGG, NII, NIG, III, IGG, IIG, ING and GGG, of those"
                " that fit. 1/T is of communication alone.",
            ),
        )
        for world, words in WAYS.items()
    )


def gain_column(model: str, share: str, stage: int) -> Line:
    """Return the column of gains over a ZeRO stage, ours beside the paper's."""
    return Line(
        f"gain over ZeRO-{stage}",
        group=model,
        where={"model": model},
        cell=Cell(f"gain_over_zero{stage}", unit="%", digits=0),
        paper={
            "series": model,
            "x": str(SHARES[share]),
            "y_name": f"throughput_gain_over_ZeRO-{stage}",
        },
    )


def gain_layout(share: str, *models: str) -> Layout:
    """Return memory, t_comm and gains of the strategies that the paper compares.

    share: what of the models trains.
    """
    return Layout(
        rows=tuple(
            Line(name_of(name), where={"strategy": name}, paper={"series": name})
            for name in COMPARED
        ),
        columns=tuple(
            line
            for model in models
            for line in (
                Line("Mem", group=model, where={"model": model}, cell=MEMORY),
                Line(
                    "t_comm",
                    group=model,
                    where={"model": model},
                    cell=Cell("comm_s", unit="s", digits=2),
                ),
                gain_column(model, share, 2),
                gain_column(model, share, 3),
            )
        ),
        cell=MEMORY,
        where={"world": "flat"},
        title="Predicted memory and communication; quoted gains in throughput"
        " beside ours of communication alone",
        inferred=True,
        notes=(A_PICTURE, COMM_ALONE, "A dash: it or the baseline does not fit 80 GB."),
    )


SAMPLES = Cell("samples_per_s_at_most", unit="samples/s", digits=1)


def split_layout(model: str) -> Layout:
    """Return samples per second at one batch per GPU, by how it is split."""
    return Layout(
        rows=tuple(
            Line(f"{batch} x {times}", where={"micro_batch": batch, "accumulation": times})
            for batch, times in SPLITS[model]
        ),
        columns=tuple(
            Line(name_of(name), where={"strategy": name})
            for name in ("NNG", "NNI", "NIG", "IIG", "GGG")
        ),
        cell=SAMPLES,
        where={"world": "flat"},
        title="Samples per second at most, by micro-batch x accumulation",
        inferred=True,
        notes=(
            A_PICTURE + " The splits are ours (DEV-23).",
            "At most: communication alone, no computation; memory ignored.",
        ),
    )


def sweep_layout(model: str, num_gpus: int) -> Layout:
    """Return samples per second and GPU at the paper's micro-batch, by accumulation."""
    per_gpu = Cell("samples_per_s_at_most", unit="samples/s", scale=num_gpus, digits=3)
    return Layout(
        rows=tuple(
            Line(f"{MICRO_BATCH} x {times}", where={"accumulation": times}) for times in SWEPT
        ),
        columns=(
            *(
                Line(name_of(name), where={"strategy": name}, cell=per_gpu)
                for name in ("IIG", "NIG", "GGG")
            ),
            Line(
                "IIG over GGG",
                where={"strategy": "IIG"},
                cell=Cell("gain_over_zero3", unit="%", digits=0),
            ),
        ),
        cell=per_gpu,
        where={"world": "flat", "micro_batch": MICRO_BATCH},
        title=f"{model}: samples per second and GPU at most, by micro-batch x accumulation",
        inferred=True,
        notes=(A_PICTURE + " The accumulations are ours (DEV-23).",),
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
    cell=Cell("gain_over_zero1", unit="%", digits=1),
    where={"world": "flat"},
    title="The one gain that the text quotes",
    inferred=True,
    notes=(COMM_ALONE, "Neither sends anything before the boundary: every split gives it."),
)  # fmt: skip


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
    where={"world": "flat"},
    title="Best over batches: the three numbers that the text quotes",
    inferred=True,
    notes=(
        COMM_ALONE,
        "Ours is at 16 x 10; the paper's best batch is in a picture, and a larger micro-batch lifts"
        " ours. Its text prints no unit: per GPU is our reading.",
    ),
)


def scaling_layout(world: str) -> Layout:
    """Return samples per second by GPUs, and the ratio of speed-ups; the paper's beside one."""
    return Layout(
        rows=tuple(
            Line(
                name_of(name),
                where={"strategy": name},
                paper={"series": BASELINES.get(name, name)},
            )
            for name in SCALED
        ),
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
        where={"world": world, "accumulation": 10},
        title=f"Samples per second at most: {WAYS[world]}",
        inferred=True,
        notes=(
            "The paper's points are in a picture; its text quotes speed-up ratios and does not"
            " define them. Ours: samples per second over those of 16 GPUs, over 8.",
            "At most: communication alone, no computation; memory ignored.",
        ),
    )


def compute_columns() -> tuple[Line, ...]:
    """Return the columns of what gives a quoted ratio, by way of collectives."""
    most, seconds = Cell("comm_ratio", unit="times"), Cell("compute_s", unit="s", digits=1)
    return tuple(
        Line(head, group=words, where={"world": world, "assembly": assembly}, cell=cell)
        for world, words in (("flat", "one ring"), ("hier", "PaRO-CC"))
        for head, assembly, cell in (
            ("at most", "max", most),
            ("t_comp, max", "max", seconds),
            ("t_comp, sum", "sum", seconds),
        )
    )


AT_MOST = "At most: by communication alone. A dash: no computation time gives the ratio."
READINGS_LAYOUT = Layout(
    rows=tuple(
        Line(words, where={"reading": reading})
        for reading, words in (
            ("more", "266 % faster (section 4.3): 3.66 times"),
            ("times", "266 % of its speed (abstract): 2.66 times"),
        )
    ),
    columns=compute_columns(),
    cell=Cell("compute_s", unit="s", digits=1),
    where={"model": "LLaMA-65B", "trainable": "1/16", "strategy": "IIG", "baseline": "GGG"},
    title="IIG over ZeRO-3, LLaMA-65B, 1/16 trainable (NeurIPS 2024 version): seconds of"
    " computation per step that give either reading",
    ours=True,
    notes=(
        AT_MOST,
        "Under max communication and computation overlap fully, under sum not at all.",
        "The version judged is that of NeurIPS 2024; preprints have other headlines, which stand"
        " below under their versions.",
    ),
)
NEURIPS = "NeurIPS 2024"
PREPRINT = "arXiv 2310.06003"
HEADLINES = (
    (NEURIPS, "IIG, LLaMA-65B, 1/16 trainable", "max_training_speed_vs_ZeRO3", "%"),
    *(
        (f"{PREPRINT} later preprint", "PaRO vs state-of-the-art method", f"{name}_{end}", "ratio")
        for name, end in (("throughput_vs_SOTA", "low"), ("throughput_vs_SOTA", "high"))
    ),
    *(
        (f"{PREPRINT} earlier abstract wording", "PaRO vs ZeRO baseline", f"{name}_{end}", "ratio")
        for name, end in (("throughput_vs_ZeRO", "low"), ("throughput_vs_ZeRO", "high"))
    ),
)
"""Version, series, name and unit of the reference's rows."""
MEGATRON = (
    ("Megatron-TP", "throughput_without_PaRO_CC", "samples/s"),
    ("Megatron-TP+PaRO-CC", "throughput_with_PaRO_CC", "samples/s"),
    ("Megatron-TP+PaRO-CC", "throughput_gain_over_Megatron-TP", "%"),
)
VERSIONS_LAYOUT = Layout(
    rows=(
        *(
            Line(
                f"{series}{', ' + name.split('_')[-1] if 'low' in name or 'high' in name else ''}",
                group=version,
                cell=Cell("quoted_ratio", unit=unit),
                paper={"series": f"{version}: {series}", "y_name": name},
            )
            for version, series, name, unit in HEADLINES
        ),
        *(
            Line(
                f"{series}, {name.split('_')[1]}",
                group=NEURIPS + ", section 4.4",
                cell=Cell("quoted_ratio", unit=unit),
                paper={"series": series, "y_name": name},
            )
            for series, name, unit in MEGATRON
        ),
    ),
    columns=(Line("quoted", paper={"x": ""}, shows="paper"),),
    cell=Cell("quoted_ratio"),
    where={
        "model": "LLaMA-65B", "trainable": "1/16", "strategy": "IIG", "baseline": "GGG",
        "reading": "more", "world": "flat", "assembly": "max",
    },
    title="Headlines by version, and the text's run of Megatron, as printed",
    ours=True,
    notes=(
        "The paper's alone: what a preprint compares with is not stated, and tensor parallelism,"
        " as of Megatron, is no strategy of the 27, so that the formulas have no counterpart.",
    ),
)  # fmt: skip
QUOTED_LAYOUT = Layout(
    rows=tuple(
        Line(
            f"{each.strategy} over {BASELINES[each.baseline]}, {each.trainable} trainable",
            group=each.model,
            where={
                "model": each.model,
                "trainable": each.trainable,
                "strategy": each.strategy,
                "baseline": each.baseline,
            },
        )
        for each in sorted(QUOTED, key=lambda gain: list(MODELS).index(gain.model))
    ),
    columns=(
        Line(
            "quoted",
            where={"world": "flat", "assembly": "max"},
            cell=Cell("quoted_ratio", unit="times"),
        ),
        *compute_columns(),
    ),
    cell=Cell("compute_s", unit="s", digits=1),
    where={"reading": "more"},
    title="The same for every gain that section 4.3 quotes, read as so much faster",
    ours=True,
    notes=(AT_MOST,),
)
