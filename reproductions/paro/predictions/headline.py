"""The headline: 266 %, read both ways, and what computation time the formulas would need."""

from __future__ import annotations

from functools import partial

from harness.declare import SMALL_CHECK, Cell, Layout, Line, Task, at_most, claims, equal
from reproductions.paro.models.paper_inputs import MODELS
from reproductions.paro.predictions import quantities as q
from reproductions.paro.predictions.experiment import QUOTED, compute_times
from reproductions.paro.predictions.table import BASELINES, COMPUTE

HEADLINE = {"model": "LLaMA-65B", "trainable": "1/16", "strategy": "IIG", "baseline": "GGG"}
OVERLAPS = {"max": "with overlap", "sum": "without"}
SECONDS = Cell("compute_s", unit="s", digits=1)
COMPUTE_COLUMNS = tuple(
    Line(head, group=words, where={"world": world, "assembly": assembly}, cell=cell)
    for world, words in (("flat", "one ring"), ("hier", "PaRO-CC"))
    for head, assembly, cell in (
        ("at most", "max", Cell("comm_ratio", unit="times")),
        ("t_comp, max", "max", SECONDS),
        ("t_comp, sum", "sum", SECONDS),
    )
)
"""What gives a quoted ratio, by way of collectives."""
AT_MOST = "At most: by communication alone. A dash: no time of computation gives the ratio."
READINGS_LAYOUT = Layout(
    rows=tuple(
        Line(words, where={"reading": reading})
        for reading, words in (
            ("more", "266 % faster (section 4.3): 3.66 times"),
            ("times", "266 % of its speed (abstract): 2.66 times"),
        )
    ),
    columns=COMPUTE_COLUMNS,
    cell=SECONDS,
    where=HEADLINE,
    title="IIG over ZeRO-3, LLaMA-65B, 1/16 trainable: seconds of computation per step that give"
    " either reading",
    ours=True,
    notes=(AT_MOST, "max: communication and computation overlap fully; sum: not at all."),
)
LATER, EARLIER = "arXiv 2310.06003 later preprint", "arXiv 2310.06003 earlier abstract wording"
BY_VERSION = (
    ("NeurIPS 2024", "IIG, LLaMA-65B, 1/16 trainable", "", "max_training_speed_vs_ZeRO3", "%"),
    *(
        (version, series, f", {end}", f"{name}_{end}", "ratio")
        for version, series, name in (
            (LATER, "PaRO vs state-of-the-art method", "throughput_vs_SOTA"),
            (EARLIER, "PaRO vs ZeRO baseline", "throughput_vs_ZeRO"),
        )
        for end in ("low", "high")
    ),
)
"""Version, series, what tells its rows apart, name and unit of the reference's rows."""
MEGATRON = (
    ("Megatron-TP", "throughput_without_PaRO_CC", "samples/s"),
    ("Megatron-TP+PaRO-CC", "throughput_with_PaRO_CC", "samples/s"),
    ("Megatron-TP+PaRO-CC", "throughput_gain_over_Megatron-TP", "%"),
)
"""Series, name and unit of those of section 4.4."""


def quoted(head: str, group: str, unit: str, series: str, name: str) -> Line:
    """Return a row of what the paper prints."""
    return Line(
        head, group=group, cell=Cell("quoted_ratio", unit=unit),
        paper={"series": series, "y_name": name},
    )  # fmt: skip


VERSIONS_LAYOUT = Layout(
    rows=(
        *(
            quoted(series + end, version, unit, f"{version}: {series}", name)
            for version, series, end, name, unit in BY_VERSION
        ),
        *(
            quoted(
                f"{series}, {name.split('_')[1]}", "NeurIPS 2024, section 4.4", unit, series, name
            )
            for series, name, unit in MEGATRON
        ),
    ),
    columns=(Line("quoted", paper={"x": ""}, shows="paper"),),
    where={**HEADLINE, "reading": "more", "world": "flat", "assembly": "max"},
    title="Headlines by version, and PaRO-CC in Megatron, as printed",
    ours=True,
    notes=(
        "We have nothing beside these: preprints do not say what they compare with, and tensor"
        " parallelism is none of the 27 strategies.",
    ),
)
QUOTED_LAYOUT = Layout(
    rows=tuple(
        Line(
            f"{each.strategy} over {BASELINES[each.baseline]}, {each.trainable} trainable",
            group=each.model,
            where={key: getattr(each, key) for key in HEADLINE},
        )
        for each in sorted(QUOTED, key=lambda gain: list(MODELS).index(gain.model))
    ),
    columns=(
        Line(
            "quoted",
            where={"world": "flat", "assembly": "max"},
            cell=Cell("quoted_ratio", unit="times"),
        ),
        *COMPUTE_COLUMNS,
    ),
    cell=SECONDS,
    where={"reading": "more"},
    title="The same for every gain that section 4.3 quotes",
    ours=True,
    notes=(AT_MOST,),
)
ONE_RING: q.Where = {**HEADLINE, "world": "flat"}
task = Task(
    "paro/headline",
    own_kind="theory",
    reads=(compute_times,),
    table=COMPUTE,
    layout=(READINGS_LAYOUT, VERSIONS_LAYOUT, QUOTED_LAYOUT),
    claims=claims(
        "abstract and section 4.3 of the NeurIPS 2024 version",
        (
            "both_readings_attained",
            SMALL_CHECK,
            equal(partial(q.attained, where=ONE_RING), 0, "relative difference", tolerance=1e-6),
            "Some time of computation makes IIG 2.66 times as fast as ZeRO-3, and another 3.66"
            " times.",
        ),
    )
    + claims(
        "ours, beside section 4.3",
        (
            "one_compute_time",
            q.NEAR,
            at_most(
                partial(q.compute_apart, assemblies=tuple(OVERLAPS)), 1.05, "times the seconds"
            )
            .naming(
                *(
                    f"{model}, {'all' if share == '1' else share} trained, {words}"
                    for words in OVERLAPS.values()
                    for model, share in q.SEVERAL
                )
            )
            .measuring("longest time that a gain needs over the shortest"),
            "One time of computation gives all gains quoted for one model and trainable share.",
        ),
    ),
)  # fmt: skip
