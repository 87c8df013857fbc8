"""Optimizer steps on a testbed: every strategy, beside DDP and FSDP2.

A model of 2.4 million float32 parameters over links of 200 Mbit/s, 5 Gbit/s within a group: the
paper's ratio of 25. Computation then is a small part of a step, as it is not on the paper's
cluster: times compare with those of communication alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

from harness.declare import (
    FRESH_SEED,
    PILOT_SEEDS,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    seed,
    seeds_of,
)
from reproductions.paro.method.cluster import Nic
from reproductions.paro.method.strategy import EFFECTIVE

Question = Literal["full", "partial", "peft", "accumulation", "scaling"]
About = Literal["every", "full", "partial", "peft", "accumulation", "scaling"]
Share = Literal["1", "1/16", "LoRA"]
AT_ONE_SIZE: tuple[Question, ...] = ("full", "partial", "peft", "accumulation")
"""Questions that are asked on four ranks alone."""
SHARES: dict[Question, Share] = {"partial": "1/16", "peft": "LoRA"}
"""What trains, where not all does: one of 16 equal layers, or a pair of rank one per layer."""
DDP, FSDP, HSDP, HPZ = "DDP", "FSDP2", "FSDP2 in groups", "FSDP2 to m parts"
BASELINES = {DDP: "NNN", FSDP: "GGG", HSDP: "III", HPZ: "GGG"}
"""PyTorch's own and the strategy that each one is, or, with parameters split over a group between
the passes as hpZ has them, comes nearest to."""
OURS = tuple(strategy.letters for strategy in EFFECTIVE)
ACCUMULATED = ("NNI", "NNG", "NIG", "IIG", "GGG")
SCALED = ("NGG", "GGG", "NIG", "IGG", "IIG")
"""The strategies of sections A.4.3 and 4.5."""
ACCUMULATION = 4
Probed = Literal["before", "in turns"]
FEWER: Mapping[str, Any] = {"num_layers": 4}
SLOWER: Mapping[str, Any] = {"inter_mbit_per_s": 20.0, "intra_mbit_per_s": 500.0, "num_layers": 1}
"""Links of the same ratio that eight ranks on two cores may fill. Either has fewer layers, each as
large as the rest have them, so that a trial takes less than a minute."""
SCALING = SLOWER
"""What trials on four and eight ranks have otherwise than the rest, as `pilot_steps` says."""
PILOTS = 3
"""Seeds of the pilot."""
NUM_SEEDS, NUM_OF_A_PART = 5, 19
"""Seeds of every question; and of the one where a sixteenth trains: by the spread of five so many
decide whether NIG and NII are faster than ZeRO-2."""


class Steps(Params):
    """Ranks, links and what is trained; all settings of a question take turns in one trial."""

    about: About = doc(
        "full, partial, peft: every strategy and baseline by what trains; accumulation: some by"
        " micro-batches per step; scaling: some by ranks; every: all of them in one trial."
    )
    num_ranks: int = doc("Ranks, n.", default=4)
    group_size: int = doc("Ranks per group, m.", default=2)
    nic: Nic = doc("rail: each rank has a link between groups; shared: a group has one.")
    inter_mbit_per_s: float = doc("Rate asked for between groups, in 1e6 bit/s.", default=200.0)
    intra_mbit_per_s: float = doc("Rate asked for within a group.", default=5000.0)
    width: int = doc("Numbers per token, and each way of a layer's matrix.", default=384)
    num_layers: int = doc("Layers, each a unit.", default=16)
    batch_size: int = doc("Rows per rank and micro-batch.", default=4)
    num_micro_batches: int = doc(
        "Micro-batches per step; where the question is about them a quarter to twice as many.",
        default=ACCUMULATION,
    )
    num_timed: int = doc("Steps of each setting that are timed, in turns.", default=3)
    seed: int = seed("One trial: weights, data, and the order of turns; each times all settings.")
    probed: Probed = doc(
        "When known bytes are sent that say how fast links are: before all steps, or in turns with"
        " them.",
        default="before", added=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Setting:
    """What takes a step, and of how many micro-batches."""

    name: str
    """Three letters, or a baseline."""
    accumulation: int

    @property
    def letters(self) -> str:
        """The strategy that it is or comes nearest to."""
        return BASELINES.get(self.name, self.name)


def questions_of(about: About) -> tuple[Question, ...]:
    """Return the questions of a trial."""
    return get_args(Question) if about == "every" else (about,)


def settings_of(question: Question, accumulation: int) -> list[Setting]:
    """Return what takes turns. accumulation: micro-batches per step, where it is not asked."""
    match question:
        case "accumulation":
            asked = sorted({max(1, accumulation * times // 4) for times in (1, 2, 4, 8)})
            return [Setting(name, times) for name in ACCUMULATED for times in asked]
        case "scaling":
            names: tuple[str, ...] = SCALED
        case _:
            names = (*OURS, *BASELINES)
    return [Setting(name, accumulation) for name in names]


SMALL = Steps(
    about="every", nic="rail", width=8, num_layers=1, num_micro_batches=1, num_timed=1,
    inter_mbit_per_s=1000.0, seed=0,
)  # fmt: skip
"""The trial of smoke."""


def grid(profile: Profile) -> Iterator[Steps]:
    """Yield every question with rails, as the formulas have them; all of the model also shared."""
    if profile == "smoke":
        yield SMALL
    elif profile == "cpu":
        numbers = seeds_of(profile, NUM_OF_A_PART, first=FRESH_SEED)
        for number in numbers[:NUM_SEEDS]:
            for about in AT_ONE_SIZE:
                yield Steps(about=about, nic="rail", seed=number, probed="in turns")
            yield on_ranks(4, number, probed="in turns", **SCALING)
            yield Steps(about="full", nic="shared", seed=number, probed="in turns")
            yield on_ranks(8, number, probed="in turns", **SCALING)
        for number in numbers[NUM_SEEDS:]:
            yield Steps(about="partial", nic="rail", seed=number, probed="in turns")


def on_ranks(num_ranks: int, number: int, **more: Any) -> Steps:
    """Return a trial of the strategies that are compared by ranks."""
    return Steps(about="scaling", nic="rail", num_ranks=num_ranks, seed=number, **more)


def pilot_grid(profile: Profile) -> Iterator[Steps]:
    """Yield all of the model as claims have it, and eight ranks on their links and slower ones."""
    if profile == "smoke":
        yield replace(SMALL, about="scaling", seed=PILOT_SEEDS[0], probed="in turns")
    elif profile == "cpu":
        for number in PILOT_SEEDS[:PILOTS]:
            yield Steps(about="full", nic="rail", seed=number, probed="in turns")
            yield on_ranks(8, number, probed="in turns", **FEWER)
            yield on_ranks(8, number, probed="in turns", **SLOWER)


def stands_in(steps: Steps) -> Mapping[str, str]:
    """Return what was run, and on what, in the place of the paper's."""
    weights = steps.num_layers * steps.width**2
    return {"A100 GPUs": "gloo ranks on slowed links", "LLaMA": f"a net of {weights:,} weights"}


NEEDS = Needs(memory_bytes=6 * 2**30, exclusive=True)


def estimate(steps: Steps) -> Estimate:
    """Return what a trial takes: a setting sends the model some four times between groups."""
    settings = [
        setting
        for question in questions_of(steps.about)
        for setting in settings_of(question, steps.num_micro_batches)
    ]
    bits = 4 * 32 * steps.num_layers * steps.width**2 * len(settings) * (steps.num_timed + 2)
    return Estimate(
        seconds=12.0 + bits / (steps.inter_mbit_per_s * 1e6), memory_bytes=NEEDS.memory_bytes
    )


_timed = partial(
    Experiment,
    version=1,
    params=Steps,
    seed_from=("seed",),
    needs=NEEDS,
    estimate=estimate,
    stands_in=stands_in,
)
"""What the run and its pilot share."""
steps = _timed(
    "paro/measured_steps",
    grid=grid,
    run="trial:step_rows",
    address=("about", "num_ranks", "nic", "seed"),
)
step_pilots = _timed(
    "paro/step_pilots",
    grid=pilot_grid,
    run="trial:turn_rows",
    address=("about", "num_ranks", "inter_mbit_per_s", "seed"),
)
