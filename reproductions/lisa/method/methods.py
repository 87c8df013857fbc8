"""The ways to fine-tune that are compared, on one footing: what trains, and with which optimizer.

`full` trains everything, `lora` adapters of low rank (peft's), `lisa` some blocks at a time.
Beside these, GaLore, which trains everything with moments of low rank, and BAdam, which trains one
block at a time and nothing outside of the blocks.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from torch import nn
from torch.optim import AdamW, Optimizer

from harness.errors import SpecError
from reproductions.kernels.adamw.optimizer import KernelAdamW
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.method.galore import (
    RANK,
    SCALE,
    UPDATE_GAP,
    GaloreAdamW,
    MakeBasis,
    projector,
)
from reproductions.lisa.method.lisa import Lisa, StatePolicy, refuse_lisa_state
from reproductions.lisa.method.sampling import CyclicSampler, Sampler, SamplerKind

MakeOptimizer = Callable[[Iterable[nn.Parameter]], Optimizer]


@dataclass(frozen=True, kw_only=True, slots=True)
class Prepared:
    """A model that is ready to train by a method."""

    model: nn.Module
    """To be called as the one handed in."""
    optimizer: Optimizer

    @property
    def num_trainable(self) -> int:
        """Parameters that train now, tied ones once."""
        return sum(p.numel() for p in self.model.parameters() if p.requires_grad)


class Method(Protocol):
    """A way to fine-tune."""

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Freeze, adapt, and give the optimizer what trains; the model handed in is changed."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Full:
    """All parameters."""

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Hand all parameters to the optimizer."""
        return _without_lisa(model, make_optimizer(model.parameters()))


@dataclass(frozen=True, kw_only=True, slots=True)
class Lora:
    """Adapters of low rank beside all linear layers. Source: arXiv 2106.09685, by peft."""

    rank: int
    alpha: float
    """Adapters are scaled by alpha / rank."""
    dropout: float
    """Share of an adapter's input that is dropped; each dropped input is one more saved tensor."""
    embeddings: bool
    """Adapters of token embedding and head too, as in the authors' memory script."""
    outside: bool = False
    """Train what lies outside of the blocks too, as LISA does: embeddings, head, final norm."""

    def __post_init__(self) -> None:
        if self.rank < 1 or not self.alpha > 0.0 or not 0.0 <= self.dropout < 1.0:
            raise SpecError(f"{self}: need rank >= 1, alpha > 0 and 0 <= dropout < 1")
        if self.embeddings and self.outside:
            raise SpecError(f"{self}: embeddings are trained, or have adapters, and not both")

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Freeze the model and add adapters, in the model's own dtype."""
        from peft import LoraConfig, get_peft_model

        # Before adapters lie between the blocks and their names.
        outside = find_blocks(model).outside if self.outside else ()
        adapted = get_peft_model(
            model,
            LoraConfig(
                r=self.rank,
                lora_alpha=self.alpha,  # type: ignore[arg-type]
                lora_dropout=self.dropout,
                target_modules=_linears(model, embeddings=self.embeddings),
            ),
            # peft would keep bf16's adapters in float32, which the paper's peft did not.
            autocast_adapter_dtype=False,
            low_cpu_mem_usage=any(p.is_meta for p in model.parameters()),
        )
        for parameter in outside:
            parameter.requires_grad_(True)
        trainable = [parameter for parameter in adapted.parameters() if parameter.requires_grad]
        for adapter in trainable:
            # On the meta device peft leaves them in float32; elsewhere this changes nothing.
            adapter.data = adapter.data.to(next(model.parameters()).dtype)
        return _without_lisa(adapted, make_optimizer(trainable))


