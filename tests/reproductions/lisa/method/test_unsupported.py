"""Models and set-ups that LISA does not work with are refused in a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, fully_shard
from torch.distributed.tensor import distribute_tensor
from transformers.integrations import deepspeed

from harness.errors import EnvError, RunError, SpecError
from reproductions.lisa import Lisa
from tests.reproductions.lisa.small import adamw, batches, llama, train


class Told:
    """What a TrainingArguments with a DeepSpeed configuration leaves for all of transformers."""

    def __init__(self) -> None:
        self.config = {"zero_optimization": {"stage": 2}}


def attached(model: Any, **settings: str) -> None:
    Lisa(model, gamma=1, period=1, seed=0, **settings).attach(adamw(model))


def test_deepspeed_is_known_by_each_way_in(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setenv("ACCELERATE_USE_DEEPSPEED", "true")
        with pytest.raises(EnvError, match="DeepSpeed"):
            attached(llama())
    # As the arguments of a Trainer leave it.
    told = Told()
    deepspeed.set_hf_deepspeed_config(told)
    with pytest.raises(EnvError, match="DeepSpeed"):
        attached(llama())
    deepspeed.unset_hf_deepspeed_config()
    engine = type("Engine", (nn.Sequential,), {"__module__": "deepspeed.runtime.engine"})(llama())
    with pytest.raises(EnvError, match="DeepSpeed"):
        attached(engine, blocks="0.model.layers")
    sharded = llama()
    sharded.model.norm.weight.ds_id = 0
    with pytest.raises(EnvError, match="DeepSpeed"):
        attached(sharded)


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
    by_tensors = llama()
    weight = distribute_tensor(by_tensors.lm_head.weight.detach(), one_rank)
    by_tensors.lm_head.weight = nn.Parameter(weight)
    for model in (flat, views, fully_shard(llama(), mesh=one_rank), by_tensors):
        with pytest.raises(EnvError, match="sharded parameters"):
            Lisa(model, gamma=1, period=1, seed=0)
    late = llama()
    lisa = Lisa(late, gamma=1, period=1, seed=0)
    fully_shard(late, mesh=one_rank)
    with pytest.raises(EnvError, match="sharded parameters"):
        lisa.attach(adamw(late))


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
