"""The guideline: of the strategies that fit, the one whose optimizer step takes least time.

Source: formulas 1 and 2 of the paper, and its appendix A.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf

from harness.errors import SpecError
from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.memory import Memory, memory_of
from reproductions.paro.method.step_time import FLAT, StepTime, TimeModel, step_time
from reproductions.paro.method.strategy import EFFECTIVE, Strategy


@dataclass(frozen=True, kw_only=True, slots=True)
class Prediction:
    """What a strategy takes on a cluster."""

    strategy: Strategy
    memory: Memory
    time: StepTime
    fits: bool
    """Whether its states are within the memory there is; activations are not counted."""

    @property
    def steps_per_s(self) -> float:
        """1 / T, the paper's indicator; infinite where nothing takes time."""
        return 1.0 / self.time.total if self.time.total else inf


def predict(
    workload: Workload,
    cluster: Cluster,
    model: TimeModel = FLAT,
    *,
    memory_bytes: float = inf,
    compute_s: float = 0.0,
    strategies: Iterable[Strategy] = EFFECTIVE,
) -> list[Prediction]:
    """Return what every strategy takes, in the order given.

    memory_bytes: what a GPU has for the three states. Raises SpecError for none.
    """
    if not memory_bytes > 0.0:
        raise SpecError(f"memory_bytes={memory_bytes:g}: need more than 0")
    found = []
    for strategy in strategies:
        memory = memory_of(strategy, workload, cluster)
        found.append(
            Prediction(
                strategy=strategy,
                memory=memory,
                time=step_time(strategy, workload, cluster, model, compute_s=compute_s),
                fits=memory.total <= memory_bytes,
            )
        )
    return found


def ranked(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Return those that fit, from the least time on; of equal times the least memory first."""
    fitting = [found for found in predictions if found.fits]
    return sorted(fitting, key=costs)


def costs(found: Prediction) -> tuple[float, float]:
    """Return time and memory to nine digits: what differs by rounding alone is as fast.

    IIG and III send the same bytes in another number of collectives, which floats add up to other
    last digits.
    """
    return nine_digits(found.time.total), nine_digits(found.memory.total)


def nine_digits(number: float) -> float:
    return float(f"{number:.9g}")


def pareto_front(predictions: Sequence[Prediction]) -> list[Prediction]:
    """Return those that no other beats in time or memory without losing in the other."""
    kept = unbeaten([costs(found) for found in predictions])
    return [found for found, is_kept in zip(predictions, kept, strict=True) if is_kept]


def unbeaten(points: Sequence[tuple[float, float]]) -> list[bool]:
    """Return point by point whether no other is less in one number and no more in the other."""

    def beats(a: tuple[float, float], b: tuple[float, float]) -> bool:
        return a != b and a[0] <= b[0] and a[1] <= b[1]

    return [not any(beats(other, own) for other in points) for own in points]
