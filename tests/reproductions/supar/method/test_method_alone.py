"""The method without our GPT and without the harness, as a reader would use it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import nn
from torch.optim import AdamW

from harness.errors import SpecError
from reproductions.supar import (
    TABLE_3,
    Parameterization,
    Role,
    infer_roles,
    linear_layers,
    masked_layers,
    max_abs_masked,
    param_groups,
    restore_masks,
    sparsify,
)

SUPAR = Parameterization(scheme="supar", width_multiplier=2.0, density=1 / 8, base=TABLE_3)


class _Mlp(nn.Module):
    """Input, two hidden matrices, readout with its multiplier."""

    def __init__(self, logit_multiplier: float) -> None:
        super().__init__()
        self.enter = nn.Linear(4, 64)
        self.hidden = nn.ModuleList(nn.Linear(64, 64) for _ in range(2))
        self.leave = nn.Linear(64, 1)
        self.logit_multiplier = logit_multiplier

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.enter(x)
        for layer in self.hidden:
            x = x + torch.tanh(layer(x))
        return self.leave(x) * self.logit_multiplier


def test_an_mlp_learns_with_masks_and_any_adamw() -> None:
    model = _Mlp(SUPAR.logit_multiplier)
    hidden = linear_layers(model, exclude=["enter", "leave"])
    generator = torch.Generator().manual_seed(0)
    sparsify(model, layers=hidden, density=1 / 8, generator=generator)
    roles = infer_roles(model, hidden)
    SUPAR.initialize(model, roles, generator)
    groups = param_groups(model, SUPAR, roles, weight_decay=0.1, decay="independent")
    optimizer = AdamW(groups, betas=(0.9, 0.95), foreach=True)

    inputs = torch.randn(128, 4, generator=generator)
    targets = (inputs[:, :1] * inputs[:, 1:2]).sin()
    losses = []
    for _ in range(60):
        loss = (model(inputs) - targets).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < 0.3 * losses[0]
    assert max_abs_masked(model) == 0.0
    assert [int(m.weight.count_nonzero()) for m in masked_layers(model).values()] == [512, 512]


def _llama() -> Any:
    transformers = pytest.importorskip("transformers")
    config = transformers.LlamaConfig(
        vocab_size=40,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        tie_word_embeddings=True,
    )
    return transformers.LlamaForCausalLM(config)


def _train_llama(model: nn.Module, roles: dict[str, Role]) -> list[float]:
    optimizer = AdamW(param_groups(model, SUPAR, roles, weight_decay=0.1, decay="coupled"))
    tokens = torch.randint(40, (4, 12), generator=torch.Generator().manual_seed(0))
    losses = []
    for _ in range(8):
        loss = model(input_ids=tokens, labels=tokens).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def test_a_model_of_transformers_is_sparsified_in_place() -> None:
    model = _llama()
    hidden = linear_layers(model, exclude=["lm_head"])
    assert len(hidden) == 2 * 7
    generator = torch.Generator().manual_seed(0)
    sparsify(model, layers=hidden, density=1 / 8, generator=generator)
    roles = infer_roles(model, hidden)
    SUPAR.initialize(model, roles, generator)
    losses = _train_llama(model, roles)
    assert losses[-1] < losses[0]
    assert max_abs_masked(model) == 0.0
    for name, module in masked_layers(model).items():
        assert int(module.weight.count_nonzero()) == module.weight.numel() // 8, name
    assert roles["model.embed_tokens.weight"] == "embedding"
    assert roles["model.norm.weight"] == "vector"


def test_a_model_of_transformers_that_lost_its_masks_is_refused_and_gets_them_back(
    tmp_path: Path,
) -> None:
    model = _llama()
    hidden = linear_layers(model, exclude=["lm_head"])
    sparsify(model, layers=hidden, density=1 / 8, generator=torch.Generator().manual_seed(0))
    for layer in masked_layers(model).values():
        layer.weight.data[~layer.weight_mask] = 1.0
    model.save_pretrained(tmp_path)
    read = type(model).from_pretrained(tmp_path)
    assert not masked_layers(read)
    roles = infer_roles(read, hidden)
    with pytest.raises(SpecError, match="has no mask"):
        param_groups(read, SUPAR, roles, weight_decay=0.1, decay="coupled")
    restore_masks(read, load_file(tmp_path / "model.safetensors"))
    assert len(masked_layers(read)) == 2 * 7
    assert max_abs_masked(read) == 0.0
    assert _train_llama(read, roles) == _train_llama(model, roles)
    assert max_abs_masked(read) == 0.0
    read.init_weights()
    assert max_abs_masked(read) == 0.0


def test_the_rules_need_no_torch() -> None:
    code = (
        "import sys; from reproductions.supar import Parameterization, TABLE_3;"
        "Parameterization(scheme='supar', width_multiplier=4, density=0.5, base=TABLE_3)"
        ".rule('hidden'); assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
