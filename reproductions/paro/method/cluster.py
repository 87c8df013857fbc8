"""GPUs in groups, how fast they reach each other, and what is trained on them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal, get_args

from harness.errors import SpecError
from reproductions.paro.method.strategy import Granularity

Nic = Literal["rail", "shared"]
BITS_PER_BYTE = 8
MOST = 10**9
"""GPUs, or micro-batches: more are a slip, and too many for floats to count."""
MOST_GBIT = 1e60
"""Per second, for a link that takes no time: what floats make of far more is infinite."""
MOST_PARAMS = 1e18


def check_whole(**counts: int) -> None:
    """Raise SpecError for a count that is no whole number, or is absurd."""
    for name, count in counts.items():
        if not isinstance(count, int) or isinstance(count, bool):
            raise SpecError(f"{name}={count!r}: need a whole number")
        if count > MOST:
            raise SpecError(f"{name} is more than {MOST:,}: need a number that there can be")


@dataclass(frozen=True, kw_only=True, slots=True)
class Cluster:
    """n GPUs in groups of m: a group is a machine, or the machines under one switch."""

    num_gpus: int
    """n."""
    group_size: int
    """m."""
    inter_gbit_per_s: float
    """B, between groups: of a GPU on a rail of its own, or of the link that a group shares."""
    intra_gbit_per_s: float
    """B', between two GPUs of a group."""
    nic: Nic = "rail"
    """rail: every GPU has B to itself, as the paper's formulas have it. shared: the GPUs of a group
    share one link of B, so that m transfers between groups at once take m times as long."""

    def __post_init__(self) -> None:
        n, m = self.num_gpus, self.group_size
        check_whole(num_gpus=n, group_size=m)
        if self.nic not in get_args(Nic):
            raise SpecError(f"nic={self.nic!r}: one of {', '.join(get_args(Nic))}")
        if n < 1 or m < 1:
            raise SpecError(f"n={n} GPUs in groups of m={m}: need at least one of each")
        if n % m:
            raise SpecError(f"n={n} GPUs do not fill groups of m={m}: n must be a multiple of m")
        rates = {"B": self.inter_gbit_per_s, "B'": self.intra_gbit_per_s}
        for name, rate in rates.items():
            if not 0.0 < rate <= MOST_GBIT:
                raise SpecError(
                    f"bandwidth {name}={rate:g} Gbit/s: need a finite one above 0, at most"
                    f" {MOST_GBIT:g}"
                )

    @property
    def num_groups(self) -> int:
        """g."""
        return self.num_gpus // self.group_size

    @property
    def inter_bytes_per_s(self) -> float:
        return self.inter_gbit_per_s * 1e9 / BITS_PER_BYTE

    @property
    def intra_bytes_per_s(self) -> float:
        return self.intra_gbit_per_s * 1e9 / BITS_PER_BYTE

    @property
    def sharing(self) -> int:
        """How many transfers between groups share a link where every GPU has one to make."""
        return self.group_size if self.nic == "shared" else 1

    def parts(self, granularity: Granularity) -> int:
        """Return into how many parts a granularity splits."""
        return {"N": 1, "I": self.group_size, "G": self.num_gpus}[granularity]


def unlinked(num_gpus: int, group_size: int) -> Cluster:
    """Return GPUs in groups for what depends on no link's speed: blocks, bytes and memory."""
    return Cluster(
        num_gpus=num_gpus, group_size=group_size, inter_gbit_per_s=1.0, intra_gbit_per_s=1.0
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Workload:
    """A model in training: one optimizer step of s micro-batches."""

    num_params: float
    """Psi. The paper's inputs are round: 7e9 and 65e9."""
    trainable_share: float = 1.0
    """Psi' / Psi."""
    accumulation: int = 1
    """s, micro-batches per optimizer step."""
    param_bytes: int = 2
    grad_bytes: int = 2
    state_bytes: int = 12
    """Per trainable parameter; mixed precision Adam: a master copy and two moments of 4 bytes."""
    gathers_frozen: bool = False
    """Whether frozen parameters too are gathered after an optimizer step, as some systems do."""

    def __post_init__(self) -> None:
        if not 1 <= self.num_params <= MOST_PARAMS:
            raise SpecError(f"num_params={self.num_params:g}: need from 1 to {MOST_PARAMS:g}")
        if not 0.0 < self.trainable_share <= 1.0:
            raise SpecError(f"trainable_share={self.trainable_share:g}: need a share in (0, 1]")
        check_whole(accumulation=self.accumulation)
        for name in ("param_bytes", "grad_bytes", "state_bytes"):
            if not 0 <= getattr(self, name) < inf:
                raise SpecError(f"{name}={getattr(self, name)}: need a number, at least 0")
        if self.accumulation < 1:
            raise SpecError(f"accumulation={self.accumulation}: need at least one micro-batch")

    @property
    def num_trainable(self) -> float:
        """Psi'."""
        return self.num_params * self.trainable_share
