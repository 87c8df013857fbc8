"""LISA: train the embeddings, the head, and a few blocks that change every K steps.

Source: Pan et al., arXiv 2403.17919 (NeurIPS 2024), Algorithm 1. What the paper leaves open, the
optimizer's state of a block that is frozen again, is a policy here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeVar, get_args

from torch import nn
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

from harness.errors import DataError, RunError, SpecError
from reproductions.lisa.method.blocks import Blocks, embedding_parameters, find_blocks
from reproductions.lisa.method.optimizer_groups import OptimizerGroups
from reproductions.lisa.method.paging import HostStates
from reproductions.lisa.method.sampling import RandomSampler, Sampler, SamplerKind
from reproductions.lisa.method.unattached import Unattached
from reproductions.lisa.method.unsupported import (
    refuse_deepspeed,
    refuse_model,
    refuse_ranks_apart,
    refuse_silent_ranks,
)

StatePolicy = Literal["drop_refrozen", "keep_all", "reset_all", "page_refrozen"]
"""Which moments survive a switch.

`drop_refrozen`: those of what stays trained, so that memory is that of gamma blocks; a block that
returns after a period's absence starts anew. `keep_all`: all, as released code that only flips
requires_grad; memory climbs towards full training's. `reset_all`: none, not even the embeddings',
as when each period is a job of its own. `page_refrozen`: all, in the device's
memory of `drop_refrozen`: those of a frozen block wait in the host's, and come back at a switch.
"""
STATE_KEY = "lisa"
"""Under it an attached optimizer's state_dict holds the sampler, the period and the blocks."""

PATIENCE = 10
"""Steps in a row without a gradient that are taken for chance (layers dropped at random)."""

AnyOptimizer = TypeVar("AnyOptimizer", bound=Optimizer)


