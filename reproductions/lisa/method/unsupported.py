"""Set-ups under which LISA would silently save no memory, or train ranks apart."""

from __future__ import annotations

import os
import sys

import torch
from torch import nn
from torch.optim import Optimizer

from harness.errors import EnvError, SpecError


def refuse_deepspeed(model: nn.Module, optimizer: Optimizer) -> None:
    """Raise EnvError under DeepSpeed, whose flat partitions are of what trained at the start."""
    if _deepspeed_is_on(model, optimizer):
        raise EnvError(
            "LISA does not work under DeepSpeed: its ZeRO partitions do not follow which blocks"
            " train, so that no memory would be saved; train on one GPU, or with DDP"
        )


def refuse_model(model: nn.Module) -> None:
    """Raise EnvError for a sharded model, and SpecError for one with adapters of peft.

    FSDP's tensors and DTensors do not follow requires_grad when it changes. Adapters freeze all
    weights, embeddings and head too, so that LISA would sample adapters and keep nothing on; and
    peft sets requires_grad again wherever adapters are switched.
    """
    by_fsdp = any(_is_of(module, "torch.distributed.fsdp") for module in model.modules())
    if by_fsdp or any(hasattr(parameter, "placements") for parameter in model.parameters()):
        raise EnvError(
            "LISA does not work on sharded parameters (FSDP, tensor parallelism): train on one"
            " GPU, or with DDP"
        )
    for name, module in model.named_modules():
        if _is_of(module, "peft"):
            raise SpecError(
                f"{name or type(module).__name__} is peft's: LISA trains the weights themselves,"
                " which adapters freeze; hand it the model without adapters, such as"
                " model.merge_and_unload().requires_grad_(True)"
            )


def refuse_silent_ranks(model: nn.Module) -> None:
    """Raise EnvError where several ranks train copies whose gradients nobody adds up.

    DDP listens to the parameters that trained when it was made: it must be made first, of a model
    of which nothing is frozen, with find_unused_parameters, and be what is handed to LISA.
    """
    if not _several_ranks():
        return
    wrapped = isinstance(model, nn.parallel.DistributedDataParallel)
    if not (wrapped and model.find_unused_parameters):
        raise EnvError(
            "several ranks: in a loop of your own, wrap the model in DistributedDataParallel with"
            " find_unused_parameters=True and hand that to Lisa, before anything is frozen; Trainer"
            " wraps too late for that, run it on one GPU"
        )


def refuse_ranks_apart(told: object) -> None:
    """Raise SpecError where ranks do not say the same, such as the blocks they have drawn."""
    if not _several_ranks():
        return
    everyone: list[object] = [None] * torch.distributed.get_world_size()
    torch.distributed.all_gather_object(everyone, told)
    if any(other != everyone[0] for other in everyone):
        raise SpecError("ranks have other settings or seeds of LISA: give all of them the same")


def _is_of(module: nn.Module, package: str) -> bool:
    """Say whether a package has made a module's class, or one that it inherits from."""
    return any(f"{kind.__module__}.".startswith(f"{package}.") for kind in type(module).__mro__)


def _several_ranks() -> bool:
    distributed = torch.distributed
    running = distributed.is_available() and distributed.is_initialized()
    return running and distributed.get_world_size() > 1


def _deepspeed_is_on(model: nn.Module, optimizer: Optimizer) -> bool:
    # Each of them is set by another way in: the launcher, TrainingArguments, the engine.
    if os.environ.get("ACCELERATE_USE_DEEPSPEED", "false").lower() == "true":
        return True
    integration = sys.modules.get("transformers.integrations.deepspeed")
    if integration is not None and integration.deepspeed_config() is not None:
        return True
    modules = (type(model).__module__, type(optimizer).__module__)
    flat = any(hasattr(parameter, "ds_id") for parameter in model.parameters())
    return flat or any(module.partition(".")[0] == "deepspeed" for module in modules)
