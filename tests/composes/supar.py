"""What SmuPar composes with: pruned weights stay zero, and losses are those of the plain loop."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from reproductions.supar import (
    TABLE_3,
    Parameterization,
    infer_roles,
    linear_layers,
    masked_layers,
    param_groups,
    restore_masks,
    sparsify,
)
from tests.composes.cells import Cell, works
from tests.composes.language import Small, loss_of, train, train_scaled
from tests.reproductions.lisa.small import batches, gpt2, llama

DENSITY, STEPS = 1 / 4, 3
SUPAR = Parameterization(scheme="supar", width_multiplier=2.0, density=DENSITY, base=TABLE_3)
ADAMW = partial(torch.optim.AdamW, foreach=False)
half = partial(torch.autocast, "cpu", torch.bfloat16)


def hidden_of(model: nn.Module) -> list[str]:
    return linear_layers(model, exclude=["lm_head"])


def roles_of(model: nn.Module) -> Any:
    return infer_roles(model, hidden_of(model), embeddings=["lm_head"])


def sparse(model: Any) -> Any:
    """Return a language model, sparsified and drawn."""
    generator = torch.Generator().manual_seed(0)
    sparsify(model, layers=hidden_of(model), density=DENSITY, generator=generator)
    SUPAR.initialize(model, roles_of(model), generator)
    return model


def groups_of(model: nn.Module) -> Any:
    return param_groups(model, SUPAR, roles_of(model), weight_decay=0.1, decay="independent")


def losses_of(
    model: nn.Module,
    *,
    run: nn.Module | None = None,
    make: Callable[[Any], Any] = ADAMW,
    within: Callable[[], Any] = nullcontext,
    given: Sequence[Tensor] = tuple(batches(STEPS)),
) -> list[float]:
    """Train, assert that pruned weights are zero at the end, and return losses and one more.

    run: what is called in the place of the model.
    """
    called, pruned = model if run is None else run, pruned_of(model)
    losses = train(called, make(groups_of(model)), given, within)
    assert_pruned(model, pruned)
    with within(), torch.no_grad():
        return [*losses, float(loss_of(called, given[0]))]


def pruned_of(model: nn.Module) -> dict[str, Tensor]:
    """Return what is zero in each masked layer, by its values and not by what we say of it."""
    found = {name: layer.weight.detach() == 0.0 for name, layer in masked_layers(model).items()}
    assert len(found) == len(hidden_of(model))
    for name, zero in found.items():
        assert int(zero.sum()) == round((1 - DENSITY) * zero.numel()), name
    return found


def assert_pruned(model: nn.Module, pruned: dict[str, Tensor]) -> None:
    layers = masked_layers(model)
    for name, zero in pruned.items():
        weight = layers[name].weight.detach()
        assert not weight[zero].any(), name
        assert weight[~zero].all(), name


def assert_plain(found: list[float], rtol: float = 1e-5) -> None:
    wanted = losses_of(sparse(llama()))
    assert wanted[-1] < wanted[0]
    torch.testing.assert_close(found, wanted, rtol=rtol, atol=0.0)


def compiled() -> Cell:
    from torch._dynamo.utils import counters

    before, model = counters["stats"]["unique_graphs"], sparse(Small())
    found = losses_of(model, run=torch.compile(model, backend="aot_eager"))
    assert counters["stats"]["unique_graphs"] > before
    torch.testing.assert_close(found, losses_of(sparse(Small())), rtol=1e-5, atol=0.0)
    return works("compiled after `sparsify`")


def amp() -> Cell:
    # Of each of llama's 29 products, rounded to eight bits, an average cancels most.
    assert_plain(losses_of(sparse(llama()), within=half), rtol=29 * 2**-9)
    model = sparse(llama())
    pruned = pruned_of(model)
    train_scaled(model, ADAMW(groups_of(model)), batches(STEPS))
    assert_pruned(model, pruned)
    return works("autocast, and a `GradScaler`, also where it skips a step")


def peft() -> Cell:
    from peft import LoraConfig, get_peft_model

    model = sparse(llama())
    base, pruned = copy.deepcopy(model), pruned_of(model)
    adapted = get_peft_model(model, LoraConfig(r=2, target_modules=["q_proj"]))
    before = {name: value.clone() for name, value in adapted.state_dict().items()}
    ids = next(batches(1))
    assert torch.equal(loss_of(adapted, ids), loss_of(base, ids))
    optimizer = torch.optim.AdamW([p for p in adapted.parameters() if p.requires_grad], lr=1e-2)
    train(adapted, optimizer, batches(STEPS))
    moved = {name for name, value in adapted.state_dict().items()
             if not torch.equal(value, before[name])}  # fmt: skip
    assert moved
    assert all("lora" in name for name in moved)
    merged = adapted.merge_and_unload()
    with torch.no_grad():
        loss = loss_of(merged, ids)
        # Which stores zeros under masks: they were not read before either.
        merged.state_dict()
        assert_pruned(merged, pruned)
        assert torch.equal(loss_of(merged, ids), loss)
    return works("the base stays sparse; an adapter is dense, and pruned where it is merged")


def accelerate() -> Cell:
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True), sparse(llama())
    prepared = accelerator.prepare(model)
    assert_plain(losses_of(model, run=prepared, make=lambda g: accelerator.prepare(ADAMW(g))))
    return works("model and optimizer prepared after `sparsify` and `param_groups`")


def trainer() -> Cell:
    from transformers import Trainer, TrainingArguments

    row = next(batches(1))[0]
    model = sparse(llama())
    pruned, optimizer = pruned_of(model), ADAMW(groups_of(model))
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder, use_cpu=True, report_to=[], save_strategy="no", max_steps=STEPS,
            lr_scheduler_type="constant", max_grad_norm=0.0, per_device_train_batch_size=2,
            disable_tqdm=True,
        )  # fmt: skip
        rows = [{"input_ids": row, "labels": row}] * 2 * STEPS
        made = Trainer(model=model, args=args, train_dataset=rows, optimizers=(optimizer, None))
        made.train()
    assert_pruned(model, pruned)
    batch = torch.stack([row, row])
    wanted = losses_of(sparse(llama()).train(), given=[batch] * STEPS)
    with torch.no_grad():
        torch.testing.assert_close(float(loss_of(model, batch)), wanted[-1], rtol=1e-5, atol=0.0)
    return works("`optimizers=(AdamW(param_groups(...)), None)`; rates are the groups' own")


def checkpointing() -> Cell:
    for is_reentrant in (False, True):
        model = sparse(llama()).train()
        model.gradient_checkpointing_enable({"use_reentrant": is_reentrant})
        model.enable_input_require_grads()
        assert_plain(losses_of(model))
    return works("the losses of a run without")


def fused() -> Cell:
    for way in ("fused", "foreach"):
        assert_plain(losses_of(sparse(llama()), make=partial(torch.optim.AdamW, **{way: True})))
    return works("AdamW, and what else moves each entry by its rate")


def save_load() -> Cell:
    from safetensors.torch import load_file

    model = sparse(llama())
    pruned, ids = pruned_of(model), next(batches(1))
    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        again = type(model).from_pretrained(folder)
        state = load_file(Path(folder) / "model.safetensors")
    cell = works("`restore_masks(model, state)` after `from_pretrained`, which leaves masks out")
    cell = cell.but("`param_groups` without it", lambda: groups_of(again))
    restore_masks(again, state)
    assert_pruned(again, pruned)
    assert float(loss_of(again, ids)) == float(loss_of(model, ids))
    assert_plain(losses_of(again))
    return cell


def ddp() -> Cell:
    model, rank = sparse(llama().double()), dist.get_rank()
    own = [ids[rank : rank + 1] for ids in batches(STEPS)]
    losses_of(model, run=DistributedDataParallel(model), given=own)
    alone = sparse(llama().double())
    losses_of(alone)
    for one, other in zip(model.parameters(), alone.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0.0, atol=1e-9)
    return works("the weights of one process with the whole batch")


def fsdp2() -> Cell:
    from torch.distributed.fsdp import fully_shard

    model, rank = sparse(llama().double()), dist.get_rank()
    pruned, optimizer_of = pruned_of(model), ADAMW
    fully_shard(model)
    optimizer = optimizer_of(groups_of(model))
    train(model, optimizer, (ids[rank : rank + 1] for ids in batches(STEPS)))
    alone = sparse(llama().double())
    losses_of(alone)
    ends = {name: value.full_tensor() for name, value in model.state_dict().items()
            if hasattr(value, "full_tensor")}  # fmt: skip
    assert ends
    for name, value in alone.state_dict().items():
        if name in ends:
            torch.testing.assert_close(ends[name], value, rtol=0.0, atol=1e-9)
    for layer, zero in pruned.items():
        assert not ends[f"{layer}.weight"][zero].any()

    def afterwards() -> None:
        split = llama()
        fully_shard(split)
        sparse(split)

    cell = works("`sparsify` before `fully_shard`: the weights of one process with the whole batch")
    return cell.but("After it", afterwards)


CELLS = {
    "compile": compiled, "amp": amp, "peft": peft, "accelerate": accelerate, "trainer": trainer,
    "checkpointing": checkpointing, "fused": fused, "save_load": save_load,
}  # fmt: skip
RANKED = {"ddp": ddp, "fsdp2": fsdp2}


def masked(layers: Any, density: float = DENSITY, model: nn.Module | None = None) -> None:
    model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 8)) if model is None else model
    sparsify(model, layers=layers, density=density, generator=torch.Generator().manual_seed(0))


def shared() -> None:
    model = nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8))
    model[1].weight = model[0].weight
    masked(["0"], model=model)


def computed() -> None:
    model = nn.Sequential(nn.utils.parametrizations.weight_norm(nn.Linear(4, 4)))
    masked(["0"], model=model)


def pruned_twice() -> None:
    from torch.nn.utils import prune

    model = sparse(llama())
    prune.l1_unstructured(next(iter(masked_layers(model).values())), "weight", amount=0.5)


def of_another_density() -> None:
    model = sparse(llama())
    other = Parameterization(scheme="supar", width_multiplier=2.0, density=0.5, base=TABLE_3)
    param_groups(model, other, roles_of(model), weight_decay=0.1, decay="independent")


def not_linear() -> None:
    masked(["transformer.h.0.mlp.c_fc"], model=gpt2())


def of_another_optimizer() -> None:
    losses_of(sparse(llama()), make=torch.optim.SGD)


def of_unsure_role() -> None:
    infer_roles(gpt2(), [])


REFUSES = {
    "One name where several are asked for": lambda: masked("0"),
    "A density that leaves no weight": lambda: masked(["0"], density=1e-3),
    "A layer that is no `nn.Linear`": not_linear,
    "A weight of two layers": shared,
    "A weight that torch computes": computed,
    "`torch.nn.utils.prune` of a masked layer": pruned_twice,
    "`param_groups` for another density than the masks'": of_another_density,
    "An optimizer that the rates of `param_groups` do not fit": of_another_optimizer,
    "A matrix whose role is not sure": of_unsure_role,
}
