"""The guideline at the paper's inputs: a model on a cluster, by every strategy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Scalar, doc
from reproductions.paro.method.cluster import Nic, Workload
from reproductions.paro.method.peers import own, setting_of
from reproductions.paro.method.strategy import EFFECTIVE
from reproductions.paro.models.grids import grid_of
from reproductions.paro.models.paper_inputs import (
    ACCUMULATION,
    MODELS,
    NUM_GPUS,
    SHARES,
    PaperCluster,
)

About = Literal["guideline", "scaling", "accumulation"]
HPZ, HSZ, HSZ_ONCE = "hpZ", "FSDP-hsz, s syncs", "FSDP-hsz, one sync"
STRATEGIES = {
    **{strategy.letters: own(strategy.letters) for strategy in EFFECTIVE},
    HPZ: setting_of("hpz"),
    HSZ: setting_of("fsdp-hsz"),
    HSZ_ONCE: setting_of("fsdp2-hsz"),
}
"""The 14, and two baselines: ZeRO++ keeps a second copy of the parameters in a group, FSDP-hsz
keeps them whole between the passes. The script of the authors' FSDP baseline does not tell it
which micro-batch is the last, so that gradients are reduced between groups in each (s syncs);
FSDP2 can be told (one sync)."""
CANDIDATES = ("NGG", "NII", "NIG", "III", "IGG", "IIG", "ING", "GGG")
"""The strategies of section 4.3, without the baselines that are none of the 27; ranked."""
COMPARED = ("NII", "NIG", "NGG", HSZ, HSZ_ONCE, "III", "ING", "IIG", "IGG", HPZ, "GGG")
"""Those and the baselines, as figures have them."""
SCALED = ("NGG", "GGG", "NIG", "IGG", "IIG")
"""The strategies of section 4.5."""
ONE_RING: dict[str, Scalar] = {"world": "flat", "nic": "rail"}
SHARED: dict[str, Scalar] = {"world": "flat", "nic": "shared"}
"""Collectives of all GPUs as one ring, and between groups B for every GPU, or for a group. The
guideline has the first; a link of 100 Gbit/s per machine (section 4.1) is the second (DEV-21)."""
GPUS = (16, 32, 64, 128)
MICRO_BATCH = 4
LONG = 40
"""Micro-batches per step at which NIG is ahead of IIG; the paper has 10 alone."""
SWEPT = (1, 2, 5, 10, 20, 40)
"""Micro-batches per step of Tables 14 and 15; ours, as theirs are in pictures."""
SPLITS = {
    "LLaMA-7B": ((54, 10), (27, 20), (18, 30)),
    "LLaMA-65B": ((16, 10), (8, 20), (4, 40)),
}
"""Micro-batch and accumulation that make up one batch per GPU: 540, as Table 14's caption says,
and 160. The paper's own splits are in pictures."""


class Inputs(PaperCluster):
    """The cluster of section 4.1, as appendix A.3.1 has it."""

    memory_gb: float = doc("Memory of a GPU, in 1e9 bytes.", default=80.0)


class Question(Inputs):
    """A set of settings that are looked at together."""

    about: About = doc(
        "guideline: 32 GPUs, every strategy; scaling: 16 to 128; accumulation: by micro-batches per"
        " step."
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Setting:
    """What a step is taken of, and on how many GPUs."""

    model: str
    trainable: str = "1"
    num_gpus: int = NUM_GPUS
    nic: Nic = "rail"
    micro_batch: int = MICRO_BATCH
    accumulation: int = ACCUMULATION

    @property
    def workload(self) -> Workload:
        return Workload(
            num_params=MODELS[self.model],
            trainable_share=SHARES[self.trainable],
            accumulation=self.accumulation,
        )


def settings_of(about: About) -> Iterator[tuple[Setting, tuple[str, ...]]]:
    """Yield the settings of a question, each with its strategies."""
    match about:
        case "guideline":
            for model in MODELS:
                for trainable in ("1", "1/16"):
                    yield Setting(model=model, trainable=trainable), tuple(STRATEGIES)
            yield Setting(model="LLaMA-65B", trainable="3/1000"), tuple(STRATEGIES)
        case "scaling":
            for num_gpus in GPUS:
                for times in (ACCUMULATION, LONG):
                    setting = Setting(model="LLaMA-7B", num_gpus=num_gpus, accumulation=times)
                    yield setting, SCALED
        case "accumulation":
            for model, num_gpus in (("LLaMA-7B", 32), ("LLaMA-65B", 64)):
                swept = [(MICRO_BATCH, times) for times in SWEPT]
                for batch, times in dict.fromkeys([*swept, *SPLITS[model]]):
                    setting = Setting(
                        model=model, num_gpus=num_gpus, micro_batch=batch, accumulation=times
                    )
                    yield setting, ("NNG", "NNI", "NIG", "IIG", "GGG")


@dataclass(frozen=True, kw_only=True, slots=True)
class Gain:
    """A gain in throughput that section 4.3 quotes."""

    model: str
    trainable: str
    strategy: str
    baseline: str
    percent: float


QUOTED = (
    Gain(model="LLaMA-7B", trainable="1", strategy="IIG", baseline="GGG", percent=128),
    Gain(model="LLaMA-7B", trainable="1", strategy="NII", baseline="NGG", percent=67),
    Gain(model="LLaMA-65B", trainable="1", strategy="IIG", baseline="GGG", percent=86),
    Gain(model="LLaMA-7B", trainable="1/16", strategy="NIG", baseline="NGG", percent=15),
    Gain(model="LLaMA-7B", trainable="1/16", strategy="NII", baseline="NGG", percent=21),
    Gain(model="LLaMA-65B", trainable="1/16", strategy="III", baseline="GGG", percent=264),
    Gain(model="LLaMA-65B", trainable="1/16", strategy="IIG", baseline="GGG", percent=266),
    Gain(model="LLaMA-65B", trainable="3/1000", strategy="ING", baseline="GGG", percent=44),
)
"""A test holds them against the reference."""


predictions = Experiment(
    "paro/predictions",
    version=2,
    params=Question,
    grid=grid_of([Question(about=about) for about in get_args(About)]),
    run="trial:predicted_rows",
    seed_from=(),
    estimate=lambda point: Estimate(seconds=0.1),
    address=("about",),
)
compute_times = Experiment(
    "paro/compute_times",
    version=1,
    params=Inputs,
    grid=grid_of([Inputs()]),
    run="trial:compute_rows",
    seed_from=(),
    estimate=lambda point: Estimate(seconds=0.1),
    address=("inter_gbit_per_s", "intra_gbit_per_s"),
)
