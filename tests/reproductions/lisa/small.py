"""Small language models and a training loop for LISA's tests."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import Tensor, nn
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM

from harness.measure.memory import optimizer_tensors

NUM_BLOCKS, VOCAB = 4, 48


def llama(*, seed: int = 0, num_blocks: int = NUM_BLOCKS) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=VOCAB, hidden_size=16, intermediate_size=24, num_hidden_layers=num_blocks,
        num_attention_heads=2, num_key_value_heads=1, max_position_embeddings=32,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        return LlamaForCausalLM(config)


def gpt2() -> GPT2LMHeadModel:
    config = GPT2Config(vocab_size=VOCAB, n_embd=16, n_layer=3, n_head=2, n_positions=32,
                        resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0)  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return GPT2LMHeadModel(config)


def batches(count: int, *, seed: int = 1) -> Iterator[Tensor]:
    """Yield `count` batches of token ids, shape (2, 9)."""
    generator = torch.Generator().manual_seed(seed)
    for _ in range(count):
        yield torch.randint(VOCAB, (2, 9), generator=generator)


def train(
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    ids: Iterator[Tensor],
    *,
    after: Callable[[], Any] = lambda: None,
) -> None:
    """Take one step per batch; gradients are clipped, as fine-tuning does."""
    for batch in ids:
        model(input_ids=batch, labels=batch).loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        after()


def adamw(model: nn.Module) -> torch.optim.AdamW:
    """Return AdamW with decay on matrices alone, as trainers group parameters."""
    matrices = [p for p in model.parameters() if p.dim() > 1]
    vectors = [p for p in model.parameters() if p.dim() == 1]
    groups = [{"params": matrices, "weight_decay": 0.1}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=1e-2)


def assert_resumes(
    prepare: Callable[[nn.Module], torch.optim.Optimizer], *, steps: int, stop: int
) -> None:
    """Assert that a run that is stored and loaded by another model ends as one that goes on.

    prepare: from a model to its optimizer.
    """
    whole, first, second = llama(), llama(), llama(seed=9)
    train(whole, prepare(whole), batches(steps))
    ids, optimizer = batches(steps), prepare(first)
    train(first, optimizer, (next(ids) for _ in range(stop)))
    stored = io.BytesIO()
    torch.save({"model": first.state_dict(), "optimizer": optimizer.state_dict()}, stored)
    stored.seek(0)
    # Only tensors and plain values: nothing has to be trusted.
    checkpoint = torch.load(stored, weights_only=True)
    optimizer = prepare(second)
    second.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    train(second, optimizer, ids)
    assert_same(second, whole)


def copy_of(model: nn.Module) -> dict[str, Tensor]:
    return {name: value.detach().clone() for name, value in model.named_parameters()}


def assert_same(model: nn.Module, other: nn.Module) -> None:
    """Assert that two models of one shape hold the same bits."""
    for (name, ours), theirs in zip(model.named_parameters(), other.parameters(), strict=True):
        assert torch.equal(ours, theirs), f"{name}: off by {(ours - theirs).abs().max():.3g}"


def trainable(model: nn.Module) -> int:
    """Return how many parameters train now."""
    return sum(p.numel() for p in model.parameters() if p.requires_grad)


def moment_bytes(optimizer: torch.optim.Optimizer) -> int:
    """Return the bytes of what an optimizer holds, but for counters."""
    return sum(t.numel() * t.element_size() for t in optimizer_tensors(optimizer) if t.dim())
