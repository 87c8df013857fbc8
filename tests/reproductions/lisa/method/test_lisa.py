"""LISA against full training and hand-written freezing."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import pytest
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

from harness.errors import RunError, SpecError
from reproductions.lisa import Lisa, RandomSampler, StatePolicy, find_blocks
from reproductions.lisa.method.lisa import PATIENCE
from tests.reproductions.lisa.small import (
    NUM_BLOCKS,
    VOCAB,
    adamw,
    assert_same,
    batches,
    copy_of,
    gpt2,
    llama,
    moment_bytes,
    train,
    trainable,
)

POLICIES: tuple[StatePolicy, ...] = get_args(StatePolicy)


@pytest.mark.parametrize("policy", ["drop_refrozen", "keep_all"])
@pytest.mark.parametrize("make", [llama, gpt2])
def test_all_blocks_are_full_training_to_the_bit(make: Any, policy: StatePolicy) -> None:
    ours, plain = make(), make()
    count = len(find_blocks(ours))
    lisa = Lisa(ours, gamma=count, period=3, seed=0, policy=policy)
    train(ours, lisa.attach(adamw(ours)), batches(10))
    train(plain, adamw(plain), batches(10))
    assert_same(ours, plain)
    assert lisa.num_samplings == 4


def test_no_blocks_leave_all_of_them_untouched_and_train_the_rest() -> None:
    model = llama()
    before = copy_of(model)
    train(model, Lisa(model, gamma=0, period=2, seed=0).attach(adamw(model)), batches(5))
    for name, value in model.named_parameters():
        assert torch.equal(value, before[name]) == ("layers" in name), name


@pytest.mark.parametrize("policy", POLICIES)
def test_sampled_blocks_change_and_all_others_keep_their_bits(policy: StatePolicy) -> None:
    model = llama(num_blocks=8)
    before = copy_of(model)
    lisa = Lisa(model, gamma=2, period=2, seed=1, policy=policy)
    # Full decay and momentum: whatever moved a frozen weight would show.
    optimizer = lisa.attach(torch.optim.AdamW(model.parameters(), lr=1e-2, weight_decay=0.5))
    train(model, optimizer, batches(5))
    assert lisa.num_samplings == 3
    assert 2 < len(lisa.visited) < 8
    for name, value in model.named_parameters():
        block = int(name.split(".")[2]) if "layers" in name else None
        changed = block is None or block in lisa.visited
        assert torch.equal(value, before[name]) != changed, name


def by_hand(policy: StatePolicy, *, gamma: int, period: int, steps: int) -> nn.Module:
    """Train as the paper's Algorithm 1, with one optimizer for every tensor."""
    model = llama()
    sampler = RandomSampler(NUM_BLOCKS, gamma=gamma, seed=3, kind="exact")
    tensors = dict(model.named_parameters())
    optimizers: dict[str, torch.optim.Optimizer] = {}
    active: tuple[int, ...] = ()
    for step, ids in enumerate(batches(steps)):
        if step % period == 0:
            active = sampler.draw()
            on = {n for n in tensors if "layers" not in n or int(n.split(".")[2]) in active}
            if policy == "reset_all":
                optimizers = {}
            if policy == "drop_refrozen":
                optimizers = {name: each for name, each in optimizers.items() if name in on}
            for name in on - optimizers.keys():
                decay = 0.1 if tensors[name].dim() > 1 else 0.0
                optimizers[name] = torch.optim.AdamW([tensors[name]], lr=1e-2, weight_decay=decay)
        gradients = torch.autograd.grad(
            model(input_ids=ids, labels=ids).loss, [tensors[name] for name in sorted(on)]
        )
        for name, gradient in zip(sorted(on), gradients, strict=True):
            tensors[name].grad = gradient
        # In the model's order, which decides the rounding of the norm.
        nn.utils.clip_grad_norm_([p for n, p in tensors.items() if n in on], 1.0)
        for name in on:
            optimizers[name].step()
            tensors[name].grad = None
    return model


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_equal_one_optimizer_for_every_tensor(policy: StatePolicy) -> None:
    model = llama()
    lisa = Lisa(model, gamma=2, period=3, seed=3, policy=policy)
    train(model, lisa.attach(adamw(model)), batches(17))
    assert_same(model, by_hand(policy, gamma=2, period=3, steps=17))


