"""Fine-tuning on instructions: by every method, and by LISA's blocks, periods and states.

Each setting runs at the learning rate that pilots chose for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any

from harness.declare import (
    PILOT_SEEDS,
    Estimate,
    Experiment,
    Needs,
    Profile,
    RunContext,
    Use,
    doc,
    seeds_of,
)
from reproductions.lisa.base_model.experiment import TEXT, USES_BASE, base_of
from reproductions.lisa.memory.experiment import Policy
from reproductions.lisa.models import stand_ins
from reproductions.lisa.models.names import (
    GRAMMAR,
    IN_HOUSE,
    QUALITY,
    SMALLEST,
    STAGED,
    TITLES,
    HowTuned,
)
from reproductions.lisa.models.scored import VANILLA, load_given
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import FIGURE_6
from reproductions.lisa.models.tuning import RECORDS, Tuning

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

LRS = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2)
"""What pilots try for every setting; the paper's five span a factor of 120."""
NUM_SEEDS, NUM_RATE_SEEDS, NUM_PILOT_SEEDS = 10, 5, 2
LAYER_SEEDS = (0, 1, 2)
NUM_STEPS = 122
PERIOD = 13
"""Ten draws in 122 steps (the last one short), as in the paper."""
WINDOW = PERIOD
"""Steps that a smoothed training loss is the mean of."""
GAMMA = 2
DROPPED: Policy = "drop_refrozen"
LENGTHS = {"stories260k": 96, "babyllama_tok105": 160}
"""Tokens of an example, where a token stands for fewer characters than in our vocabulary."""
RANKS = {QUALITY: 35, "stories260k": 10, "babyllama_tok105": 12, SMALLEST: 4}
"""LoRA's: the most with which weights, gradients and moments are no more than LISA's. Of the
smallest model whichever."""
RANK_WITH_ENDS = 15
"""The same where embeddings, head and final norm train beside LoRA's adapters."""
GALORE_RANK = 4
"""As 128 is of a width of 4,096."""


@dataclass(frozen=True, slots=True)
class Setting:
    """A method; after `outside` follows what is LISA's alone."""

    head: str
    group: str
    """What is not varied."""
    method: HowTuned = "lisa"
    outside: bool = False
    gamma: int = GAMMA
    period: int = PERIOD
    policy: Policy = DROPPED


OTHERS = "other methods"
BY_BLOCKS, BY_PERIOD, BY_STATES = (
    "K = 13, states dropped", "gamma = 2, states dropped", "gamma = 2, K = 13",
)  # fmt: skip
SETTINGS: Mapping[str, Setting] = {
    "full": Setting("full", OTHERS, method="full"),
    "lora": Setting(f"LoRA, r = {RANKS[QUALITY]}", OTHERS, method="lora"),
    "lora_ends": Setting(f"LoRA and E+H, r = {RANK_WITH_ENDS}", OTHERS, "lora", outside=True),
    "galore": Setting(f"GaLore, r = {GALORE_RANK}", OTHERS, method="galore"),
    "cyclic": Setting("BAdam", OTHERS, method="cyclic"),
    "blocks_0": Setting("gamma = 0", BY_BLOCKS, gamma=0),
    "usual": Setting("gamma = 2", BY_BLOCKS),
    "blocks_4": Setting("gamma = 4", BY_BLOCKS, gamma=4),
    "all_blocks": Setting("gamma = 8, all blocks", BY_BLOCKS, gamma=8),
    "every_step": Setting("K = 1", BY_PERIOD, period=1),
    "every_5": Setting("K = 5", BY_PERIOD, period=5),
    "every_25": Setting("K = 25", BY_PERIOD, period=25),
    "once": Setting("K = 122, one draw", BY_PERIOD, period=NUM_STEPS),
    "keep_all": Setting("states kept", BY_STATES, policy="keep_all"),
    "reset_all": Setting("all states dropped", BY_STATES, policy="reset_all"),
}
"""By a word; `usual` is what LISA's others differ from in one thing."""
OTHER_METHODS = tuple(name for name, setting in SETTINGS.items() if setting.method != "lisa")
PILOTED = [name for name in SETTINGS if name != "all_blocks"]
"""All blocks at once are full training."""
RATES: Mapping[str, float] = {
    **dict.fromkeys(SETTINGS, 1e-3),
    **{"full": 3e-4, "all_blocks": 3e-4, "galore": 3e-3, "blocks_0": 3e-3},
}
"""Each setting's rate of the least validation loss in the pilots."""
STAGED_METHODS = ("full", "lora", "usual")
STAGED_RATES: Mapping[tuple[str, str], float] = {
    ("stories260k", "full"): 1e-3,
    ("stories260k", "lora"): 3e-3,
    ("stories260k", "usual"): 3e-3,
    ("babyllama_tok105", "full"): 3e-4,
    ("babyllama_tok105", "lora"): 3e-3,
    ("babyllama_tok105", "usual"): 3e-4,
}
"""The same for Figure 6's methods on models that others trained."""
CURVES = ("full", "lora", "lora_ends", "galore", "usual", "blocks_0")
"""Settings whose held-out loss is measured on the way: Figure 11's, and our controls."""
KEPT = {"full": "full", "lora": "lora", "galore": "galore", "lisa": "usual"}
"""Methods that other studies score, and their settings."""
REDRAWN = ("usual", "once")
"""Settings of Tables 7 and 12, which draw layers by three seeds."""
BY_GAMMA = ("usual", "blocks_4", "all_blocks")
"""Settings of Table 11."""


