"""Losses with hyperparameters carried over and not tuned: Figures 3 and 10 (Table 4).

muP and SmuPar keep the proxy's learning rate on every net; SP has one from common practice, at
`cpu` the best one of the dense net itself. The nets of `transfer` are kept as artifacts, so that
downstream scores need no retraining.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product

from harness.declare import Profile, seeds_of
from reproductions.supar.models.chosen import base_of, best_rate, sp_std_at
from reproductions.supar.models.gpt_experiment import gpt_experiment
from reproductions.supar.models.points import (
    BIBLE,
    ETA_LOG2,
    MEDIUM,
    PAPER,
    PUBLISHED_SP_STD,
    FixedPoint,
    Net,
    Rung,
    decaying,
    started,
)
from reproductions.supar.models.schemes import SCHEMES
from reproductions.supar.sweeps.experiment import LADDER_NETS, ladder

SMOKE_SP_RATE, PAPER_SP_RATE = 2.0 ** (ETA_LOG2 - 4), 2e-4
SMOKE_DEEP_SP_RATE, PAPER_DEEP_SP_RATE = 2.0 ** (ETA_LOG2 - 3), 6e-4
WIDE_FACTOR = 1 / 3
"""The paper's 2e-4 over its 6e-4, for widths over 1088 / 768 of the first rung's."""

PLAYS = replace(
    MEDIUM, tokenizer="bytes", feed_forward="swiglu", positions="alibi", context=128,
    schedule="to_zero",
)  # fmt: skip
"""A net as the paper's (ALiBi, SwiGLU) on bytes, for `smoke` and `gpu`."""
NETS: dict[Profile, Net] = {
    "smoke": decaying(replace(PLAYS, data="grammar-text", width=64, base_width=32, context=64), 20),
    "cpu": decaying(replace(BIBLE, width=256, context=64, batch_size=4, schedule="to_zero"), 300),
    "gpu": decaying(
        replace(PLAYS, device="cuda", width=1024, base_width=128, num_layers=4, batch_size=16), 200
    ),
    "paper": decaying(
        replace(
            PAPER, width=2048, num_layers=10, batch_size=504, micro_batches=63, schedule="to_zero"
        ),
        11752,
    ),
}
DEEP_NETS: dict[Profile, Net] = {
    "smoke": replace(LADDER_NETS["smoke"], num_layers=3),
    "cpu": replace(LADDER_NETS["cpu"], num_layers=4),
    "gpu": decaying(replace(LADDER_NETS["gpu"], num_layers=10), 235),
    "paper": decaying(
        replace(PAPER, width=768, num_layers=10, batch_size=256, micro_batches=32), 1907
    ),
}
"""The dense net of each ladder."""
DENSITIES: dict[Profile, tuple[float, ...]] = {
    "smoke": (1.0, 1 / 4),
    "cpu": (1.0, 1 / 8, 1 / 16),
    "gpu": (1.0, 1 / 4, 1 / 16, 1 / 64),
    "paper": tuple(2.0**-halvings for halvings in range(8)),
}


def untuned(
    profile: Profile, rungs: Sequence[Rung], sp_rate: Callable[[float], float]
) -> Iterator[FixedPoint]:
    """Yield the three schemes; SP's rate, by density, is not the proxy's."""
    dense = rungs[0][1]
    sp_std = sp_std_at(dense) if profile == "cpu" else PUBLISHED_SP_STD
    seeds = seeds_of(profile)
    for seed, scheme, (density, net) in product(seeds, SCHEMES, rungs):
        base = base_of(profile, scheme)
        lr = sp_rate(density) if scheme == "sp" else base.lr
        yield started(FixedPoint, net, scheme, density, seed, sp_std=sp_std, base=base, lr=lr)


def transfer_grid(profile: Profile) -> Iterator[FixedPoint]:
    """Yield one net per scheme and density; at `paper` 12.13B tokens each."""
    sp_rate = {"smoke": SMOKE_SP_RATE, "cpu": best_rate("transfer")}.get(profile, PAPER_SP_RATE)
    rungs = [(density, NETS[profile]) for density in DENSITIES[profile]]
    yield from untuned(profile, rungs, lambda density: sp_rate)


def deep_grid(profile: Profile) -> Iterator[FixedPoint]:
    """Yield deep nets of equal hidden weights, the first two rungs at `smoke`.

    SP has one learning rate for the two narrow rungs and a third of it for the two wide ones, as
    the paper took them from common practice. At `paper` 1B tokens per trial.
    """
    tried = {"smoke": SMOKE_DEEP_SP_RATE, "cpu": best_rate("fixed")}
    sp_rate = tried.get(profile, PAPER_DEEP_SP_RATE)
    rungs = ladder(DEEP_NETS[profile], profile)
    yield from untuned(profile, rungs, lambda d: sp_rate * WIDE_FACTOR if d < 1 / 2 else sp_rate)


transfer = gpt_experiment(
    "supar/transfer",
    version=1,
    params=FixedPoint,
    grid=transfer_grid,
    run="gpt_trial:train_and_keep",
    address=("scheme", "density", "seed"),
)
fixed_hyperparameters = gpt_experiment(
    "supar/fixed_hyperparameters",
    version=1,
    params=FixedPoint,
    grid=deep_grid,
    address=("scheme", "density", "width", "seed"),
)
