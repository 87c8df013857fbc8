"""LISA inside transformers' Trainer, and on two ranks."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
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
    """Be one of two ranks that LISA refuses; rank 0 stores what it was told."""
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{folder}/meet", rank=number, world_size=2,
        timeout=timedelta(minutes=5),
    )  # fmt: skip
    told = ""
    for unused, seed in ((True, number), (False, 0)):
        wrapped = nn.parallel.DistributedDataParallel(llama(), find_unused_parameters=unused)
        try:
            optimizer = Lisa(wrapped, gamma=1, period=2, seed=seed).attach(adamw(wrapped))
            train(wrapped, optimizer, batches(1))
        except (EnvError, SpecError) as error:
            told += str(error)
    if number == 0:
        Path(folder, "told").write_text(told)
    torch.distributed.destroy_process_group()


def test_ranks_that_would_drift_are_refused(tmp_path: Path) -> None:
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
    told = (tmp_path / "told").read_text()
    assert "give all of them the same" in told
    assert "find_unused_parameters=True" in told
