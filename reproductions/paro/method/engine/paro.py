"""Training by any of the 14 strategies, in a plain loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import DeviceMesh
from torch.optim import Optimizer

from harness.errors import RunError, SpecError
from reproductions.paro.method.engine.collectives import Collectives, World
from reproductions.paro.method.engine.groups import Groups
from reproductions.paro.method.engine.passes import Lane, Passes, Unit
from reproductions.paro.method.engine.refusals import (
    guard,
    refuse_left_out,
    refuse_uneven,
    refuse_wrapped,
)
from reproductions.paro.method.engine.state import FlatState, Precision, join_grads
from reproductions.paro.method.engine.trace import Trace
from reproductions.paro.method.engine.transitions import sync_grads, sync_params
from reproductions.paro.method.engine.units import Part, parts_of
from reproductions.paro.method.schedule import Scope, reduce_per_micro_batch
from reproductions.paro.method.strategy import Granularity, Strategy, effective_of

SHARED_BY: dict[Granularity, Scope] = {"I": "intra", "G": "world"}
"""Ranks whose parts of the optimizer states together are one copy of all."""


class Paro:
    """Splits what training a model holds, and keeps ranks in step.

        mesh = mesh_of_groups(group_size=8)
        engine = Paro(model, mesh, "IIG", optimizer=partial(torch.optim.AdamW, lr=1e-4))
        for batch in batches:
            for micro_batch in batch:
                engine.backward(model(micro_batch).mean() / len(batch))
            engine.step()

    Gradients are those of the mean over ranks, and of the sum over backward passes, as with DDP.
    They are divided by n once, after they are summed. A parameter that no pass reached has a
    gradient of zeros, where a single process has none.
    """

    def __init__(
        self,
        model: nn.Module,
        mesh: DeviceMesh,
        strategy: str | Strategy,
        *,
        optimizer: Callable[[list[Any]], Optimizer],
        options: Callable[[str, nn.Parameter], Mapping[str, Any]] | None = None,
        max_norm: float | None = None,
        units: Sequence[nn.Module] | None = None,
        collectives: World = "flat",
        precision: Precision = Precision(),  # noqa: B008
        prefetch: bool = True,
        trace: Trace | None = None,
    ) -> None:
        """model: on the mesh's device; its parameters stay the same objects, with rank 0's values,
        and its buffers begin with rank 0's.

        mesh: as `mesh_of_groups` makes.
        strategy: one of the 14.
        optimizer: of torch, over flat parts: one that treats all entries alike, such as AdamW;
        that is tried on a few numbers.
        options: of a parameter, by its name: what its optimizer group has of its own, as no
        weight_decay; the optimizer is then given groups. Equal options make one group.
        max_norm: gradients are clipped by their global norm; None: they are not.
        units: modules that are gathered one by one; None: the entries of the longest list.
        prefetch: whether collectives run beside the passes, in a thread; on a CPU alone.
        trace: where to record what is done, and when.
        Raises SpecError for what cannot be split so.
        """
        self.strategy = effective_of(str(strategy))
        self.model, self.max_norm = model, max_norm
        self.groups, self.trace = Groups(mesh), trace or Trace(is_on=False)
        self.collectives = Collectives(self.groups, collectives, trace=self.trace)
        self._options = options or (lambda name, param: {})
        refuse_wrapped(model)
        share_buffers(model, self.groups.device_type)
        self._wrap(parts_of(model, units), precision, prefetch=prefetch)
        self._is_stepping = False
        self.optimizer = self._made(optimizer, in_groups=options is not None)

    def _made(self, optimizer: Callable[[list[Any]], Optimizer], *, in_groups: bool) -> Optimizer:
        """Return the optimizer over this rank's parts. Raises SpecError for one that cannot be."""
        refuse_uneven(optimizer, self.trained[0].master.detach())
        made = optimizer(self._grouped() if in_groups else self._masters())
        refuse_left_out(made, self._masters())
        made.register_step_pre_hook(self._check_step)
        return made

    def _wrap(self, parts: Sequence[Part], precision: Precision, *, prefetch: bool) -> None:
        """Split parameters, and have the model's passes gather them. Raises SpecError."""
        self._check_devices()
        self._never_finite = not_finite(self.model)
        self._is_trained = {
            id(param): param.requires_grad for part in parts for param in part.params.values()
        }
        self.units = [self._unit_of(part, precision) for part in parts]
        sends = self.strategy.params != "N" or any(reduce_per_micro_batch(self.strategy.grads))
        # A stream of its own would be needed beside a GPU's: there one waits for the other.
        beside = prefetch and sends and self.groups.device_type == "cpu"
        lane = Lane(is_beside=beside)
        self.passes = Passes(self.model, self.units, lane, precision.param_dtype, self.trace)
        self.trained = [flat for unit in self.units for flat in unit.trained]
        join_grads(self.trained)
        if not self.trained:
            raise SpecError("a model without a parameter to train: set requires_grad before")
        guard(
            self.model,
            is_split=self.strategy.params != "N",
            has_copies=any(flat.published is not None for flat in self.trained),
        )

    def _unit_of(self, part: Part, precision: Precision) -> Unit:
        alike: dict[Any, dict[str, nn.Parameter]] = {}
        options: dict[Any, dict[str, Any]] = {}
        for name, param in part.params.items():
            own = dict(self._options(name, param)) if param.requires_grad else {}
            kind = (param.dtype, param.requires_grad, repr(sorted(own.items())))
            alike.setdefault(kind, {})[name] = param
            options[kind] = own
        flats = [
            FlatState(
                params,
                unit=part.name,
                strategy=self.strategy,
                collectives=self.collectives,
                precision=precision,
                options=options[kind],
            )
            for kind, params in alike.items()
        ]
        return Unit(part.name, part.module, flats)

    def _masters(self) -> list[nn.Parameter]:
        return [flat.master for flat in self.trained]

    def _grouped(self) -> list[dict[str, Any]]:
        """Return the optimizer's groups: one per set of options, in the order of units."""
        groups: dict[str, dict[str, Any]] = {}
        for flat in self.trained:
            key = repr(sorted(flat.options.items()))
            groups.setdefault(key, {"params": [], **flat.options})["params"].append(flat.master)
        return list(groups.values())

    def _check_devices(self) -> None:
        for name, param in self.model.named_parameters():
            if param.device.type != self.groups.device_type:
                raise SpecError(
                    f"parameter {name} is on {param.device}, the mesh on"
                    f" {self.groups.device_type}: move the model there first"
                )

    def _check_params(self) -> None:
        for name, param in self.model.named_parameters():
            if id(param) not in self._is_trained:
                raise SpecError(
                    f"parameter {name} was added after the model was wrapped, and no rank would"
                    " hear of its gradient: add it before"
                )
            if param.requires_grad != self._is_trained[id(param)]:
                raise SpecError(
                    f"requires_grad of {name} was changed after the model was wrapped, and the"
                    " optimizer goes on as before: set it before"
                )
            if param.grad is not None:
                raise SpecError(
                    f"parameter {name} has a gradient from outside its unit's forward pass, which"
                    " was not reduced: use parameters in their own module, or name a larger unit,"
                    " and wrap the model in nothing else"
                )

    def _check_step(self, *_: Any) -> None:
        if not self._is_stepping:
            raise SpecError(
                "the engine's optimizer was stepped by itself, and has no gradients: call"
                " engine.step()"
            )

    def backward(self, loss: Tensor) -> None:
        """Run a backward pass; the same as loss.backward()."""
        loss.backward()  # type: ignore[no-untyped-call]

    @torch.no_grad()
    def step(self) -> float:
        """Reduce and clip gradients, step the optimizer, and bring parameters to all who keep them.

        Returns the norm of the gradient before it was clipped. Raises RunError, on every rank and
        before anything is changed, if a gradient is not finite; gradients are then forgotten, so
        that who catches it goes on with the next batch. Buffers are as the passes left them: the
        error names those that are not finite any more.
        """
        self._check_params()
        if not self.passes.num_backward:
            raise SpecError("a step without a backward pass: call backward first")
        self.passes.settle()
        try:
            sync_grads(self.trained)
            norm = self._norm()
            start_s = self.trace.now()
            # torch's rule, its 1e-6 with it.
            if self.max_norm is not None and (factor := self.max_norm / (norm + 1e-6)) < 1.0:
                torch._foreach_mul_(self._grads(), factor)
            self._is_stepping = True
            self.optimizer.step()
            self.trace.did("optimizer", start_s)
        finally:
            self._is_stepping = False
            self.forget()
        sync_params(self.trained)
        return norm

    def forget(self) -> None:
        """Drop all gradients since the last step, also those of a backward pass that failed."""
        self.passes.settle()
        self.passes.num_backward = 0
        for flat in self.trained:
            flat.take_grads()
            flat.clear()

    def _grads(self) -> list[Tensor]:
        return [flat.master.grad for flat in self.trained if flat.master.grad is not None]

    def _norm(self) -> float:
        """Return the norm of the whole gradient, each entry counted once. Raises RunError."""
        norms = [
            torch.linalg.vector_norm(grad, dtype=torch.promote_types(grad.dtype, torch.float32))
            for grad in self._grads()
        ]
        squares = torch.stack([norm.double() for norm in norms]).square()
        if scope := SHARED_BY.get(self.strategy.states):
            dist.all_reduce(squares, group=self.groups.peers(scope).group)
        if not squares.isfinite().all():
            names = [unit.name for unit in self.units for _ in unit.trained]
            bad = [n for n, square in zip(names, squares.tolist(), strict=True)
                   if not square < float("inf")]  # fmt: skip
            spoilt = ", ".join(sorted(not_finite(self.model) - self._never_finite))
            but = (
                f" but this rank's {spoilt}, not finite either: load a checkpoint" if spoilt else ""
            )
            raise RunError(
                f"the gradient of {', '.join(dict.fromkeys(bad))} is not finite: nothing was"
                f" changed{but}; look at this batch's loss, or lower the learning rate"
            )
        return float(squares.sum().sqrt())

    def state_dict(self) -> dict[str, Tensor]:
        """Return parameters by name, whole, on every rank; trained ones as the optimizer has them.

        A parameter of two names is there by both. All ranks must call it. Buffers, which are each
        rank's own, are rank 0's.
        """
        self.passes.settle()
        found: dict[str, Tensor] = {}
        for unit in self.units:
            for flat in unit.flats:
                part, split = (
                    (flat.master.detach(), self.strategy.states)
                    if flat.is_trained
                    else (flat.own, self.strategy.params)
                )
                found |= zip(flat.params, flat.views(flat.gathered(part, split)), strict=True)
        for name, first in tied_names(self.model).items():
            found[name] = found[first]
        for name, buffer in buffers_of(self.model).items():
            found[name] = buffer.detach().clone()
            dist.broadcast(found[name], src=0)
        return found


