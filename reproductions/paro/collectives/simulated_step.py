"""An optimizer step of a strategy, message by message, on integers that must come out right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from operator import add, sub
from typing import Literal

from reproductions.paro.collectives.messages import Block, Held, Move, Net, Traffic, run
from reproductions.paro.collectives.routes import gather_route, kept, reduce_route, sync_route
from reproductions.paro.method.blocks import padded_length
from reproductions.paro.method.strategy import Granularity, Strategy

Part = Literal["param", "gradient", "sync_g", "sync_p"]
STATE_ENTRIES = 3
"""Adam's: a copy of the parameter, two moments."""


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is trained, and where."""

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

    def cut(self, values: Sequence[int]) -> list[Block]:
        """Return a padded state's blocks."""
        size = len(values) // self.net.num_gpus
        return [tuple(values[i * size : (i + 1) * size]) for i in range(self.net.num_gpus)]

    @cached_property
    def first_params(self) -> list[Block]:
        """Return the blocks of trainable parameters before the step."""
        return self.cut([7 * i + 5 if i < self.num_trainable else 0
                         for i in range(self.padded[0])])  # fmt: skip

    @cached_property
    def frozen(self) -> list[Block]:
        return self.cut([3 * i + 1 if i < self.num_frozen else 0 for i in range(self.padded[1])])

    def gradient(self, gpu: int, micro_batch: int, number: int, params: Block) -> Block:
        """Return a block of a GPU's gradient at these parameters: another one every time."""
        return tuple(
            (gpu + 2) * (micro_batch + 3) * (number * len(params) + i + 1) % 101 + value
            for i, value in enumerate(params)
        )

    @cached_property
    def gradients(self) -> list[Block]:
        """Return the sums of all GPUs' gradients over the step, as one process has them."""
        found = []
        for number, params in enumerate(self.first_params):
            total: Block = (0,) * len(params)
            for gpu in range(self.net.num_gpus):
                for micro_batch in range(self.accumulation):
                    part = self.gradient(gpu, micro_batch, number, params)
                    total = tuple(map(add, total, part))
            found.append(total)
        return found


@dataclass(kw_only=True)
class SimulatedStep:
    """A step that was taken."""

    job: Job
    strategy: Strategy
    traffic: dict[Part, Traffic] = field(default_factory=dict)
    wrong_blocks: int = 0
    """Blocks that some GPU had to have, in a pass or after the step, and had not or had wrong."""
    held_bytes: int = 0
    """What the fullest GPU keeps between steps."""

    def take(self) -> SimulatedStep:
        """Take the step."""
        job, net = self.job, self.job.net
        for part in ("param", "gradient", "sync_g", "sync_p"):
            moved = job.param_bytes if part in ("param", "sync_p") else job.grad_bytes
            self.traffic[part] = Traffic(net=net, entry_bytes=moved)
        whole = [a + b for a, b in zip(job.first_params, job.frozen, strict=True)]
        params = self._placed(self.strategy.params, whole)
        grads = self._placed(self.strategy.grads, [(0,) * len(b) for b in job.first_params])
        for micro_batch in range(job.accumulation):
            for _ in ("forward", "backward"):
                seen = self._gathered(params)
                self._compare(seen, "N", whole)
            self._accumulate(grads, self._backward(seen, micro_batch))
        self._move(grads, sync_route(net, self.strategy.grads, self.strategy.states), "sync_g")
        sums = kept(net, grads, self.strategy.states)
        self._compare(sums, self.strategy.states, job.gradients)
        states = self._placed(self.strategy.states, job.first_params)
        self._update(states, sums)
        self._hand_back(params, states)
        self._weigh(params, states)
        return self

    def _placed(self, granularity: Granularity, blocks: Sequence[Block]) -> Held:
        owned = self.job.net.owned(granularity)
        return [{number: blocks[number] for number in numbers} for numbers in owned]

    def _move(self, held: Held, route: Sequence[Move], part: Part) -> None:
        for move in route:
            run(move, held, self.traffic[part])

    def _gathered(self, params: Held) -> Held:
        """Return what a pass computes with: all parameters on every GPU."""
        seen = [dict(blocks) for blocks in params]
        self._move(seen, gather_route(self.job.net, self.strategy.params, "N"), "param")
        return seen

    def _backward(self, seen: Held, micro_batch: int) -> Held:
        """Return every GPU's gradient, reduced to where gradients rest."""
        net, size = self.job.net, len(self.job.first_params[0])
        found = [
            {number: self.job.gradient(gpu, micro_batch, number, block[:size])
             for number, block in blocks.items()}
            for gpu, blocks in enumerate(seen)
        ]  # fmt: skip
        self._move(found, reduce_route(net, self.strategy.grads), "gradient")
        return kept(net, found, self.strategy.grads)

    def _accumulate(self, grads: Held, new: Held) -> None:
        for into, blocks in zip(grads, new, strict=True):
            for number, block in blocks.items():
                into[number] = tuple(map(add, into[number], block))

    def _update(self, states: Held, sums: Held) -> None:
        """Step down by the gradient, which a wrong sum changes, as it would Adam's step."""
        for blocks, own in zip(states, sums, strict=True):
            for number, block in own.items():
                blocks[number] = tuple(map(sub, blocks[number], block))

    def _hand_back(self, params: Held, states: Held) -> None:
        """Bring new parameters from where they were updated to where they are held."""
        net, held = self.job.net, [dict(blocks) for blocks in states]
        self._move(held, gather_route(net, self.strategy.states, self.strategy.params), "sync_p")
        size = len(self.job.first_params[0])
        for blocks, new in zip(params, kept(net, held, self.strategy.params), strict=True):
            for number, block in new.items():
                blocks[number] = block + blocks[number][size:]
        right = [
            tuple(map(sub, before, grad)) + rest
            for before, grad, rest in zip(
                self.job.first_params, self.job.gradients, self.job.frozen, strict=True
            )
        ]
        self._compare(params, self.strategy.params, right)
        self._compare(states, self.strategy.states, [block[:size] for block in right])

    def _compare(self, held: Held, granularity: Granularity, right: Sequence[Block]) -> None:
        for blocks, numbers in zip(held, self.job.net.owned(granularity), strict=True):
            self.wrong_blocks += sum(blocks.get(number) != right[number] for number in numbers)

    def _weigh(self, params: Held, states: Held) -> None:
        """Count the bytes of the parameters, gradients and states that stay."""
        job = self.job
        grads = self._placed(self.strategy.grads, job.first_params)
        self.held_bytes = max(
            job.param_bytes * _entries(p) + job.grad_bytes * _entries(g)
            + STATE_ENTRIES * job.state_entry_bytes * _entries(o)
            for p, g, o in zip(params, grads, states, strict=True)
        )  # fmt: skip


def _entries(blocks: dict[int, Block]) -> int:
    return sum(map(len, blocks.values()))