def test_moments_are_those_of_what_trains_unless_all_are_kept() -> None:
    found = {}
    for policy in POLICIES:
        model = llama(num_blocks=8)
        lisa = Lisa(model, gamma=1, period=2, seed=0, policy=policy)
        optimizer = lisa.attach(adamw(model))
        train(model, optimizer, batches(15))
        found[policy] = moment_bytes(optimizer)
        if policy != "keep_all":
            assert found[policy] == 2 * 4 * trainable(model)
    assert found["keep_all"] > 2 * found["drop_refrozen"]


def test_gradients_of_refrozen_blocks_are_freed() -> None:
    model = llama()
    optimizer = Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))
    for ids in batches(6):
        # Without zero_grad: a switch must not wait for it.
        model(input_ids=ids, labels=ids).loss.backward()
        optimizer.step()
        assert all(p.grad is None for p in model.parameters() if not p.requires_grad)


def test_frozen_embeddings_stay_and_the_norm_trains() -> None:
    model = llama()
    before = copy_of(model)
    lisa = Lisa(model, gamma=2, period=2, seed=0, train_embeddings=False)
    train(model, lisa.attach(adamw(model)), batches(4))
    for name in ("model.embed_tokens.weight", "lm_head.weight"):
        assert torch.equal(model.get_parameter(name), before[name])
    assert not torch.equal(model.model.norm.weight, before["model.norm.weight"])


def test_what_the_caller_froze_stays_frozen() -> None:
    model = llama()
    for block in model.model.layers:
        block.mlp.requires_grad_(False)
    before = copy_of(model)
    train(model, Lisa(model, gamma=2, period=1, seed=0).attach(adamw(model)), batches(4))
    assert all(torch.equal(p, before[n]) for n, p in model.named_parameters() if "mlp" in n)


def test_a_scheduler_goes_on_over_switches() -> None:
    model, rates = llama(), []
    optimizer = Lisa(model, gamma=1, period=2, seed=0).attach(adamw(model))
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0 / (1 + step))

    def after() -> None:
        rates.append([group["lr"] for group in optimizer.param_groups])
        scheduler.step()

    train(model, optimizer, batches(5), after=after)
    assert rates == [pytest.approx([1e-2 / (1 + step)] * 4) for step in range(5)]


def test_detaching_trains_everything_again() -> None:
    model = llama()
    optimizer = adamw(model)
    lisa = Lisa(model, gamma=1, period=2, seed=0, train_embeddings=False)
    lisa.attach(optimizer)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 1.0)
    train(model, optimizer, batches(3), after=scheduler.step)
    lisa.detach()
    before, active = copy_of(model), lisa.active
    train(model, optimizer, batches(6), after=scheduler.step)
    assert all(not torch.equal(p, before[name]) for name, p in model.named_parameters())
    members = [id(p) for group in optimizer.param_groups for p in group["params"]]
    assert sorted(members) == sorted(id(p) for p in model.parameters())
    assert lisa.active == active


def test_steps_that_a_scaler_skips_do_not_count() -> None:
    """The scaler calls a fused optimizer also where gradients are infinite."""
    model = llama()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2, fused=True)
    lisa = Lisa(model, gamma=1, period=2, seed=0)
    lisa.attach(optimizer)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0)
    for number, ids in enumerate(batches(5)):
        loss = model(input_ids=ids, labels=ids).loss * (float("inf") if number < 3 else 1.0)
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad(set_to_none=True)
    assert lisa.step == 2


def test_a_second_lisa_on_what_a_first_has_frozen_is_refused() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=1, seed=0)
    lisa.attach(adamw(model))
    with pytest.raises(SpecError, match="detach the Lisa that froze them"):
        Lisa(model, gamma=1, period=1, seed=0)
    lisa.detach()
    Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))


@pytest.mark.parametrize(
    "wrong", [{"gamma": 5}, {"period": 0}, {"policy": "drop"}, {"sampler": "even"}]
)
def test_settings_out_of_range_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError, match=next(iter(wrong))):
        Lisa(llama(), **({"gamma": 2, "period": 3, "seed": 0} | wrong))


def test_attaching_twice_and_a_model_that_is_frozen_are_refused() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=1, seed=0)
    lisa.attach(adamw(model))
    with pytest.raises(SpecError, match="attached already"):
        lisa.attach(adamw(model))
    with pytest.raises(SpecError, match="nothing that trains"):
        Lisa(llama().requires_grad_(False), gamma=1, period=1, seed=0)
    with pytest.raises(SpecError, match="not attached"):
        Lisa(llama(), gamma=1, period=1, seed=0).detach()