class Tune(Tuning):
    """Fine-tuning of a model by a method."""

    method: HowTuned = doc("full, lora, galore, cyclic or lisa.")
    gamma: int = doc("Blocks trained at once by LISA; else 0.", default=0)
    period: int = doc(
        "Optimizer steps from draw to draw of blocks, K; 0 where none are drawn.", default=0
    )
    rank: int = doc("Rank of LoRA or GaLore; 0 without.", default=0)
    outside: bool = doc(
        "Whether LoRA trains embeddings, head and final norm too.", default=False, added=True
    )
    layer_seed: int = doc("Seed of the draws of blocks.", default=0)
    evaluate_every: int = doc("Steps between two evaluations on held-out examples.")
    keep_weights: bool = doc("Whether the weights are an artifact.", default=False)
    policy: Policy = doc(
        "What happens to the moments of blocks that LISA freezes again: dropped, kept, or dropped"
        " with all others.",
        default=DROPPED,
        added=True,
    )
    text: str = doc(
        "What the in-house model was pre-trained on; nothing of other models.",
        default="",
        added=True,
    )


def tuned(name: str, *, lr: float, seed: int, layer_seed: int = 0, model: str = QUALITY) -> Tune:
    """Return a setting on a model at a rate; LISA trains one block of those that others trained."""
    setting = SETTINGS[name]
    lisa, small = setting.method == "lisa", model == SMALLEST
    lora = RANK_WITH_ENDS if setting.outside and not small else RANKS[model]
    most = 1 if model in STAGED else shape_of(model).num_blocks
    point = Tune(
        model=model,
        method=setting.method,
        rank={"lora": lora, "galore": GALORE_RANK}.get(setting.method, 0),
        outside=setting.outside,
        gamma=min(setting.gamma, most) if lisa else 0,
        period=setting.period if lisa or setting.method == "cyclic" else 0,
        layer_seed=layer_seed,
        lr=lr,
        seed=seed,
        num_steps=NUM_STEPS,
        batch_size=8,
        max_tokens=LENGTHS.get(model, 64),
        evaluate_every=NUM_STEPS,
        policy=setting.policy,
        text=TEXT if model == QUALITY else "",
    )
    if small:
        # Until just after a switch.
        return replace(point, num_steps=PERIOD + 1, batch_size=4, evaluate_every=PERIOD)
    return point


def ran(name: str, *, seed: int, layer_seed: int = 0, model: str = QUALITY) -> Tune:
    """Return a setting at the rate that was chosen for it."""
    point = tuned(name, lr=RATES[name], seed=seed, layer_seed=layer_seed, model=model)
    if model == SMALLEST or name not in CURVES or layer_seed:
        return point
    scored = name in KEPT.values() and seed == seeds_of("cpu")[0]
    return replace(point, evaluate_every=PERIOD, keep_weights=scored)


def grid(profile: Profile) -> Iterator[Tune]:
    """Yield every setting; at smoke some, which differ in all that is varied."""
    if profile == "smoke":
        shown = (*OTHER_METHODS, "blocks_0", "usual", "all_blocks", "every_5", "reset_all")
        for name in shown:
            yield ran(name, seed=seeds_of(profile)[0], model=SMALLEST)
    if profile == "cpu":
        for name, number in product(SETTINGS, seeds_of(profile, NUM_SEEDS)):
            for layer_seed in LAYER_SEEDS if name in REDRAWN else LAYER_SEEDS[:1]:
                yield ran(name, seed=number, layer_seed=layer_seed)


def staged_grid(profile: Profile) -> Iterator[Tune]:
    """Yield Figure 6's methods on models that others trained."""
    if profile == "cpu":
        seeds = seeds_of(profile, NUM_SEEDS)
        for (model, name), number in product(STAGED_RATES, seeds):
            yield tuned(name, lr=STAGED_RATES[model, name], seed=number, model=model)


