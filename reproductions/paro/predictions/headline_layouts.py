"""How the headline's tables are printed: quoted gains, and times of computation behind them."""

from __future__ import annotations

from harness.declare import Cell, Layout, Line
from reproductions.paro.models.paper_inputs import MODELS
from reproductions.paro.predictions.experiment import QUOTED
from reproductions.paro.predictions.layouts import BASELINES


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


AT_MOST = "At most: by communication alone. A dash: no time of computation gives the ratio."
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
    title="IIG over ZeRO-3, LLaMA-65B, 1/16 trainable: seconds of computation per step that give"
    " either reading",
    ours=True,
    notes=(
        AT_MOST,
        "max: communication and computation overlap fully; sum: not at all.",
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
    title="Headlines by version, and PaRO-CC in Megatron, as printed",
    ours=True,
    notes=(
        "We have nothing beside these: preprints do not say what they compare with, and tensor"
        " parallelism is none of the 27 strategies.",
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
    title="The same for every gain that section 4.3 quotes",
    ours=True,
    notes=(AT_MOST,),
)
