"""Models and set-ups that LISA does not work with are refused in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from peft import LoraConfig, get_peft_model, inject_adapter_in_model
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import distribute_tensor
from transformers.integrations import deepspeed

from harness.errors import EnvError, RunError, SpecError
from reproductions.lisa import Lisa
from tests.reproductions.lisa.small import adamw, batches, llama, train


def test_deepspeed_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ACCELERATE_USE_DEEPSPEED", "true")
    model = llama()
    with pytest.raises(EnvError, match="DeepSpeed"):
        Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))


def test_zero_3_parameters_are_refused() -> None:
    model = llama()
    model.model.norm.weight.ds_id = 0
    with pytest.raises(EnvError, match="DeepSpeed"):
        Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))


class Told:
    """What a TrainingArguments with a DeepSpeed configuration leaves for all of transformers."""

    def __init__(self) -> None:
        self.config = {"zero_optimization": {"stage": 2}}


def test_deepspeed_is_known_by_the_arguments_of_a_trainer_and_by_its_engine() -> None:
    model, told = llama(), Told()
    deepspeed.set_hf_deepspeed_config(told)
    with pytest.raises(EnvError, match="DeepSpeed"):
        Lisa(model, gamma=1, period=1, seed=0).attach(adamw(model))
    deepspeed.unset_hf_deepspeed_config()
    engine = type("Engine", (nn.Sequential,), {"__module__": "deepspeed.runtime.engine"})(model)
    with pytest.raises(EnvError, match="DeepSpeed"):
        Lisa(engine, gamma=1, period=1, seed=0, blocks="0.model.layers").attach(adamw(engine))


@pytest.fixture
def one_rank(tmp_path: Path) -> Iterator[DeviceMesh]:
    """Be the only rank of a group, which is enough to shard by."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/meet", rank=0, world_size=1
    )
    yield init_device_mesh("cpu", (1,))
    torch.distributed.destroy_process_group()


@pytest.mark.filterwarnings("ignore:FSDP is switching to use `NO_SHARD`")
def test_sharded_models_are_refused(one_rank: DeviceMesh) -> None:
    flat = FullyShardedDataParallel(llama(), device_id=torch.device("cpu"))
    views = FullyShardedDataParallel(llama(), device_id=torch.device("cpu"), use_orig_params=True)
    for model in (flat, views, fully_shard(llama(), mesh=one_rank)):
        with pytest.raises(EnvError, match="sharded parameters"):
            Lisa(model, gamma=1, period=1, seed=0)
    late = llama()
    lisa = Lisa(late, gamma=1, period=1, seed=0)
    fully_shard(late, mesh=one_rank)
    with pytest.raises(EnvError, match="sharded parameters"):
        lisa.attach(adamw(late))


def test_parameters_that_tensor_parallelism_shards_are_refused(one_rank: DeviceMesh) -> None:
    model = llama()
    weight = distribute_tensor(model.lm_head.weight.detach(), one_rank)
    model.lm_head.weight = nn.Parameter(weight)
    with pytest.raises(EnvError, match="sharded parameters"):
        Lisa(model, gamma=1, period=1, seed=0)


def test_optimizers_whose_groups_cannot_be_split_are_refused() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=1, seed=0)
    with pytest.raises(SpecError, match="LBFGS has one group"):
        lisa.attach(torch.optim.LBFGS(model.parameters()))
    with pytest.raises(SpecError, match=r"not from named_parameters\(\)"):
        lisa.attach(torch.optim.AdamW(model.named_parameters()))


LORA = LoraConfig(r=2, target_modules=["q_proj", "v_proj"])


def test_a_model_with_adapters_is_refused_and_the_way_out_leads_out() -> None:
    wrapped = get_peft_model(llama(), LORA)
    with pytest.raises(SpecError, match=r"PeftModel is peft's.*merge_and_unload"):
        Lisa(wrapped, gamma=1, period=1, seed=0)
    with pytest.raises(SpecError, match="is peft's"):
        Lisa(inject_adapter_in_model(LORA, llama()), gamma=1, period=1, seed=0)
    merged = wrapped.merge_and_unload().requires_grad_(True)
    lisa = Lisa(merged, gamma=1, period=1, seed=0)
    train(merged, lisa.attach(adamw(merged)), batches(2))
    assert lisa.step == 2


def test_adapters_that_come_after_the_lisa_are_refused_where_it_is_attached() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=1, seed=0)
    get_peft_model(model, LORA)
    with pytest.raises(SpecError, match="is peft's"):
        lisa.attach(adamw(model))


def test_a_model_of_which_nothing_would_always_train_is_refused() -> None:
    model = llama().requires_grad_(False)
    model.model.layers.requires_grad_(True)
    with pytest.raises(SpecError, match=r"outside of 'model.layers' is frozen.*train_embeddings"):
        Lisa(model, gamma=1, period=1, seed=0)
    lisa = Lisa(model, gamma=1, period=1, seed=0, train_embeddings=False)
    train(model, lisa.attach(adamw(model)), batches(2))
    assert lisa.step == 2


def test_blocks_that_something_else_unfreezes_or_freezes_are_noticed_before_a_step() -> None:
    """Under keep_all they would train, under the others their gradients take memory."""
    model = llama()
    lisa = Lisa(model, gamma=1, period=9, seed=0, train_embeddings=False)
    optimizer = lisa.attach(adamw(model))
    (active,), idle = lisa.active, [block for block in range(4) if block not in lisa.active]
    model.model.layers[idle[0]].requires_grad_(True)
    with pytest.raises(RunError, match=f"block {idle[0]} should be frozen now"):
        train(model, optimizer, batches(1))
    model.model.layers[idle[0]].requires_grad_(False)
    model.model.layers[active].mlp.requires_grad_(False)
    with pytest.raises(RunError, match=f"block {active} should train now"):
        train(model, optimizer, batches(1))
    model.model.layers[active].requires_grad_(True)
    model.lm_head.requires_grad_(True)
    with pytest.raises(RunError, match="the embedding or head should be frozen now"):
        train(model, optimizer, batches(1))
