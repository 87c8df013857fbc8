"""What the points of all training experiments are made of: nets, schemes, windows. No torch.

A point says everything its run depends on, so a record needs no code to be read: the net, the
data, the schedule, the base hyperparameters as this scheme has them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Literal, TypeVar

from harness.declare import Params, Scalar, doc, seed
from harness.errors import SpecError
from reproductions.supar.method.parameterization import TABLE_3, BaseHyperparameters, Scheme

ETA_LOG2 = math.log2(TABLE_3.lr)
"""Every sweep of learning rates stands on the lattice ETA_LOG2 + k, k whole, as the paper's do."""
SIGMA_LOG2 = math.log2(TABLE_3.init_std)
"""The same for sweeps of the initial standard deviation."""
CPU_DENSITIES = (1.0, 1 / 4, 1 / 8)
"""At width 128 the sparsest net keeps 16 weights per neuron, the least that the paper has."""
GPU_DENSITIES = (1.0, 1 / 8, 1 / 64)
PAPER_DENSITIES = tuple(2.0**-halvings for halvings in range(7))
PUBLISHED_SP_STD = 0.02
"""Table 4, SP in the rows of Figures 3, 9 and 10, at every width."""
SWEPT_RATE = ("scheme", "density", "log2_lr", "seed")
"""What tells the trials of a sweep of learning rates apart."""
P = TypeVar("P", bound=Params)


class Shape(Params):
    """A GPT."""

    device: Literal["cpu", "cuda"] = doc("Where it trains.")
    tokenizer: Literal["characters", "bytes", "gpt2"] = doc("What a token is.")
    width: int = doc("Hidden width d of the model.")
    base_width: int = doc("Width of the proxy, d_base.")
    num_layers: int = doc("Blocks.")
    head_size: int = doc("Size of an attention head.")
    feed_forward: Literal["gelu", "swiglu"] = doc("Kind of feed-forward block.")
    positions: Literal["learned", "alibi"] = doc("How positions are told.")
    context: int = doc("Tokens per sequence.")


class Training(Params):
    """How a net is trained."""

    data: str = doc("Name of the text in the data catalogue.")
    batch_size: int = doc("Sequences per step.")
    micro_batches: int = doc("Parts into which a batch is cut to bound memory.")
    steps: int = doc("Optimizer steps.")
    warmup_steps: int = doc("Steps in which the learning rate rises.")
    schedule: Literal["to_tenth", "to_zero", "constant"] = doc("How the rate goes on from there.")
    clip_norm: float = doc("Norm to which gradients are clipped; 0 for no clipping.")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.warmup_steps < self.steps:
            raise SpecError(f"warmup_steps={self.warmup_steps}: need 0 to {self.steps - 1}")

    @property
    def max_norm(self) -> float:
        """What `clip_norm` means: JSON has no infinity."""
        return self.clip_norm or math.inf


class Net(Shape, Training):
    """A GPT and how it is trained: what all points of a curve share."""


class Start(Params):
    """A scheme at a density, and what it starts from but rate and standard deviation."""

    scheme: Scheme = doc(
        "Parameterization: sp, mup, supar, or a half-way ablation: mup_init_only, mup_lr_only."
    )
    density: float = doc("Fraction of hidden weights that is kept.")
    seed: int = seed("One trained net of each scheme, with the same masks and batches.")
    input_multiplier: float = doc("alpha_input; SP has none.")
    output_multiplier: float = doc("alpha_output; SP has none.")


class RatePoint(Start, Net):
    """One point of a sweep of learning rates."""

    log2_lr: float = doc(
        "log2 of the peak base learning rate (eta_base), the one the embeddings use."
    )
    init_std: float = doc("Base standard deviation (sigma_base).")

    @property
    def lr(self) -> float:
        return float(2.0**self.log2_lr)


class StdPoint(Start, Net):
    """One point of a sweep of the initial standard deviation."""

    log2_sigma: float = doc(
        "log2 of the base standard deviation (sigma_base), the one the embeddings start with; SP"
        " has it in every matrix."
    )
    lr: float = doc("Peak base learning rate (eta_base).")

    @property
    def init_std(self) -> float:
        return float(2.0**self.log2_sigma)


class StartedNet(Start, Shape):
    """A net at given base hyperparameters; nothing says how it is trained."""

    lr: float = doc("Peak base learning rate, not tuned.")
    init_std: float = doc("Base standard deviation (sigma_base).")


class FixedPoint(StartedNet, Net):
    """A net that is trained at given base hyperparameters."""


Trained = RatePoint | StdPoint | FixedPoint
"""What is trained."""
Rung = tuple[float, Net]
"""A density, and the net that has it."""

