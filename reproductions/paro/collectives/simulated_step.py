"""An optimizer step of a strategy, message by message, on integers that must come out right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

import numpy as np

from reproductions.paro.collectives.messages import Held, Move, Net, Traffic, run
from reproductions.paro.collectives.routes import gather_route, reduce_route, sync_route
from reproductions.paro.method.blocks import padded_length
from reproductions.paro.method.strategy import Granularity, Strategy

Part = Literal["param", "gradient", "sync_g", "sync_p"]
STATE_ENTRIES = 3
"""Adam's: a copy of the parameter, two moments."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained, and where. Letters are those of `messages`."""

    net: Net
    num_trainable: int
    num_frozen: int
    """Parameters of both kinds; each kind is padded to a multiple of the GPUs."""
    accumulation: int
    param_bytes: int = 2
    grad_bytes: int = 2
    state_entry_bytes: int = 4

    @property
    def padded(self) -> tuple[int, int]:
        """Trainable and frozen parameters with their padding."""
        n = self.net.num_gpus
        return padded_length(self.num_trainable, n), padded_length(self.num_frozen, n)

    def cut(self, values: np.ndarray, length: int) -> np.ndarray:
        """Return the blocks of a state, which is padded with zeros: (B, E)."""
        return np.pad(values, (0, length - len(values))).reshape(self.net.num_gpus, -1)

    @cached_property
    def first_params(self) -> np.ndarray:
        """Return the blocks of trainable parameters before the step."""
        return self.cut(7 * np.arange(self.num_trainable) + 5, self.padded[0])

    @cached_property
    def frozen(self) -> np.ndarray:
        return self.cut(3 * np.arange(self.num_frozen) + 1, self.padded[1])

    def gradients(self, micro_batch: int, params_NBE: np.ndarray) -> np.ndarray:
        """Return every GPU's gradient at the parameters that it sees: another one every time."""
        gpus = np.arange(self.net.num_gpus)[:, None, None]
        places = np.arange(1, self.padded[0] + 1).reshape(self.first_params.shape)
        return (gpus + 2) * (micro_batch + 3) * places % 101 + params_NBE

    @cached_property
    def sums(self) -> np.ndarray:
        """Return the sums of all GPUs' gradients over the step, as one process has them."""
        seen = np.broadcast_to(self.first_params, (self.net.num_gpus, *self.first_params.shape))
        parts = [self.gradients(k, seen).sum(axis=0) for k in range(self.accumulation)]
        return np.sum(parts, axis=0)


@dataclass(kw_only=True)
class SimulatedStep:
    """A step that is taken, with what was sent and held in it."""

    job: Job
    strategy: Strategy
    traffic: dict[Part, Traffic] = field(default_factory=dict)
    wrong_blocks: int = 0
    """Blocks that a GPU had to have and had not, or had wrong."""
    held_bytes: int = 0
    """What the fullest GPU keeps between steps."""

    def take(self) -> SimulatedStep:
        """Take the step."""
        job, net, strategy = self.job, self.job.net, self.strategy
        for part in ("param", "gradient", "sync_g", "sync_p"):
            moved = job.param_bytes if part in ("param", "sync_p") else job.grad_bytes
            self.traffic[part] = Traffic(net=net, entry_bytes=moved)
        size = job.first_params.shape[1]
        whole = np.concatenate([job.first_params, job.frozen], axis=1)
        params = self._placed(strategy.params, whole)
        grads = self._placed(strategy.grads, np.zeros_like(job.first_params))
        for micro_batch in range(job.accumulation):
            for _ in ("forward", "backward"):
                seen = params.copy()
                self._move(seen, gather_route(net, strategy.params, "N"), "param")
                self._compare(seen, "N", whole)
            found = Held(job.gradients(micro_batch, seen.values_NBE[..., :size]), seen.there_NB)
            self._move(found, reduce_route(net, strategy.grads), "gradient")
            grads.values_NBE += found.only(net.owned(strategy.grads)).values_NBE
        self._move(grads, sync_route(net, strategy.grads, strategy.states), "sync_g")
        sums = grads.only(net.owned(strategy.states))
        self._compare(sums, strategy.states, job.sums)
        states = self._placed(strategy.states, job.first_params)
        # Down by the gradient, which a wrong sum changes, as it would Adam's step.
        states.values_NBE -= sums.values_NBE
        self._hand_back(params, states)
        self.held_bytes = self._weigh()
        return self

    def _placed(self, granularity: Granularity, blocks: np.ndarray) -> Held:
        owned = self.job.net.owned(granularity)
        return Held(blocks * owned[..., None], owned)

    def _move(self, held: Held, route: Sequence[Move], part: Part) -> None:
        for move in route:
            run(move, held, self.traffic[part])

    def _hand_back(self, params: Held, states: Held) -> None:
        """Bring new parameters from where they were updated to where they are held."""
        job, strategy, held = self.job, self.strategy, states.copy()
        self._move(held, gather_route(job.net, strategy.states, strategy.params), "sync_p")
        size = job.first_params.shape[1]
        new = held.only(job.net.owned(strategy.params))
        params.values_NBE[..., :size] = new.values_NBE
        right = job.first_params - job.sums
        self._compare(params, strategy.params, np.concatenate([right, job.frozen], axis=1))
        self._compare(states, strategy.states, right)

    def _compare(self, held: Held, granularity: Granularity, right: np.ndarray) -> None:
        wrong = (held.values_NBE != right).any(axis=2) | ~held.there_NB
        self.wrong_blocks += int(wrong[self.job.net.owned(granularity)].sum())

    def _weigh(self) -> int:
        """Return the bytes of the parameters, gradients and states that the fullest GPU keeps."""
        job, strategy = self.job, self.strategy
        trainable, frozen = (length // job.net.num_gpus for length in job.padded)
        kept = (
            (strategy.params, job.param_bytes * (trainable + frozen)),
            (strategy.grads, job.grad_bytes * trainable),
            (strategy.states, STATE_ENTRIES * job.state_entry_bytes * trainable),
        )
        by_gpu = sum(size * job.net.owned(held).sum(axis=1) for held, size in kept)
        return int(np.max(by_gpu))