class Lisa:
    """Layerwise importance sampling for a model and the optimizer it is attached to.

        lisa = Lisa(model, gamma=2, period=13, seed=0)
        optimizer = lisa.attach(torch.optim.AdamW(model.parameters(), lr=1e-5))

    and train as always: blocks change after every `period` calls of `optimizer.step()`, so that
    accumulated gradients and skipped steps count as they should. A learning-rate scheduler goes
    on over switches. The optimizer's own state_dict carries LISA's state: a run resumed from it
    equals an uninterrupted one.
    """

    step: int
    """Optimizer steps so far."""
    active: tuple[int, ...]
    """Numbers of the blocks that train now; empty before `attach`."""
    visited: set[int]
    """Blocks that have been trained, in any period: stepped with a gradient."""
    _settings: dict[str, int | str]
    _optimizer: Optimizer | None
    _groups: OptimizerGroups | None
    _hooks: list[RemovableHandle]
    _moved: set[int]

    def __init__(
        self,
        model: nn.Module,
        *,
        gamma: int,
        period: int,
        seed: int,
        sampler: SamplerKind | Sampler = "exact",
        policy: StatePolicy = "drop_refrozen",
        train_embeddings: bool = True,
        blocks: str | None = None,
    ) -> None:
        """Find the blocks; nothing is frozen before `attach`.

        gamma: active blocks of a period (`bernoulli`: on average); all of them is full
        training, 0 trains what lies outside the blocks alone.
        period: K, in optimizer steps; one that training never reaches draws blocks once.
        sampler: `exact`, `bernoulli`, or one of your own, to which gamma and seed mean nothing.
        train_embeddings: False freezes embeddings and head, which hold most of what LISA trains
        where the vocabulary is large.
        blocks: name of the list of blocks, where it cannot be found by structure.
        Raises SpecError for what is out of range, and for a model without blocks, with peft's
        adapters, or of which nothing would always train; EnvError for a sharded one. Until the
        Lisa is attached, an optimizer that steps the blocks raises RunError.
        """
        _check(model, period, policy)
        self.model = model
        self.blocks: Blocks = find_blocks(model, blocks)
        kind = sampler if isinstance(sampler, str) else "own"
        self._settings = {"gamma": gamma, "period": period, "seed": seed, "sampler": kind}
        self._settings |= {"policy": policy, "train_embeddings": train_embeddings}
        self._settings["num_blocks"] = len(self.blocks)
        if isinstance(sampler, str):
            sampler = RandomSampler(len(self.blocks), gamma=gamma, seed=seed, kind=sampler)
        self._period, self._policy, self._sampler = period, policy, sampler
        self._parts = _trainable_parts(self.blocks)
        self._fixed = _fixed_parameters(model, self.blocks, train_embeddings=train_embeddings)
        self.step, self.active, self.visited = 0, (), set()
        self._forget()
        self._unattached = Unattached(self, self.blocks)

    @property
    def num_samplings(self) -> int:
        """Draws that have trained: periods begun."""
        return -(-self.step // self._period)

    @property
    def coverage(self) -> float:
        """Share of blocks that have been trained; what is not covered is as it was."""
        return len(self.visited) / len(self.blocks)

    def attach(self, optimizer: AnyOptimizer) -> AnyOptimizer:
        """Draw the first blocks, freeze the others, and follow the optimizer's steps.

        optimizer: over all of the model's parameters, without a scheduler and unwrapped yet.
        Returns the same optimizer. Raises SpecError for one that cannot follow or lacks a
        parameter, and EnvError
        where parameters are flattened or sharded, which would silently save nothing.
        """
        if self._optimizer is not None:
            raise SpecError("this Lisa is attached already: detach it first")
        self._unattached.told = True
        # Again: something may have wrapped it since.
        refuse_model(self.model)
        refuse_deepspeed(self.model, optimizer)
        self._refuse_left_out(optimizer)
        first = self._draw()
        refuse_ranks_apart([self._settings, first])
        self._groups, self._optimizer = OptimizerGroups(optimizer, self._parts), optimizer
        self._unattached.end()
        for parameter in self._fixed:
            parameter.requires_grad_(False)
        self._hooks = [
            optimizer.register_step_pre_hook(self._check_step),
            optimizer.register_step_post_hook(self._count_step),
            optimizer.register_state_dict_post_hook(self._add_state),
            # First of all, and it leaves nothing of LISA to `refuse_lisa_state`.
            optimizer.register_load_state_dict_pre_hook(self._take_state, prepend=True),
        ]
        self._activate(first)
        self._groups.note_step(self.step)
        return optimizer

    def detach(self) -> None:
        """Let go of the optimizer, and make trainable again what was so before `attach`.

        The optimizer keeps its number of groups, which a scheduler may have counted.
        """
        optimizer, groups = self._attached()
        for hook in self._hooks:
            hook.remove()
        every = range(len(self.blocks))
        groups.refill(every)
        self._host.give_back(optimizer, self._parameters(every))
        for parameter in [*self._parameters(every), *self._fixed]:
            parameter.requires_grad_(True)
        optimizer.register_load_state_dict_pre_hook(refuse_lisa_state)
        self._forget()

    def _forget(self) -> None:
        self._silent_steps, self._host = Counter[int](), HostStates()
        self._optimizer, self._groups, self._hooks = None, None, []

    def _attached(self) -> tuple[Optimizer, OptimizerGroups]:
        if self._optimizer is None or self._groups is None:
            raise SpecError("this Lisa is not attached to an optimizer: call attach first")
        return self._optimizer, self._groups

    def _check_step(self, *_: Any) -> None:
        """Raise before a step that would not train just the active blocks."""
        groups = self._attached()[1]
        refuse_silent_ranks(self.model)
        if not groups.holds(self._held):
            raise RunError(
                "the optimizer's groups are no longer those LISA made: something (DeepSpeed, FSDP,"
                " another callback) has replaced them, and LISA cannot work under it"
            )
        self._check_frozen()
        if groups.noted_step() != self.step:
            raise RunError(
                f"the optimizer was loaded at step {groups.noted_step()} and LISA is at step"
                f" {self.step}: this kind of optimizer loads checkpoints without telling, so a run"
                " with it cannot be resumed"
            )
        self._moved = self._moving()

    def _check_frozen(self) -> None:
        """Raise where something else has frozen or unfrozen what LISA draws."""
        parts = [(f"block {number}", number in self.active, part)
                 for number, part in enumerate(self._parts)]  # fmt: skip
        for name, trains, part in [*parts, ("the embedding or head", False, self._fixed)]:
            if any(parameter.requires_grad != trains for parameter in part):
                raise RunError(
                    f"{name} should {'train' if trains else 'be frozen'} now, and something else"
                    " than LISA has set its requires_grad: leave it to LISA until detach"
                )

    def _check_gradients(self, moving: set[int]) -> None:
        """Raise where an active block has had no gradient for some of its steps in a row."""
        for block in self.active:
            self._silent_steps[block] = 0 if block in moving else self._silent_steps[block] + 1
        silent = [block for block in self.active if self._silent_steps[block] >= PATIENCE]
        if silent:
            raise RunError(
                f"active blocks {silent} have no gradient: with frozen embeddings or blocks and"
                " reentrant checkpointing call model.enable_input_require_grads(); otherwise check"
                " that the model that trains is the one handed to Lisa, and that the loss depends"
                " on these blocks"
            )

    def _moving(self) -> set[int]:
        """Return the active blocks that have a gradient: the others stay as they are."""
        return {b for b in self.active if any(p.grad is not None for p in self._parts[b])}

    def _count_step(self, optimizer: Optimizer, *_: Any) -> None:
        # A fused optimizer is stepped by the scaler also where it skips the update.
        found_inf = getattr(optimizer, "found_inf", None)
        if found_inf is not None and bool(found_inf):
            return
        # A closure has made the gradients inside the step.
        moving = self._moved | self._moving()
        self._check_gradients(moving)
        self.step += 1
        self.visited.update(moving)
        if self.step % self._period == 0:
            self._refuse_left_out(optimizer)
            self._activate(self._draw())
        self._attached()[1].note_step(self.step)

    def _refuse_left_out(self, optimizer: Optimizer) -> None:
        """Raise SpecError where something outside the blocks trains that no group holds.

        It would never move, and its gradient would grow from step to step. Also after `attach`:
        resizing the vocabulary puts new parameters in the old ones' places.
        """
        held = (p for group in optimizer.param_groups for p in group["params"])
        known = {*self._in_order, *self._fixed, *held}
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad and parameter not in known:
                raise SpecError(
                    f"the optimizer lacks {name}, which is to train: build it over"
                    " model.parameters() after the model's last change, or freeze this one before"
                    " the Lisa is made"
                )

    def _draw(self) -> tuple[int, ...]:
        """Return the next blocks. Raises SpecError for what is no set of blocks."""
        drawn = self._sampler.draw()
        if len(set(drawn)) < len(drawn) or not set(drawn) <= set(range(len(self.blocks))):
            raise SpecError(f"the sampler drew {drawn}: need distinct numbers of blocks")
        return drawn

    def _activate(self, active: tuple[int, ...]) -> None:
        """Make these blocks the trained ones, and reconcile the optimizer."""
        optimizer, groups = self._attached()
        self.active = active
        frozen = self._parameters(b for b in range(len(self.blocks)) if b not in active)
        for parameter in frozen:
            # A gradient left over would be stepped, or kept in memory.
            parameter.grad = None
            parameter.requires_grad_(False)
            if self._policy == "drop_refrozen":
                optimizer.state.pop(parameter, None)
        if self._policy == "page_refrozen":
            self._host.take(optimizer, frozen)
        for parameter in self._parameters(active):
            parameter.requires_grad_(True)
        if self._policy == "reset_all":
            optimizer.state.clear()
        groups.refill(self._held)
        if self._policy == "page_refrozen":
            # After the groups, whose options say where states belong.
            self._host.give_back(optimizer, self._parameters(active))

    @property
    def _held(self) -> Sequence[int]:
        """Blocks in the optimizer's groups; it skips those without a gradient."""
        return range(len(self.blocks)) if self._policy == "keep_all" else self.active

    @property
    def _in_order(self) -> list[nn.Parameter]:
        """Parameters of all blocks, as a checkpoint counts them."""
        return self._parameters(range(len(self.blocks)))

    @property
    def _sizes(self) -> list[int]:
        """Numbers of elements, from which a checkpoint of other parameters is known."""
        return [parameter.numel() for parameter in self._in_order]

    def _parameters(self, blocks: Iterable[int]) -> list[nn.Parameter]:
        return [parameter for block in blocks for parameter in self._parts[block]]

    def _add_state(self, _: Optimizer, state: dict[str, Any]) -> None:
        state[STATE_KEY] = {
            "settings": dict(self._settings),
            "sampler": self._sampler.state_dict(),
            "step": self.step,
            "active": list(self.active),
            "visited": sorted(self.visited),
            "sizes": self._sizes,
        }
        if self._policy == "page_refrozen":
            state[STATE_KEY]["paged"] = self._host.state_dict(self._in_order)

    def _take_state(self, _: Optimizer, state: dict[str, Any]) -> None:
        """Put the blocks of a checkpoint in the groups, before the optimizer compares them."""
        if STATE_KEY not in state:
            raise DataError(
                "this optimizer checkpoint was made without LISA: start a new run from the model's"
                " weights, or go on without LISA"
            )
        stored = state.pop(STATE_KEY)
        theirs = {name: stored["settings"].get(name) for name in self._settings}
        if theirs != self._settings:
            names = [name for name in theirs if theirs[name] != self._settings[name]]
            found = ", ".join(f"{n}={theirs[n]}" for n in names)
            ours = ", ".join(f"{n}={self._settings[n]}" for n in names)
            raise DataError(f"the checkpoint was made with {found}, this run has {ours}")
        if stored.get("sizes", self._sizes) != self._sizes:
            raise DataError(
                "the checkpoint was made with other parameters that train in the blocks than this"
                " model has: freeze the same ones, before the Lisa is made"
            )
        self._sampler.load_state_dict(stored["sampler"])
        self.step, self.visited = stored["step"], set(stored["visited"])
        self._activate(tuple(stored["active"]))
        self._host.load_state_dict(stored.get("paged", {}), self._in_order)


def refuse_lisa_state(_: Optimizer, state: dict[str, Any]) -> None:
    """Raise DataError for a checkpoint of LISA, before an optimizer that has none loads it."""
    if STATE_KEY in state:
        raise DataError(
            "this optimizer checkpoint was made with LISA, and no Lisa is attached: attach one with"
            " the same settings before loading, or start anew from the model's weights"
        )


def _check(model: nn.Module, period: int, policy: str) -> None:
    refuse_model(model)
    if period < 1:
        raise SpecError(f"period={period}: need at least one optimizer step")
    if policy not in get_args(StatePolicy):
        raise SpecError(f"policy={policy!r}: need one of {', '.join(get_args(StatePolicy))}")


def _trainable_parts(blocks: Blocks) -> list[list[nn.Parameter]]:
    """Return each block's trainable parameters: what the caller has frozen stays so."""
    parts = [
        [parameter for parameter in block if parameter.requires_grad] for block in blocks.inside
    ]
    frozen = [number for number, part in enumerate(parts) if not part]
    if frozen:
        raise SpecError(
            f"blocks {frozen} of {blocks.path!r} have nothing that trains: unfreeze them, or detach"
            " the Lisa that froze them"
        )
    return parts


def _fixed_parameters(
    model: nn.Module, blocks: Blocks, *, train_embeddings: bool
) -> list[nn.Parameter]:
    """Return what is never to train outside the blocks: embeddings and head, where so asked.

    Raises SpecError where all that would always train has been frozen by the caller.
    """
    if not train_embeddings:
        return [p for p in embedding_parameters(model, blocks) if p.requires_grad]
    if blocks.outside and not any(parameter.requires_grad for parameter in blocks.outside):
        raise SpecError(
            f"all that lies outside of {blocks.path!r} is frozen, and LISA always trains embeddings"
            " and head: unfreeze them, or sample blocks alone with train_embeddings=False"
        )
    return []