def test_groups_that_something_else_replaced_are_noticed_before_a_step() -> None:
    model = llama()
    optimizer = Lisa(model, gamma=1, period=3, seed=0).attach(adamw(model))
    flat = nn.Parameter(torch.zeros(7))
    optimizer.param_groups[2]["params"] = [flat]
    flat.grad = torch.ones(7)
    with pytest.raises(RunError, match="no longer those LISA made"):
        optimizer.step()


class CutOff(nn.Module):
    """Its first layer has no input that trains, so reentrant checkpointing gives it no gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(5, 4)
        self.layers = nn.ModuleList(nn.Linear(4, 4) for _ in range(3))

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = checkpoint(self.layers[0], self.embedding(ids).detach(), use_reentrant=True)
        return (self.layers[2](self.layers[1](x)).square() + self.embedding(ids)).sum()


def step_once(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.arange(5)).backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)


def no_closure(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Train as accelerate does, and so the Trainer."""
    model(torch.arange(5)).backward()
    optimizer.step(None)
    optimizer.zero_grad()


def no_named_closure(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    model(torch.arange(5)).backward()
    optimizer.step(closure=None)
    optimizer.zero_grad()


def with_closure(model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
    """Train as Lightning does: the gradients are made inside the step."""

    def closure() -> float:
        optimizer.zero_grad()
        loss = model(torch.arange(5))
        loss.backward()
        return float(loss.detach())

    optimizer.step(closure)


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")
@pytest.mark.parametrize("step", [step_once, no_closure, no_named_closure, with_closure])
def test_one_silent_block_of_three_is_told_and_does_not_count_as_trained(
    step: Callable[[nn.Module, torch.optim.Optimizer], None],
) -> None:
    model = CutOff()
    lisa = Lisa(model, gamma=3, period=3, seed=0)
    optimizer = lisa.attach(torch.optim.AdamW(model.parameters()))
    for _ in range(PATIENCE - 1):
        step(model, optimizer)
    assert lisa.visited == {1, 2} and lisa.coverage == pytest.approx(2 / 3)
    with pytest.raises(RunError, match=r"active blocks \[0\] have no gradient"):
        step(model, optimizer)


def test_gradients_that_another_hook_clears_after_the_step_have_trained() -> None:
    model = llama()
    optimizer = adamw(model)
    optimizer.register_step_post_hook(lambda optimizer, *_: optimizer.zero_grad())
    lisa = Lisa(model, gamma=NUM_BLOCKS, period=100, seed=0)
    train(model, lisa.attach(optimizer), batches(PATIENCE))
    assert lisa.visited == set(range(NUM_BLOCKS))


def test_a_block_that_is_skipped_now_and_then_is_no_silent_one() -> None:
    """Layers dropped at random have no gradient in some steps."""
    model = llama()
    lisa = Lisa(model, gamma=NUM_BLOCKS, period=4, seed=0)
    optimizer = lisa.attach(adamw(model))
    for step, batch in enumerate(batches(3 * PATIENCE)):
        model(input_ids=batch, labels=batch).loss.backward()
        if step % PATIENCE:
            model.model.layers[2].zero_grad(set_to_none=True)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    assert lisa.visited == set(range(NUM_BLOCKS))


def test_an_optimizer_made_before_the_vocabulary_was_resized_is_refused() -> None:
    """It holds the head that the model no longer has; the new one's gradient would only grow."""
    model = llama()
    optimizer = adamw(model)
    model.resize_token_embeddings(VOCAB + 8)
    with pytest.raises(SpecError, match=r"lacks lm_head\.weight.*after the model's last change"):
        Lisa(model, gamma=1, period=1, seed=0).attach(optimizer)
    Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))


def test_an_optimizer_without_the_embeddings_is_refused_unless_they_are_frozen() -> None:
    model = llama()
    without = [p for name, p in model.named_parameters() if "embed" not in name]
    with pytest.raises(SpecError, match=r"lacks model\.embed_tokens\.weight"):
        Lisa(model, gamma=1, period=1, seed=0).attach(torch.optim.AdamW(without))
    model.model.embed_tokens.requires_grad_(False)
    Lisa(model, gamma=1, period=1, seed=0).attach(torch.optim.AdamW(without))
