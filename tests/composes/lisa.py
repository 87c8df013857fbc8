"""What LISA composes with: the drawn blocks alone change, or the set-up is refused."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from pathlib import Path
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.checkpoint import checkpoint

from reproductions.lisa import Lisa, RandomSampler, attach_to_trainer
from tests.composes.cells import Cell, refused, works
from tests.composes.language import Small, loss_of, train, train_scaled
from tests.reproductions.lisa.small import batches, copy_of, llama

GAMMA, PERIOD, STEPS, SEED = 1, 2, 4, 3
ADAMW = partial(torch.optim.AdamW, lr=1e-2)
half = partial(torch.autocast, "cpu", torch.bfloat16)
Weights = dict[str, Tensor]


def lisa_for(model: nn.Module, **settings: Any) -> Lisa:
    return Lisa(model, **({"gamma": GAMMA, "period": PERIOD, "seed": SEED} | settings))


def trained(
    model: nn.Module,
    *,
    run: nn.Module | None = None,
    make: Callable[..., Any] = ADAMW,
    within: Callable[[], Any] = nullcontext,
) -> Weights:
    """Train over a switch, assert that the drawn blocks alone changed, and return the weights.

    run: what is called in the place of the model.
    """
    before, lisa = copy_of(model), lisa_for(model)
    optimizer = lisa.attach(make(model.parameters()))
    train(model if run is None else run, optimizer, batches(STEPS), within)
    assert_drawn_alone(model, before, lisa)
    return copy_of(model)


def assert_drawn_alone(model: nn.Module, before: Weights, lisa: Lisa) -> None:
    """Assert that all that changed is what was drawn, and what lies outside the blocks."""
    assert lisa.step == STEPS and 1 < len(lisa.visited) < len(lisa.blocks)
    for name, value in model.named_parameters():
        _, in_blocks, rest = name.partition("layers.")
        drawn = not in_blocks or int(rest.split(".")[0]) in lisa.visited
        assert torch.equal(value.detach(), before[name]) != drawn, name


def assert_close(found: Weights, wanted: Weights, **tolerance: float) -> None:
    tolerance = tolerance or {"rtol": 1e-5, "atol": 1e-6}
    for name, value in wanted.items():
        torch.testing.assert_close(found[name], value, **tolerance)


def compiled() -> Cell:
    from torch._dynamo.utils import counters

    before, model = counters["stats"]["unique_graphs"], Small()
    found = trained(model, run=torch.compile(model, backend="aot_eager"))  # type: ignore[arg-type]
    assert counters["stats"]["unique_graphs"] > before
    assert_close(found, trained(Small()))
    return works("of the model that `Lisa` has; it is compiled anew for every set of blocks")


def amp() -> Cell:
    rounded, plain = trained(llama(), within=half), trained(llama())
    assert any(not torch.equal(rounded[name], plain[name]) for name in plain)
    # What differs is the gradient's rounding: Adam's steps are of one size, lr, either way.
    assert_close(rounded, plain, rtol=0.0, atol=2 * STEPS * 1e-2)
    lisa = lisa_for(model := llama())
    train_scaled(model, lisa.attach(ADAMW(model.parameters())), batches(STEPS))
    assert lisa.step == STEPS - 1
    return works("autocast; a step that a `GradScaler` skips does not count towards the period")


def ddp() -> Cell:
    model, alone = llama().double(), llama().double()
    before, lisa = copy_of(model), lisa_for(wrapped := with_unused(model))
    optimizer, rank = lisa.attach(ADAMW(model.parameters())), dist.get_rank()
    train(wrapped, optimizer, (ids[rank : rank + 1] for ids in batches(STEPS)))
    assert_drawn_alone(model, before, lisa)
    del lisa
    assert_close(copy_of(model), by_one_process(alone), rtol=0.0, atol=1e-9)

    def unwrapped() -> None:
        attached = lisa_for(net := llama())
        train(net, attached.attach(ADAMW(net.parameters())), batches(1))

    cell = works(
        "`Lisa` has the wrapped model, and DDP `find_unused_parameters=True`: the weights of one"
        " process with the whole batch"
    )
    return cell.but("Otherwise", unwrapped)


def with_unused(model: nn.Module) -> DistributedDataParallel:
    return DistributedDataParallel(model, find_unused_parameters=True)


def by_one_process(model: nn.Module) -> Weights:
    """Train on both ranks' sequences and no hook of LISA's, by the blocks that it would draw."""
    blocks = model.get_submodule("model.layers")
    optimizer = ADAMW(model.parameters())
    sampler = RandomSampler(len(list(blocks.children())), gamma=GAMMA, seed=SEED, kind="exact")
    for number, ids in enumerate(batches(STEPS)):
        if number % PERIOD == 0:
            drawn = sampler.draw()
            for place, block in enumerate(blocks.children()):
                block.requires_grad_(place in drawn)
                for parameter in () if place in drawn else block.parameters():
                    optimizer.state.pop(parameter, None)
        train(model, optimizer, [ids])
    return copy_of(model)


def fsdp2() -> Cell:
    from torch.distributed.fsdp import fully_shard

    model = llama()
    fully_shard(model)
    return refused(lambda: attached_to(model))


def attached_to(model: nn.Module, make: Callable[..., Any] = ADAMW, **settings: Any) -> Any:
    return lisa_for(model, **settings).attach(make(model.parameters()))


def peft() -> Cell:
    from peft import LoraConfig, get_peft_model

    adapted = get_peft_model(llama(), LoraConfig(r=2, target_modules=["q_proj"]))
    cell = refused(lambda: lisa_for(adapted))
    trained(adapted.merge_and_unload().requires_grad_(True))
    return cell


def accelerate() -> Cell:
    from accelerate import Accelerator

    accelerator, model = Accelerator(cpu=True), llama()
    before, lisa = copy_of(model), lisa_for(model)
    optimizer = lisa.attach(ADAMW(model.parameters()))
    prepared, stepped = accelerator.prepare(model, optimizer)
    for ids in batches(STEPS):
        accelerator.backward(loss_of(prepared, ids))
        stepped.step()
        stepped.zero_grad()
    assert_drawn_alone(model, before, lisa)
    assert_close(copy_of(model), trained(llama()))
    late = accelerator.prepare(ADAMW((net := llama()).parameters()))
    return works("attached before the optimizer is prepared").but(
        "After it", lambda: lisa_for(net).attach(late)
    )


def trainer() -> Cell:
    from transformers import Trainer, TrainingArguments

    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(
            folder, use_cpu=True, report_to=[], save_strategy="no", max_steps=STEPS,
            learning_rate=1e-2, per_device_train_batch_size=2, disable_tqdm=True,
        )  # fmt: skip
        data = [{"input_ids": row, "labels": row} for ids in batches(STEPS) for row in ids]
        made = Trainer(model=llama(), args=args, train_dataset=data)
        before, lisa = copy_of(made.model), lisa_for(made.model)
        attach_to_trainer(lisa, made)
        made.train()
        assert_drawn_alone(made.model, before, lisa)
        again = Trainer(model_init=lambda: llama(), args=args, train_dataset=data)
        other = lisa_for(again.model)
    cell = works("`attach_to_trainer(lisa, trainer)`, on one device; a checkpoint of it resumes")
    return cell.but("With `model_init`", lambda: attach_to_trainer(other, again))


def checkpointing() -> Cell:
    wanted = trained(llama().train())
    for is_reentrant in (False, True):
        model = llama().train()
        model.gradient_checkpointing_enable({"use_reentrant": is_reentrant})
        assert_close(trained(model), wanted)
    cell = works("of transformers, of either kind: the weights of a run without")
    return cell.but("Blocks that a re-entrant checkpoint cuts off", cut_off)


def cut_off() -> None:
    """Train ten steps whose blocks have no gradient, as frozen embeddings feed them."""
    model = Small()
    lisa = lisa_for(model, train_embeddings=False, period=100)
    optimizer = lisa.attach(ADAMW(model.parameters()))
    head = nn.Linear(8, 1)
    for ids in batches(10):
        hidden = model.embed(ids)
        for layer in model.layers:
            hidden = checkpoint(layer, hidden, use_reentrant=True)
        head(hidden).sum().backward()
        optimizer.step()


def fused() -> Cell:
    one_by_one = trained(llama(), make=partial(ADAMW, foreach=False))
    for way in ("fused", "foreach"):
        assert_close(trained(llama(), make=partial(ADAMW, **{way: True})), one_by_one)
    return works("AdamW, and any other of torch that keeps a state per parameter").but(
        "LBFGS", lambda: attached_to(llama(), torch.optim.LBFGS)
    )


def save_load() -> Cell:
    wanted = trained(llama())
    with tempfile.TemporaryDirectory() as folder:
        model, ids = llama(), list(batches(STEPS))
        optimizer = attached_to(model)
        train(model, optimizer, ids[:3])
        model.save_pretrained(folder)
        torch.save(optimizer.state_dict(), Path(folder) / "optimizer.pt")
        again = type(model).from_pretrained(folder)
        resumed = attached_to(again.train())
        state = torch.load(Path(folder) / "optimizer.pt")
    resumed.load_state_dict(state)
    train(again, resumed, ids[3:])
    assert all(torch.equal(value, wanted[name]) for name, value in copy_of(again).items())
    cell = works(
        "with the optimizer's `state_dict`, which holds the sampler and the blocks: a resumed run"
        " is an unbroken one, to the bit"
    )
    return cell.but("That state, by an optimizer that had a `Lisa`", lambda: detached(state))


def detached(state: dict[str, Any]) -> None:
    lisa = lisa_for(model := llama())
    optimizer = lisa.attach(ADAMW(model.parameters()))
    lisa.detach()
    optimizer.load_state_dict(state)


CELLS = {
    "compile": compiled, "amp": amp, "peft": peft, "accelerate": accelerate, "trainer": trainer,
    "checkpointing": checkpointing, "fused": fused, "save_load": save_load,
}  # fmt: skip
RANKED = {"ddp": ddp, "fsdp2": fsdp2}


def never_attached() -> None:
    lisa = lisa_for(model := llama())
    train(model, ADAMW(model.parameters()), batches(1))
    del lisa


def without_blocks() -> None:
    lisa_for(nn.Sequential(nn.Linear(2, 2), nn.Tanh()))


def built_late() -> None:
    lisa = lisa_for(model := llama())
    lisa.attach(ADAMW(model.get_submodule("model.layers.0").parameters()))


def scheduled_before() -> None:
    lisa = lisa_for(model := llama())
    optimizer = ADAMW(model.parameters())
    torch.optim.lr_scheduler.ConstantLR(optimizer)
    lisa.attach(optimizer)


def unfrozen() -> None:
    lisa = lisa_for(model := llama())
    optimizer = lisa.attach(ADAMW(model.parameters()))
    model.requires_grad_(True)
    train(model, optimizer, batches(1))


def from_elsewhere() -> None:
    state = ADAMW(llama().parameters()).state_dict()
    attached_to(llama()).load_state_dict(state)


def other_settings() -> None:
    state = attached_to(llama()).state_dict()
    attached_to(llama(), period=PERIOD + 1).load_state_dict(state)


REFUSES = {
    "A `Lisa` that is not attached": never_attached,
    "A model in which no blocks are found": without_blocks,
    "An optimizer over a part of the model": built_late,
    "A scheduler that was there before": scheduled_before,
    "`requires_grad` set by something else": unfrozen,
    "An optimizer's checkpoint without LISA": from_elsewhere,
    "One with other settings": other_settings,
}
