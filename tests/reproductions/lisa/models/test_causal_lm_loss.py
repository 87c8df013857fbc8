"""A causal model's loss from its features and head, beside the one that it computes itself.

There is no GPU here: `choose` is told to answer as on one, and what the kernel would be given goes
to its plain torch. `tests/reproductions/test_dispatch.py` has Triton's.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from harness.choices import noted
from reproductions.kernels import backend as backends
from reproductions.kernels.linear_cross_entropy import plain
from reproductions.lisa.method.methods import Lora
from reproductions.lisa.models import training as losses
from reproductions.lisa.models.shapes import Shape
from reproductions.lisa.models.training import causal_lm_loss, own_loss

FAMILIES = ("gpt2", "llama", "mistral")


def net(family: Any, dtype: torch.dtype = torch.float32) -> PreTrainedModel:
    from transformers import AutoModelForCausalLM

    shape = Shape(
        family=family, hidden=16, ffn=64, num_blocks=2, heads=2, kv_heads=2, vocab=67, positions=12
    )
    torch.manual_seed(1)
    model: PreTrainedModel = AutoModelForCausalLM.from_config(shape.config())
    return model.to(dtype)


def inputs() -> dict[str, Tensor]:
    """Two sequences, one that ends with padding; some positions have no target."""
    generator = torch.Generator().manual_seed(2)
    ids_BT = torch.randint(67, (2, 12), generator=generator)
    labels_BT, mask_BT = ids_BT.clone(), torch.ones_like(ids_BT)
    labels_BT[0, :5], labels_BT[1, 8:], mask_BT[1, 8:] = -100, -100, 0
    return {"input_ids": ids_BT, "labels": labels_BT, "attention_mask": mask_BT}


@pytest.fixture
def on_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (losses, backends):
        monkeypatch.setattr(module, "choose", lambda device: "triton")


def lora(embeddings: bool) -> Callable[[nn.Module], nn.Module]:
    method = Lora(rank=2, alpha=4.0, dropout=0.0, embeddings=embeddings)
    return lambda model: method.prepare(model, torch.optim.SGD).model


def compare(model: nn.Module, by: str) -> None:
    given = inputs()
    found = []
    for loss_of in (own_loss, causal_lm_loss):
        model.zero_grad(set_to_none=True)
        with noted() as choices:
            loss = loss_of(model, **given)
        loss.backward()
        grads = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
        found.append((loss.detach(), grads))
    assert choices == {"kernels/linear_cross_entropy": by}
    (loss, grads), (theirs, wanted) = found[1], found[0]
    torch.testing.assert_close(loss, theirs, rtol=1e-5, atol=0.0)
    assert grads.keys() == wanted.keys() and grads
    for name, grad in grads.items():
        torch.testing.assert_close(grad, wanted[name], rtol=1e-3, atol=1e-6, msg=name)


@pytest.mark.usefixtures("on_a_gpu")
@pytest.mark.parametrize("family", FAMILIES)
def test_a_model_learns_the_same_from_what_the_kernel_is_given(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(losses, "chosen", lambda kernel, device: plain_said(kernel))
    compare(net(family), "plain torch")


@pytest.mark.usefixtures("on_a_gpu")
def test_so_do_adapters(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(losses, "chosen", lambda kernel, device: plain_said(kernel))
    compare(lora(embeddings=False)(net("llama")), "plain torch")


def plain_said(kernel: str) -> Any:
    backends.chose(f"kernels/{kernel}", "plain torch")
    return SimpleNamespace(linear_cross_entropy=plain.linear_cross_entropy)


@pytest.mark.usefixtures("on_a_gpu")
@pytest.mark.parametrize(
    ("changed", "why"),
    [(lora(embeddings=True), "a head with adapters"), (nn.Module.double, "float64")],
    ids=["adapter", "float64"],
)
def test_what_no_kernel_takes_is_the_models_own_and_said(
    changed: Callable[[nn.Module], nn.Module], why: str
) -> None:
    compare(changed(net("llama")), f"the model's own loss ({why})")


@pytest.mark.usefixtures("on_a_gpu")
def test_of_few_targets_all_logits_are_smaller() -> None:
    """The model has 16 features, and 11 of 12 positions have a target."""
    model, given = net("llama"), {name: value[:1] for name, value in inputs().items()}
    with noted() as choices:
        causal_lm_loss(model, **given)
    assert "fewer rows than features" in choices["kernels/linear_cross_entropy"]


def test_on_a_cpu_it_is_the_models_own_bit_for_bit() -> None:
    model, given = net("llama"), inputs()
    with noted() as choices:
        assert torch.equal(causal_lm_loss(model, **given), own_loss(model, **given))
    assert choices == {}
