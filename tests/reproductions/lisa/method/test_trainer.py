"""LISA inside transformers' Trainer, and on two ranks."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from accelerate import Accelerator, DistributedDataParallelKwargs
from accelerate.state import AcceleratorState
from torch import Tensor, nn
from torch.utils.data import Dataset
from transformers import Trainer, TrainingArguments

from harness.errors import DataError, EnvError, RunError, SpecError
from reproductions.lisa import Lisa, attach_to_trainer
from tests.reproductions.lisa.small import adamw, assert_same, batches, llama, train

STEPS = 8


class Sentences(Dataset[dict[str, Tensor]]):
    """As many token sequences as two batches a step need."""

    def __init__(self) -> None:
        self.ids = torch.cat(list(batches(2 * STEPS)))

    def __len__(self) -> int:
        return len(self.ids)

    def __getitem__(self, index: int) -> dict[str, Tensor]:
        return {"input_ids": self.ids[index], "labels": self.ids[index]}


def trainer_of(model: Any, folder: Path, **more: Any) -> Trainer:
    told = {"per_device_train_batch_size": 2, "max_steps": STEPS, "learning_rate": 1e-2}
    told |= {"weight_decay": 0.1, "lr_scheduler_type": "cosine", "save_steps": 3, "seed": 4}
    told |= {"report_to": [], "use_cpu": True, "disable_tqdm": True, "logging_steps": 1}
    args = TrainingArguments(output_dir=str(folder), **(told | more))
    return Trainer(model=model, args=args, train_dataset=Sentences())


def test_three_lines_in_a_trainer_train_the_drawn_blocks(tmp_path: Path) -> None:
    model = llama(num_blocks=8)
    before = {name: value.detach().clone() for name, value in model.named_parameters()}
    trainer = trainer_of(model, tmp_path)
    lisa = Lisa(model, gamma=2, period=4, seed=0)
    attach_to_trainer(lisa, trainer)
    trainer.train()
    assert lisa.step == STEPS
    trained = set()
    for name, value in model.named_parameters():
        if "layers" in name and not torch.equal(value, before[name]):
            trained.add(int(name.split(".")[2]))
    assert trained == lisa.visited
    assert 2 <= len(trained) <= 4
    rates = [entry["learning_rate"] for entry in trainer.state.log_history if "loss" in entry]
    assert rates == pytest.approx(cosine(), rel=1e-6)


def cosine() -> list[float]:
    """Return the rates of one uninterrupted schedule, as transformers logs them after a step."""
    import math

    return [1e-2 * 0.5 * (1 + math.cos(math.pi * step / STEPS)) for step in range(STEPS)]


def test_all_blocks_in_a_trainer_are_its_own_full_training(tmp_path: Path) -> None:
    ours, plain = llama(), llama()
    trainer = trainer_of(ours, tmp_path / "ours")
    attach_to_trainer(Lisa(ours, gamma=4, period=3, seed=0), trainer)
    trainer.train()
    trainer_of(plain, tmp_path / "plain").train()
    assert_same(ours, plain)


def test_a_trainer_resumes_to_the_bit(tmp_path: Path) -> None:
    settings: dict[str, Any] = {"gamma": 2, "period": 2, "seed": 6}
    whole = llama()
    trainer = trainer_of(whole, tmp_path)
    attach_to_trainer(Lisa(whole, **settings), trainer)
    trainer.train()

    resumed = llama(seed=3)
    trainer = trainer_of(resumed, tmp_path)
    lisa = Lisa(resumed, **settings)
    attach_to_trainer(lisa, trainer)
    trainer.train(resume_from_checkpoint=str(tmp_path / "checkpoint-3"))
    assert lisa.step == STEPS
    assert_same(resumed, whole)


def test_a_trainer_that_resumes_without_lisa_s_state_is_stopped(tmp_path: Path) -> None:
    """Else the first blocks would be drawn once more, in the middle of the run."""
    weights, plain = tmp_path / "weights", tmp_path / "plain"
    saving = trainer_of(llama(), weights, save_only_model=True, max_steps=3)
    attach_to_trainer(Lisa(saving.model, gamma=1, period=2, seed=0), saving)
    saving.train()
    trainer_of(llama(), plain, max_steps=3).train()
    told = [(weights, RunError, "goes on at step 3"), (plain, DataError, "made without LISA")]
    for folder, error, words in told:
        resumed = trainer_of(llama(), folder)
        attach_to_trainer(Lisa(resumed.model, gamma=1, period=2, seed=0), resumed)
        with pytest.raises(error, match=words):
            resumed.train(resume_from_checkpoint=str(folder / "checkpoint-3"))


def test_accumulated_batches_are_one_step(tmp_path: Path) -> None:
    model = llama()
    trainer = trainer_of(model, tmp_path, gradient_accumulation_steps=2)
    lisa = Lisa(model, gamma=1, period=2, seed=0)
    attach_to_trainer(lisa, trainer)
    trainer.train()
    assert (lisa.step, lisa.num_samplings) == (STEPS, STEPS // 2)


def test_a_trainer_that_would_start_anew_is_refused(tmp_path: Path) -> None:
    model = llama()
    trainer = trainer_of(model, tmp_path)
    with pytest.raises(SpecError, match="another model"):
        attach_to_trainer(Lisa(llama(), gamma=1, period=1, seed=0), trainer)
    searching = trainer_of(model, tmp_path, auto_find_batch_size=True)
    with pytest.raises(SpecError, match="auto_find_batch_size"):
        attach_to_trainer(Lisa(model, gamma=1, period=1, seed=0), searching)
    trainer.args._n_gpu = 2
    with pytest.raises(EnvError, match="several GPUs too late"):
        attach_to_trainer(Lisa(model, gamma=1, period=1, seed=0), trainer)
    anew = Trainer(model_init=lambda: llama(), args=trainer.args, train_dataset=Sentences())
    with pytest.raises(SpecError, match="model_init"):
        attach_to_trainer(Lisa(anew.model, gamma=1, period=1, seed=0), anew)


def test_an_optimizer_that_a_trainer_replaces_is_noticed(tmp_path: Path) -> None:
    trainer = trainer_of(llama(), tmp_path, max_steps=60, save_strategy="no")
    attach_to_trainer(Lisa(trainer.model, gamma=1, period=2, seed=0), trainer)
    trainer.optimizer = torch.optim.SGD(trainer.model.parameters(), lr=0.1)
    with pytest.raises(RunError, match="after 50 steps of the trainer"):
        trainer.train()


def rank(number: int, folder: str) -> None:
    """Train on one half of every batch; rank 0 stores the model, and what was refused."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2,
        timeout=timedelta(minutes=5),
    )  # fmt: skip
    refused = ""
    try:
        wrapped = nn.parallel.DistributedDataParallel(llama(), find_unused_parameters=True)
        Lisa(wrapped, gamma=1, period=2, seed=number).attach(adamw(wrapped))
    except SpecError as error:
        refused = str(error)
    for unused in (False, True):
        model = llama()
        wrapped = nn.parallel.DistributedDataParallel(model, find_unused_parameters=unused)
        optimizer = Lisa(wrapped, gamma=1, period=2, seed=0).attach(adamw(wrapped))
        try:
            train(wrapped, optimizer, (ids[number : number + 1] for ids in batches(6)))
        except EnvError as error:
            refused += str(error)
    told = {"refused": refused, "alone": model.state_dict(), "prepared": by_accelerate(number)}
    if number == 0:
        torch.save(told, f"{folder}/told.pt")
    torch.distributed.destroy_process_group()


