"""transformers' Trainer with an engine ends where the same Trainer with DDP ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from harness.errors import SpecError
from reproductions.paro import Paro
from reproductions.paro.method.engine.trainer import ParoTrainer
from tests.reproductions.paro.torchrun import under_torchrun


def train_on_rank(folder: str) -> None:
    """Train by DDP and by an engine; keep what each told, and what it saved."""
    rows = torch.randint(32, (24, 8), generator=torch.Generator().manual_seed(0))
    data: Any = [{"input_ids": row, "labels": row} for row in rows]

    def end_of(name: str, kind: Any, **more: Any) -> dict[str, Any]:
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=32, n_positions=8, n_embd=16, n_layer=2, n_head=2, bos_token_id=None,
            eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
        model: Any = GPT2LMHeadModel(config)
        args = TrainingArguments(
            output_dir=f"{folder}/{name}", use_cpu=True, ddp_backend="gloo",
            report_to=[], save_strategy="no", max_steps=2, per_device_train_batch_size=2,
            gradient_accumulation_steps=2, learning_rate=1e-2, weight_decay=0.1,
            max_grad_norm=0.01, logging_steps=1, disable_tqdm=True,
        )  # fmt: skip
        trainer = kind(
            model=model.double(), args=args, train_dataset=data, eval_dataset=data[:6], **more
        )
        trainer.train()
        trainer.save_model(args.output_dir)
        logs = [each for each in trainer.state.log_history if "grad_norm" in each]
        told = {what: [float(each[what]) for each in logs]
                for what in ("loss", "grad_norm", "learning_rate")}  # fmt: skip
        return {**told, "eval_loss": trainer.evaluate()["eval_loss"]}

    split = {"engine": partial(Paro, strategy="GGG"), "group_size": 1}
    ends = {"ddp": end_of("ddp", Trainer), "ours": end_of("ours", ParoTrainer, **split)}
    torch.save(ends, f"{folder}/{dist.get_rank()}.pt")


def test_it_ends_where_ddp_ends(tmp_path: Path) -> None:
    under_torchrun(train_on_rank, folder=str(tmp_path))
    ends = torch.load(tmp_path / "1.pt")
    assert len(ends["ddp"]["grad_norm"]) == 2 and min(ends["ddp"]["grad_norm"]) > 0.01
    torch.testing.assert_close(ends["ours"], ends["ddp"], rtol=1e-6, atol=0.0)
    ours, ddps = (load_file(tmp_path / name / "model.safetensors") for name in ("ours", "ddp"))
    torch.testing.assert_close(ours, ddps, rtol=1e-9, atol=1e-11)


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    net = torch.nn.Linear(1, 1)
    args = partial(TrainingArguments, output_dir=str(tmp_path), use_cpu=True, report_to=[])
    wrap = partial(ParoTrainer, net, engine=Paro, group_size=1)
    with pytest.raises(SpecError, match="save_only_model=True"):
        wrap(args())
    made = (torch.optim.SGD(net.parameters(), lr=0.1), None)
    with pytest.raises(SpecError, match="optimizer_cls_and_kwargs"):
        wrap(args(save_strategy="no"), optimizers=made)