def tied_names(model: nn.Module) -> dict[str, str]:
    """Return further names of parameters that have several, and the first one of each."""
    firsts = {id(param): name for name, param in model.named_parameters()}
    every = model.named_parameters(remove_duplicate=False)
    return {name: firsts[id(param)] for name, param in every if firsts[id(param)] != name}


def buffers_of(model: nn.Module) -> dict[str, Tensor]:
    """Return the buffers that a state dict has, by name."""
    return {
        f"{path}.{name}".lstrip("."): buffer
        for path, module in model.named_modules()
        for name, buffer in module.named_buffers(recurse=False)
        if name not in module._non_persistent_buffers_set
    }


@torch.no_grad()
def share_buffers(model: nn.Module, device_type: str) -> None:
    """Give every rank rank 0's buffers, also those that no state dict has. All ranks call it."""
    for buffer in model.buffers():
        whole = buffer.to(device_type, copy=True).contiguous()
        # As bytes: not every backend sends every type.
        dist.broadcast(whole.view(-1).view(torch.uint8), src=0)
        # One of which several entries share memory takes no writing, and is a constant.
        if not torch.equal(whole, buffer.to(device_type)):
            buffer.copy_(whole)


def not_finite(model: nn.Module) -> set[str]:
    """Return the names of buffers that hold a number that is not finite, as masks do."""
    floating = {name: b for name, b in model.named_buffers() if b.is_floating_point()}
    # As float64: not every type of 8 bits can be asked.
    return {name for name, buffer in floating.items() if not buffer.double().isfinite().all()}
