"""Time of one optimizer step: T = t_comm + t_comp - t_overlap (formulas 1 and 2, appendix A.3)."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import Literal

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.rings import WORLD, inter_s, intra_s
from reproductions.paro.method.schedule import TERMS, Collective, Term, schedule
from reproductions.paro.method.strategy import Strategy

World = Literal["flat", "hier", "scaled"]
Assembly = Literal["comm", "max", "sum"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeModel:
    """How collectives are timed, and put together with computation."""

    world: World = "flat"
    """Collectives of all GPUs. flat: one ring; of the readings of Tables 4 to 7, which are
    pictures, the one that gives what the text says its guideline recommends. hier: PaRO-CC in the
    two steps of Figure 2. scaled: a flat ring's time times `cc_factor`."""
    cc_factor: float = 1.0
    """The paper measured 0.60 to 0.75 of a ring's time with PaRO-CC."""
    assembly: Assembly = "comm"
    """comm: communication alone. max: all of it overlaps with computation, as the paper assumes.
    sum: none does."""

    def __post_init__(self) -> None:
        if not 0.0 < self.cc_factor <= 1.0:
            raise SpecError(f"cc_factor={self.cc_factor:g}: need a share in (0, 1]")
        if self.cc_factor != 1.0 and self.world != "scaled":
            raise SpecError(f"cc_factor={self.cc_factor:g} beside world={self.world!r}: a flat"
                            " ring's time is scaled with world='scaled' alone")  # fmt: skip

    def collective_s(self, found: Collective, cluster: Cluster, num_bytes: float) -> float:
        """Return the seconds of a collective on a state of `num_bytes` as a whole."""
        times = 2 if found.kind == "all_reduce" else 1
        part = num_bytes / found.parts(cluster)
        match found.scope:
            case "intra":
                return times * intra_s(cluster, part)
            case "inter":
                return times * inter_s(cluster, part)
            case "world":
                algorithm = WORLD["two_step" if self.world == "hier" else "flat"]
                return times * self.cc_factor * algorithm(cluster, part)


FLAT = TimeModel()


@dataclass(frozen=True, kw_only=True, slots=True)
class StepTime:
    """Seconds of an optimizer step, by term."""

    terms: dict[Term, float]
    """param and gradient of one micro-batch, sync_g and sync_p of the step."""
    accumulation: int
    compute: float
    """t_comp, of all micro-batches."""
    assembly: Assembly

    @property
    def comm(self) -> float:
        """t_comm = s (t_param + t_gradient) + t_sync_g + t_sync_p."""
        passes = self.terms["param"] + self.terms["gradient"]
        # Both parts of the update first: III's 2 X and IIG's X + X must tie to the last bit.
        return self.accumulation * passes + (self.terms["sync_g"] + self.terms["sync_p"])

    @property
    def total(self) -> float:
        """T."""
        match self.assembly:
            case "comm":
                return self.comm
            case "max":
                return max(self.comm, self.compute)
            case "sum":
                return self.comm + self.compute


def step_time(
    strategy: Strategy,
    workload: Workload,
    cluster: Cluster,
    model: TimeModel = FLAT,
    *,
    compute_s: float = 0.0,
    sync_every_micro_batch: bool = False,
) -> StepTime:
    """Return the time of an optimizer step.

    compute_s: t_comp, seconds of all forward and backward passes of the step.
    sync_every_micro_batch: as in `schedule`; its time is counted s times.
    """
    if not 0.0 <= compute_s < inf:
        raise SpecError(f"compute_s={compute_s:g}: need finite seconds, at least 0")
    terms: dict[Term, float] = dict.fromkeys(TERMS, 0.0)
    for step in schedule(strategy, sync_every_micro_batch=sync_every_micro_batch):
        once = model.collective_s(step.collective, cluster, bytes_of(step.term, workload))
        per_step = step.per_micro_batch and step.term in ("sync_g", "sync_p")
        terms[step.term] += once * (workload.accumulation if per_step else 1)
    return StepTime(
        terms=terms,
        accumulation=workload.accumulation,
        compute=compute_s,
        assembly=model.assembly,
    )


def bytes_of(term: Term, workload: Workload) -> float:
    """Return the bytes of what a term moves, as a whole.

    A pass needs all parameters; what is reduced, or changed by an optimizer step, are the
    trainable ones.
    """
    if term == "param" or (term == "sync_p" and workload.gathers_frozen):
        return workload.param_bytes * workload.num_params
    size = workload.param_bytes if term == "sync_p" else workload.grad_bytes
    return size * workload.num_trainable