def rates_grid(profile: Profile) -> Iterator[Tune]:
    """Yield numbers of blocks at every rate."""
    if profile == "smoke":
        for lr in LRS[2:4]:
            yield tuned("usual", lr=lr, seed=seeds_of(profile)[0], model=SMALLEST)
    if profile == "cpu":
        for name, lr, number in product(BY_GAMMA, LRS, seeds_of(profile, NUM_RATE_SEEDS)):
            yield tuned(name, lr=lr, seed=number)


def pilot_grid(profile: Profile) -> Iterator[Tune]:
    """Yield every setting at every rate, at seeds that no other run has."""
    if profile == "smoke":
        for name in ("usual", "reset_all"):
            yield tuned(name, lr=LRS[2], seed=seeds_of(profile)[0], model=SMALLEST)
    if profile == "cpu":
        for name, lr, number in product(PILOTED, LRS, PILOT_SEEDS[:NUM_PILOT_SEEDS]):
            yield tuned(name, lr=lr, seed=number)


def staged_pilot_grid(profile: Profile) -> Iterator[Tune]:
    """Yield Figure 6's methods at every rate, at seeds that no other run has."""
    if profile == "cpu":
        seeds = PILOT_SEEDS[:NUM_PILOT_SEEDS]
        for (model, name), lr, number in product(STAGED_RATES, LRS, seeds):
            yield tuned(name, lr=lr, seed=number, model=model)


def needs(params: Tuning) -> Needs:
    """Return the examples, and a staged model where it is one."""
    packages = ("transformers", "peft", "tokenizers")
    name = params.model
    if name == SMALLEST:
        return Needs(data=(GRAMMAR,), memory_bytes=2**30, packages=packages)
    parts = (name, f"{name}.config", f"{name}.tokenizer") if name in STAGED else ()
    return Needs(data=(RECORDS, *parts), memory_bytes=2**31, packages=packages)


def stands_in(params: Tune) -> dict[str, str]:
    """Return what a model stands in for: the in-house ones for LLaMA-2-7B, too."""
    told = stand_ins.tuned(params)
    if params.model in STAGED:
        del told[TITLES["llama-2-7b"]]
    in_figure_6 = FIGURE_6.get(params.model, FIGURE_6[QUALITY])
    return {**told, in_figure_6: stand_ins.net(params.model)}


_tunes = partial(
    Experiment,
    version=1,
    params=Tune,
    run="trial:finetune_rows",
    needs=needs,
    estimate=lambda params: Estimate(
        seconds=0.4 if params.model == SMALLEST else 24.0, memory_bytes=2**31
    ),
    stands_in=stands_in,
    package=__package__,
)
_in_house = partial(
    _tunes,
    uses=USES_BASE,
    address=("model", "method", "gamma", "period", "policy", "lr", "layer_seed", "seed"),
)
_on_staged = partial(_tunes, address=("model", "method", "lr", "seed"))
runs = _in_house("lisa/finetune", grid=grid)
rates = _in_house("lisa/finetune_rates", grid=rates_grid)
pilots = _in_house("lisa/pilot_in_house", grid=pilot_grid)
staged = _on_staged("lisa/finetune_staged", grid=staged_grid)
staged_pilots = _on_staged("lisa/pilot_staged", grid=staged_pilot_grid)


def kept(params: Any) -> Tune:
    """Return the fine-tuning that kept its weights, for experiments that score it.

    params: with `model`, `method` and `seed`.
    """
    name = KEPT[params.method]
    if params.model == SMALLEST:
        return replace(ran(name, seed=seeds_of("smoke")[0], model=SMALLEST), keep_weights=True)
    return ran(name, seed=params.seed)


USES_TUNED = (*USES_BASE, Use(experiment=runs, params=kept))
"""What an experiment uses that scores `load_scored`."""


def load_scored(params: Any, ctx: RunContext) -> tuple[LanguageModel, float | None] | None:
    """Return the model that a trial scores, and the learning rate of its tuning if it has one.

    None where tuning diverged. params: `Scored`, of models handed in with `checkpoint`.
    """
    if params.model not in IN_HOUSE:
        name = f"{params.model}-{params.method}-{params.seed}"
        return load_given(name, params.checkpoint, device=ctx.device), None
    lm = base_of(params.model, ctx)
    if params.method == VANILLA:
        return lm, None
    upstream = ctx.upstream(runs, kept(params))
    if not any(row["split"] == "validation" for row in upstream.rows):
        return None
    from reproductions.lisa.models.pretraining import WEIGHTS

    lm.model.load_state_dict(upstream.load(WEIGHTS))
    return lm, kept(params).lr