SMALL = Net(
    device="cpu", data="grammar-text", tokenizer="characters", width=64, base_width=32,
    num_layers=2, head_size=32, feed_forward="gelu", positions="learned", context=32, batch_size=8,
    micro_batches=1, steps=20, warmup_steps=2, schedule="to_tenth", clip_norm=1.0,
)  # fmt: skip
"""A net as the authors' published one, for `smoke`."""
MEDIUM = replace(SMALL, data="tinyshakespeare", width=256, base_width=64, context=64)
"""The same for the coordinate check, and for `gpu`."""
BIBLE = replace(
    SMALL, data="kjv", tokenizer="bytes", width=128, head_size=16, feed_forward="swiglu",
    positions="alibi",
)  # fmt: skip
"""A net as the paper's (ALiBi, SwiGLU) for `cpu`, on bytes, which any other text has too."""
CPU_STEPS = 250
PROXY = replace(BIBLE, width=BIBLE.base_width, steps=CPU_STEPS, warmup_steps=CPU_STEPS // 10)
"""The small dense net on which base hyperparameters are tuned for `cpu`."""
PAPER = replace(
    SMALL, device="cuda", data="slimpajama", tokenizer="gpt2", base_width=256, head_size=64,
    feed_forward="swiglu", positions="alibi", context=2048,
)  # fmt: skip
"""A net as the paper's: ALiBi, SwiGLU, byte pairs, SlimPajama."""


def point(kind: type[P], net: Params, **rest: Scalar) -> P:
    """Return a point of a kind: what it shares with a net or another point, and the rest."""
    shared = {field.name for field in kind.fields()}
    values = {name: value for name, value in net.to_json().items() if name in shared}
    return kind.from_json(values | rest)


def decaying(net: Net, steps: int) -> Net:
    """Return the net with a tenth of the steps as warm-up, and gradients clipped at norm 1."""
    return replace(net, steps=steps, warmup_steps=steps // 10, clip_norm=1.0)


def constant(net: Net, steps: int, *, clip_norm: float) -> Net:
    """Return the net at a constant learning rate, without warm-up; a clip_norm of 0 is none."""
    return replace(net, steps=steps, warmup_steps=0, schedule="constant", clip_norm=clip_norm)


def started(
    kind: type[P],
    net: Net,
    scheme: Scheme,
    density: float,
    seed: int,
    *,
    sp_std: float | None = None,
    base: BaseHyperparameters = TABLE_3,
    **rest: Scalar,
) -> P:
    """Return a point of a net under a scheme; what `rest` does not say is the base's.

    sp_std: SP has no width rule of its own; Table 4 hands it one standard deviation for all
    matrices, another one in almost every row. None: the base's.
    """
    start: dict[str, Scalar] = {
        "init_std": base.init_std if sp_std is None or scheme != "sp" else sp_std,
        "lr": base.lr,
        "input_multiplier": base.input_multiplier,
        "output_multiplier": base.output_multiplier,
    }
    swept = start.keys() - {field.name for field in kind.fields()}
    own = {name: value for name, value in start.items() if name not in swept} | rest
    return point(kind, net, scheme=scheme, density=density, seed=seed, **own)


def rates(
    seeds: Iterable[int],
    schemes: Sequence[Scheme],
    rungs: Sequence[Rung],
    ks: Callable[[Scheme, float], Iterable[int]],
    *,
    sp_std: float,
    base_of: Callable[[Scheme], BaseHyperparameters] = lambda scheme: TABLE_3,
) -> Iterator[RatePoint]:
    """Yield a sweep of learning rates; seeds are outermost, so a part of it has whole curves.

    ks: the swept points on the lattice, by scheme and density. base_of: the base hyperparameters
    of a scheme, of which those that are not swept are used.
    """
    for number, scheme, (density, net) in product(seeds, schemes, rungs):
        for k in ks(scheme, density):
            yield started(
                RatePoint, net, scheme, density, number, sp_std=sp_std, base=base_of(scheme),
                log2_lr=ETA_LOG2 + k,
            )  # fmt: skip


def std_at_width(net: Shape, base: BaseHyperparameters = TABLE_3) -> float:
    """Return sigma_base / sqrt(m_d), which is how Table 4's 2.166e-2 of SP comes about."""
    return base.init_std / math.sqrt(net.width / net.base_width)


def window(scheme: Scheme, density: float, *, centre: int) -> range:
    """Return the swept points of a scheme at a density as k on the lattice.

    Every scheme tries equally many at one density: 8 dense, 10 at density 1/16. Theory lets the
    optimum of SP, muP and the ablations rise by up to h = log2(1 / density), so their window's
    upper end rises by h, and its lower end by half of that, which keeps the dense optimum inside.
    That of SmuPar should not move, so its window grows on both sides.

    centre: k of the best dense point.

    >>> window("supar", 1.0, centre=0)
    range(-4, 4)
    >>> [len(window(scheme, 1 / 16, centre=0)) for scheme in ("sp", "mup", "supar")]
    [10, 10, 10]
    """
    halvings = math.ceil(-math.log2(density))
    low, high = centre - 4 + math.ceil(halvings / 2), centre + 4 + halvings
    if scheme == "supar":
        extra = high - low - 8
        low, high = centre - 4 - extra // 2, centre + 4 + math.ceil(extra / 2)
    return range(low, high)


def narrow_window(scheme: Scheme, density: float, *, centre: int, rise: int | None = None) -> range:
    """Return the swept points at `cpu`, where pilots say where the dense optimum lies.

    Two points below it, and two above where theory lets the optimum go: by as many octaves as the
    density is halved times, or by `rise`. That of SmuPar should stay, so its window is as long
    and reaches about as far to both sides.

    >>> [list(narrow_window(scheme, 1 / 8, centre=0)) for scheme in ("sp", "supar")]
    [[-2, -1, 0, 1, 2, 3, 4, 5], [-3, -2, -1, 0, 1, 2, 3, 4]]
    """
    far = math.ceil(-math.log2(density)) if rise is None else rise
    low = centre - 2 - (far // 2 if scheme == "supar" else 0)
    return range(low, low + far + 5)