@dataclass(frozen=True, kw_only=True, slots=True)
class LisaMethod:
    """LISA."""

    gamma: int
    """Blocks that train at once."""
    period: int
    """Optimizer steps from one draw of blocks to the next, the paper's K."""
    seed: int
    sampler: SamplerKind | Sampler = "exact"
    policy: StatePolicy = "drop_refrozen"
    train_embeddings: bool = True

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Attach LISA to an optimizer of all parameters."""
        lisa = Lisa(
            model,
            gamma=self.gamma,
            period=self.period,
            seed=self.seed,
            sampler=self.sampler,
            policy=self.policy,
            train_embeddings=self.train_embeddings,
        )
        optimizer = lisa.attach(make_optimizer(model.parameters()))
        return Prepared(model=model, optimizer=optimizer)


@dataclass(frozen=True, kw_only=True, slots=True)
class Galore:
    """All parameters, with moments of low rank for the blocks' linear layers.

    Source: arXiv 2403.03507. The rank, gap and scale are transformers' where none are told.
    """

    rank: int = RANK
    update_gap: int = UPDATE_GAP
    """Optimizer steps from one decomposition of the gradient to the next."""
    scale: float = SCALE
    """Factor of projected updates, the paper's alpha."""
    basis_of: MakeBasis = projector
    """What makes a projector of a gradient."""

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Split each group of the optimizer that is handed in, and keep its options.

        Raises SpecError where that is not AdamW, whose update is projected here, or has an option
        that changes the update.
        """
        plain = make_optimizer(model.parameters())
        if type(plain) not in (AdamW, KernelAdamW):
            raise SpecError(
                f"GaLore is made for AdamW here: the optimizer is {type(plain).__name__}"
            )
        for name in ("amsgrad", "maximize"):
            if any(group.get(name) for group in plain.param_groups):
                raise SpecError(f"GaLore has no {name}: build AdamW without it")
        projection = {"rank": self.rank, "update_gap": self.update_gap, "scale": self.scale}
        matrices = {
            id(model.get_submodule(name).weight) for name in _linears(model, embeddings=False)
        }
        groups = []
        for group in plain.param_groups:
            options = {name: group[name] for name in ("lr", "betas", "eps", "weight_decay")}
            projected = [p for p in group["params"] if id(p) in matrices]
            others = [p for p in group["params"] if id(p) not in matrices]
            groups += [{"params": projected, **options, **projection}] if projected else []
            groups += [{"params": others, **options}] if others else []
        told = {name: plain.defaults[name] for name in ("lr", "betas", "eps", "weight_decay")}
        return _without_lisa(model, GaloreAdamW(groups, basis_of=self.basis_of, **told))


@dataclass(frozen=True, kw_only=True, slots=True)
class Badam:
    """One block at a time, in cycles of random order; embeddings, head and final norm are fixed.

    Source: BAdam, arXiv 2404.02827, as its package (badam 1.4) is used by default: blocks are the
    decoder's, whatever lies outside of them stays frozen, and a switch clears all moments. It keeps
    bf16 weights and a float32 copy of the active block, here all is in the model's own dtype; and
    its first period is a step short, here all have the same length.
    """

    period: int
    """Optimizer steps of a block, the paper's K."""
    seed: int
    """Seed of the order of blocks."""

    def prepare(self, model: nn.Module, make_optimizer: MakeOptimizer) -> Prepared:
        """Freeze what lies outside of the blocks, and let LISA's switches follow a cycle."""
        blocks = find_blocks(model)
        for parameter in blocks.outside:
            parameter.requires_grad_(False)
        lisa = Lisa(
            model,
            gamma=1,
            period=self.period,
            seed=self.seed,
            sampler=CyclicSampler(len(blocks), seed=self.seed),
            policy="reset_all",
            train_embeddings=False,
        )
        return Prepared(model=model, optimizer=lisa.attach(make_optimizer(model.parameters())))


def from_params(
    method: str,
    *,
    rank: int = 0,
    alpha: float = 0.0,
    dropout: float = 0.0,
    embeddings: bool = False,
    outside: bool = False,
    gamma: int = 0,
    period: int = 1,
    seed: int = 0,
    sampler: SamplerKind | Sampler = "exact",
    policy: StatePolicy = "drop_refrozen",
) -> Method:
    """Return a method by its name, from those of the numbers that mean something to it.

    Raises SpecError for an unknown one.
    """
    match method:
        case "full":
            return Full()
        case "lora":
            return Lora(
                rank=rank, alpha=alpha, dropout=dropout, embeddings=embeddings, outside=outside
            )
        case "galore":
            return Galore(rank=rank)
        case "cyclic":
            return Badam(period=period, seed=seed)
        case "lisa":
            return LisaMethod(gamma=gamma, period=period, seed=seed, sampler=sampler, policy=policy)
    raise SpecError(f"method={method!r}: need 'full', 'lora', 'galore', 'cyclic' or 'lisa'")


def _without_lisa(model: nn.Module, optimizer: Optimizer) -> Prepared:
    """Return what trains without LISA, and takes no checkpoint of it."""
    optimizer.register_load_state_dict_pre_hook(refuse_lisa_state)
    return Prepared(model=model, optimizer=optimizer)


def _linears(model: nn.Module, *, embeddings: bool) -> list[str]:
    """Return the names of all linear layers, with the token embedding and the head if asked.

    Warns of matrices that lie in none, as those of experts do that are one tensor.
    """
    from transformers.pytorch_utils import Conv1D

    head = model.get_output_embeddings()  # type: ignore[operator]
    tokens = model.get_input_embeddings()  # type: ignore[operator]
    layers = (module for module in model.modules()
              if isinstance(module, (nn.Linear, Conv1D, nn.Embedding)))  # fmt: skip
    known = {id(parameter) for layer in layers for parameter in layer.parameters()}
    left = {name: parameter.numel() for name, parameter in model.named_parameters()
            if parameter.dim() > 1 and id(parameter) not in known}  # fmt: skip
    if left:
        largest = max(left, key=lambda name: left[name])
        total = sum(parameter.numel() for parameter in model.parameters())
        warnings.warn(
            f"{sum(left.values()):,} of {total:,} weights, such as {largest}, lie in no"
            " linear layer: LoRA gives them no adapters, and GaLore no projection",
            RuntimeWarning,
            stacklevel=3,
        )
    ends = (tokens, head) if embeddings else ()
    return [
        name
        for name, module in model.named_modules()
        if module in ends or (isinstance(module, (nn.Linear, Conv1D)) and module is not head)
    ]
