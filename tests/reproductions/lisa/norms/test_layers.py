"""Norms by layer against products formed in float64, peft's own merging, and closed forms."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from peft import LoraConfig, get_peft_model
from torch import nn

from reproductions.lisa.method.methods import Lora
from reproductions.lisa.norms.layers import (
    NormTrace,
    adapter_norm,
    drawn_norm,
    layers_of,
    merged_norm,
)
from tests.reproductions.lisa.small import NUM_BLOCKS, batches, gpt2, llama, train

RANK, ALPHA = 3, 6.0
LLAMA = {
    "embedding": "model.embed_tokens",
    **{f"block {i}": f"model.layers.{i}" for i in range(NUM_BLOCKS)},
    "head": "lm_head",
}
GPT2 = {"embedding": "transformer.wte", "positions": "transformer.wpe"} | {
    f"block {i}": f"transformer.h.{i}" for i in range(3)
}


def sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.5)


def adapted(*, steps: int) -> nn.Module:
    """A LLaMA with adapters on all linears, embedding and head, after some steps."""
    prepared = Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=True).prepare(llama(), sgd)
    train(prepared.model, prepared.optimizer, batches(steps))
    return prepared.model


def adapted_gpt2() -> Any:
    """A GPT-2 with adapters on all that Figure 2 shows, their zero factors filled."""
    targets = ["wte", "wpe", "c_attn", "c_proj", "c_fc"]
    config = LoraConfig(r=RANK, lora_alpha=int(ALPHA), target_modules=targets, fan_in_fan_out=True)
    model = get_peft_model(gpt2(), config)
    generator = torch.Generator().manual_seed(3)
    for parameter in model.parameters():
        if parameter.requires_grad:
            parameter.data.normal_(generator=generator)
    return model


def norm_of(tensors: Any) -> float:
    """Put tensors end to end, and take the norm in float64."""
    return float(torch.cat([t.detach().double().flatten() for t in tensors]).norm())


def adapters_below(model: nn.Module, path: str) -> list[Any]:
    return [
        module
        for name, module in model.named_modules()
        if f".{name}.".startswith(f".base_model.model.{path}.") and hasattr(module, "lora_A")
        and hasattr(module, "base_layer")
    ]  # fmt: skip


def test_layers_are_those_of_the_figure_and_a_tied_head_counts_where_it_has_an_adapter() -> None:
    assert list(layers_of(llama())) == list(LLAMA)
    assert list(layers_of(gpt2())) == list(GPT2)
    lora = Lora(rank=RANK, alpha=ALPHA, dropout=0.0, embeddings=True)
    with pytest.warns(UserWarning, match="tie_word_embeddings"):
        model = lora.prepare(gpt2(), sgd).model
    assert list(layers_of(model)) == [*GPT2, "head"]


@pytest.mark.parametrize(("make", "paths"), [(llama, LLAMA), (gpt2, GPT2)])
def test_without_adapters_a_layer_s_norm_is_that_of_its_parameters(make: Any, paths: Any) -> None:
    model = make()
    for name, weights in layers_of(model).items():
        whole = norm_of(model.get_submodule(paths[name]).parameters())
        assert merged_norm(weights) == pytest.approx(whole, rel=1e-12)
        assert adapter_norm(weights) is drawn_norm(weights) is None


@pytest.mark.parametrize("name", ["llama", "gpt2"])
def test_adapters_updates_and_merged_weights_are_what_peft_says(name: str) -> None:
    """peft's `get_delta_weight` forms scale * B A; it is turned as the weight is."""
    model: Any = adapted(steps=4).double() if name == "llama" else adapted_gpt2().double()
    paths, layers = LLAMA if name == "llama" else GPT2, layers_of(model)
    trace = NormTrace(model).first
    assert list(layers) == list(paths)
    for layer, weights in layers.items():
        peft_s = adapters_below(model, paths[layer])
        assert len(peft_s) == len([w for w in weights if w.adapter])
        updates = [module.get_delta_weight("default") for module in peft_s]
        assert trace[layer].change == pytest.approx(norm_of(updates), rel=1e-10)
        assert trace[layer].change > 1e-3
        factors = [p for m in peft_s for n, p in m.named_parameters() if "lora_" in n]
        assert adapter_norm(weights) == pytest.approx(norm_of(factors), rel=1e-12)
    found = {layer: merged_norm(weights) for layer, weights in layers.items()}
    merged = model.merge_and_unload()
    for layer, path in paths.items():
        whole = norm_of(merged.get_submodule(path).parameters())
        assert found[layer] == pytest.approx(whole, rel=1e-10), layer


def test_peft_draws_adapters_as_the_closed_form_says() -> None:
    """A net of a width at which the law of large numbers has set in; the mean of three draws."""
    wide = 8 * RANK
    lora = Lora(rank=wide, alpha=1.0, dropout=0.0, embeddings=True)
    found: dict[str, list[float]] = {}
    for seed in range(3):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            layers = layers_of(lora.prepare(llama(), sgd).model)
        for name, weights in layers.items():
            ratio = (adapter_norm(weights) or 0.0) / (drawn_norm(weights) or 1.0)
            found.setdefault(name, []).append(ratio)
    assert drawn_norm(layers["embedding"]) == pytest.approx(math.sqrt(16 * wide))
    assert drawn_norm(layers["block 1"]) == pytest.approx(math.sqrt(7 * wide / 3))
    assert drawn_norm(layers["head"]) == pytest.approx(math.sqrt(wide / 3))
    for name, ratios in found.items():
        assert sum(ratios) / 3 == pytest.approx(1.0, abs=0.05), name


@pytest.mark.parametrize("method", ["full", "lora"])
def test_a_trace_is_the_mean_over_steps_of_what_a_copy_shows(method: str) -> None:
    model: Any = llama().double() if method == "full" else adapted(steps=0).double()
    start = {name: p.detach().clone() for name, p in llama().double().named_parameters()}
    trace = NormTrace(model)
    optimizer = sgd([p for p in model.parameters() if p.requires_grad])
    changes: dict[str, list[float]] = {name: [] for name in LLAMA}

    def compare() -> None:
        trace.record()
        merged = model
        if method == "lora":
            merged = llama().double()
            for name, p in merged.named_parameters():
                module = model.get_submodule(f"base_model.model.{name.rpartition('.')[0]}")
                if hasattr(module, "base_layer"):
                    p.data = module.base_layer.weight + module.get_delta_weight("default")
        for layer, path in LLAMA.items():
            named = merged.get_submodule(path).named_parameters(prefix=path)
            changes[layer].append(norm_of([p - start[name] for name, p in named]))

    train(model, optimizer, batches(3), after=compare)
    for layer, norms in trace.mean().items():
        assert norms.change == pytest.approx(sum(changes[layer]) / 3, rel=1e-8)
        assert norms.change > 0.0
        assert (norms.adapter is None) == (method == "full")


def test_a_layer_in_bf16_is_summed_in_float64() -> None:
    """bf16 counts to 256: summing 2**16 ones there ends far below."""
    model: Any = adapted(steps=0).bfloat16()
    head = model.get_output_embeddings()
    head.base_layer.weight = nn.Parameter(torch.ones(256, 256, dtype=torch.bfloat16))
    assert merged_norm(layers_of(model)["head"]) == 256.0
