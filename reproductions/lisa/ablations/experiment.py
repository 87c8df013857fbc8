"""Fine-tuning the in-house model by every method, and by LISA's blocks, periods and states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product

from harness.declare import PILOT_SEEDS, Estimate, Profile, seeds_of
from reproductions.lisa.base_model.experiment import TEXT, USES_BASE
from reproductions.lisa.finetuning.experiment import (
    GAMMA,
    LRS,
    NUM_STEPS,
    PERIOD,
    Tune,
    tuned,
    tunes,
)
from reproductions.lisa.memory.experiment import Policy
from reproductions.lisa.models.names import QUALITY, SMALLEST, STAGED, HowTuned

NUM_SEEDS, NUM_PILOT_SEEDS = 10, 2
SECONDS = {QUALITY: 20.0, SMALLEST: 0.4}


LORA_RANK = 35
"""The most with which weights, gradients and moments are no more than LISA's with two blocks."""
STAGED_RANKS = {"stories260k": 10, "babyllama_tok105": 12}
"""The same beside LISA with one block."""
STAGED_METHODS: tuple[HowTuned, ...] = ("full", "lora", "lisa")
DROPPED: Policy = "drop_refrozen"


@dataclass(frozen=True, slots=True)
class Setting:
    """A method; the last three are LISA's own, which no other has."""

    head: str
    group: str
    """What is not varied."""
    method: HowTuned = "lisa"
    gamma: int = GAMMA
    period: int = PERIOD
    policy: Policy = DROPPED

    @property
    def where(self) -> Mapping[str, str | int]:
        """Columns and their values that choose its rows."""
        own = {"gamma": self.gamma, "period": self.period, "policy": self.policy}
        return {"method": self.method, **(own if self.method == "lisa" else {})}


OTHERS = "other methods"
BY_BLOCKS, BY_PERIOD, BY_STATES = (
    "K = 13, states dropped", "gamma = 2, states dropped", "gamma = 2, K = 13",
)  # fmt: skip
SETTINGS: Mapping[str, Setting] = {
    "full": Setting("full", OTHERS, method="full"),
    "lora": Setting(f"LoRA, r = {LORA_RANK}", OTHERS, method="lora"),
    "galore": Setting("GaLore", OTHERS, method="galore"),
    "cyclic": Setting("BAdam", OTHERS, method="cyclic"),
    "blocks_0": Setting("gamma = 0", BY_BLOCKS, gamma=0),
    "usual": Setting("gamma = 2", BY_BLOCKS),
    "blocks_4": Setting("gamma = 4", BY_BLOCKS, gamma=4),
    "every_step": Setting("K = 1", BY_PERIOD, period=1),
    "every_5": Setting("K = 5", BY_PERIOD, period=5),
    "every_25": Setting("K = 25", BY_PERIOD, period=25),
    "once": Setting("K = 122, one draw", BY_PERIOD, period=NUM_STEPS),
    "keep_all": Setting("states kept", BY_STATES, policy="keep_all"),
    "reset_all": Setting("all states dropped", BY_STATES, policy="reset_all"),
}
"""By a word; `usual` is what the others differ from in one thing."""
RATES: Mapping[str, float] = dict.fromkeys(SETTINGS, 1e-3)
"""Each one's rate of the least validation loss in the pilots."""


def ablated(name: str, *, lr: float, seed: int, small: bool = False) -> Tune:
    """Return a setting at a rate and seed, which draws layers too."""
    setting = SETTINGS[name]
    point = tuned(
        SMALLEST if small else QUALITY,
        setting.method,
        gamma=min(setting.gamma, 2) if small else setting.gamma,
        period=setting.period,
        lr=lr,
        seed=seed,
    )
    # Ends alone are compared.
    point = replace(
        point, policy=setting.policy, evaluate_every=point.num_steps, keep_weights=False
    )
    if small:
        return point
    rank = LORA_RANK if setting.method == "lora" else point.rank
    return replace(point, text=TEXT, rank=rank)


def grid(profile: Profile) -> Iterator[Tune]:
    """Yield every setting at its rate; at smoke some, which differ in all three."""
    if profile == "smoke":
        for name in ("full", "blocks_0", "usual", "every_5", "reset_all"):
            yield ablated(name, lr=RATES[name], seed=seeds_of(profile)[0], small=True)
    if profile == "cpu":
        for name in SETTINGS:
            for number in seeds_of(profile, NUM_SEEDS):
                yield ablated(name, lr=RATES[name], seed=number)


def pilot_grid(profile: Profile) -> Iterator[Tune]:
    """Yield every setting at every rate, at seeds that no other run has."""
    if profile == "smoke":
        for lr in LRS[2:4]:
            yield ablated("usual", lr=lr, seed=seeds_of(profile)[0], small=True)
    if profile == "cpu":
        for name in SETTINGS:
            for lr in LRS:
                for number in PILOT_SEEDS[:NUM_PILOT_SEEDS]:
                    yield ablated(name, lr=lr, seed=number)


def on_staged(model: str, method: HowTuned, *, lr: float, seed: int) -> Tune:
    """Return Figure 6's fine-tuning of a model that others trained; LISA's with one block."""
    point = tuned(model, method, gamma=1, lr=lr, seed=seed)
    return replace(point, rank=STAGED_RANKS[model]) if method == "lora" else point


def staged_pilot_grid(profile: Profile) -> Iterator[Tune]:
    """Yield Figure 6's methods at every rate, at seeds that no other run has."""
    if profile == "cpu":
        for model, method, lr in product(STAGED, STAGED_METHODS, LRS):
            for number in PILOT_SEEDS[:NUM_PILOT_SEEDS]:
                yield on_staged(model, method, lr=lr, seed=number)


_settings = partial(
    tunes,
    uses=USES_BASE,
    estimate=lambda params: Estimate(seconds=SECONDS[params.model], memory_bytes=2**31),
    address=("model", "method", "gamma", "period", "policy", "lr", "seed"),
)
settings = _settings("lisa/ablations", grid=grid)
pilots = _settings("lisa/pilot_in_house", grid=pilot_grid)
staged_pilots = tunes(
    "lisa/pilot_staged",
    grid=staged_pilot_grid,
    address=("model", "method", "lr", "seed"),
)