def by_accelerate(number: int) -> dict[str, Tensor]:
    """Do the same where the model is prepared first, and the optimizer once LISA is attached."""
    unused = DistributedDataParallelKwargs(find_unused_parameters=True)
    ranks = {name: str(number) for name in ("RANK", "LOCAL_RANK")}
    ranks |= {name: "2" for name in ("WORLD_SIZE", "LOCAL_WORLD_SIZE")}
    AcceleratorState._reset_state(reset_partial_state=True)
    with patch.dict(os.environ, ranks):
        accelerator = Accelerator(cpu=True, kwargs_handlers=[unused])
        model = accelerator.prepare(llama())
        optimizer = Lisa(model, gamma=1, period=2, seed=0).attach(adamw(model))
        optimizer = accelerator.prepare(optimizer)
        train(model, optimizer, (ids[number : number + 1] for ids in batches(6)))
    AcceleratorState._reset_state(reset_partial_state=True)
    found: dict[str, Tensor] = accelerator.unwrap_model(model).state_dict()
    return found


def test_two_ranks_equal_one_and_ranks_that_would_drift_are_refused(tmp_path: Path) -> None:
    # This process is rank 1, and rank 0 a fork of it: nothing is imported anew. Only where there is
    # a GPU has autograd threads of its own, which no fork has.
    zero = torch.multiprocessing.start_processes(
        rank,
        (str(tmp_path),),
        nprocs=1,
        join=False,
        start_method="spawn" if torch.cuda.is_available() else "fork",
    )
    rank(1, str(tmp_path))
    assert zero.join()
    told = torch.load(tmp_path / "told.pt", weights_only=True)
    assert "give all of them the same" in told["refused"]
    assert "find_unused_parameters=True" in told["refused"]
    alone = llama()
    train(alone, Lisa(alone, gamma=1, period=2, seed=0).attach(adamw(alone)), batches(6))
    for name, value in alone.state_dict().items():
        for way in ("alone", "prepared"):
            torch.testing.assert_close(told[way][name], value, rtol=1e-4, atol=1e-6)
