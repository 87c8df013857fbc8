"""transformers' Trainer with an engine ends where the same Trainer with DDP ends."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import peft
import pytest
import torch
import torch.distributed as dist
from safetensors.torch import load_file
from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments

from harness.errors import SpecError
from reproductions.paro import Paro
from reproductions.paro.method.engine.trainer import ParoTrainer
from tests.reproductions.paro.torchrun import under_torchrun

KINDS, LETTERS = ("whole", "lora"), ("NNG", "GGG")


def train_on_rank(folder: str) -> None:
    """Train each kind of model by DDP and by engines; keep what came of them."""
    rows = torch.randint(32, (24, 8), generator=torch.Generator().manual_seed(0))
    data: Any = [{"input_ids": row, "labels": row} for row in rows]

    def model_of(kind: str) -> Any:
        torch.manual_seed(0)
        config = GPT2Config(
            vocab_size=32, n_positions=8, n_embd=16, n_layer=2, n_head=2, bos_token_id=None,
            eos_token_id=None, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0,
        )  # fmt: skip
        model: Any = GPT2LMHeadModel(config).double()
        if kind == "lora":
            adapters = peft.LoraConfig(r=2, target_modules=["c_attn"])
            model = peft.get_peft_model(model, adapters).double()
        return model

    def end_of(kind: str, letters: str) -> dict[str, Any]:
        args = TrainingArguments(
            output_dir=f"{folder}/{kind} {letters}", use_cpu=True, ddp_backend="gloo",
            report_to=[], save_strategy="no", max_steps=2, per_device_train_batch_size=2,
            gradient_accumulation_steps=2, learning_rate=1e-2, weight_decay=0.1,
            max_grad_norm=0.01, logging_steps=1, disable_tqdm=True,
        )  # fmt: skip
        given = {
            "model": model_of(kind), "args": args, "train_dataset": data,
            "eval_dataset": data[:6],
        }  # fmt: skip
        trainer: Any
        if letters == "DDP":
            trainer = Trainer(**given)
        else:
            trainer = ParoTrainer(**given, engine=partial(Paro, strategy=letters), group_size=1)
        trainer.train()
        logs = [each for each in trainer.state.log_history if "grad_norm" in each]
        names = ("loss", "grad_norm", "learning_rate")
        told: dict[str, Any] = {name: [float(each[name]) for each in logs] for name in names}
        told["eval_loss"] = trainer.evaluate()["eval_loss"]
        trainer.save_model(args.output_dir)
        state = (trainer.model if letters == "DDP" else trainer.engine).state_dict()
        return {"told": told, "state": state}

    ends = {f"{kind} {way}": end_of(kind, way) for kind in KINDS for way in ("DDP", *LETTERS)}
    torch.save(ends, f"{folder}/{dist.get_rank()}.pt")


@pytest.fixture(scope="module")
def ends(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    """Train by each on two ranks of torchrun; return the folder and what rank 1 found."""
    folder = tmp_path_factory.mktemp("trainer")
    under_torchrun(train_on_rank, folder=str(folder))
    return folder, torch.load(folder / "1.pt")


@pytest.mark.parametrize("letters", LETTERS)
@pytest.mark.parametrize("kind", KINDS)
def test_it_ends_where_ddp_ends(ends: Any, kind: str, letters: str) -> None:
    ours, ddps = (ends[1][f"{kind} {each}"] for each in (letters, "DDP"))
    assert len(ddps["told"]["grad_norm"]) == 2 and min(ddps["told"]["grad_norm"]) > 0.01
    for name, theirs in ddps["told"].items():
        torch.testing.assert_close(ours["told"][name], theirs, rtol=1e-6, atol=0.0)
    assert any(name.endswith("lm_head.weight") for name in ours["state"]), "a tied one, by name"
    torch.testing.assert_close(ours["state"], ddps["state"], rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_what_it_saves_is_what_ddp_saves(ends: Any, kind: str) -> None:
    (ddps,) = (ends[0] / f"{kind} DDP").glob("*.safetensors")
    (ours,) = (ends[0] / f"{kind} GGG").glob("*.safetensors")
    assert ours.name == ddps.name
    torch.testing.assert_close(load_file(ours), load_file(ddps), rtol=1e-9, atol=1e-11)


def test_a_checkpoint_that_would_lack_other_ranks_states_is_refused(tmp_path: Path) -> None:
    args = TrainingArguments(output_dir=str(tmp_path), use_cpu=True, report_to=[])
    with pytest.raises(SpecError, match="save_only_model=True"):
        ParoTrainer(torch.nn.Linear(1, 1), args, engine=Paro, group_size=1)


def test_an_optimizer_of_a_whole_model_is_refused(tmp_path: Path) -> None:
    net = torch.nn.Linear(1, 1)
    args = TrainingArguments(
        output_dir=str(tmp_path), use_cpu=True, report_to=[], save_strategy="no"
    )
    made = (torch.optim.SGD(net.parameters(), lr=0.1), None)
    with pytest.raises(SpecError, match="optimizer_cls_and_kwargs"):
        ParoTrainer(net, args, optimizers=made, engine=Paro, group_size=1)
    whole = ParoTrainer(net, args, engine=Paro, group_size=1)
    whole.save_model(str(tmp_path / "kept"))
    assert list((tmp_path / "kept").glob("*.safetensors"))
