"""The training loop, the in-house model's tokenizer and its pre-training."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch.nn.utils import clip_grad_norm_
from torch.optim.lr_scheduler import LambdaLR

from harness.data.load import load as load_data
from harness.errors import DataError
from reproductions.lisa.method.lisa import Lisa
from reproductions.lisa.models import pretraining
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import new_model, pretrain
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.training import (
    IGNORED,
    Recipe,
    TextBatch,
    answer_nats,
    mean_loss,
    pad,
    train,
    windows,
)
from tests.reproductions.lisa.small import assert_same, batches, copy_of, llama

RECIPE = Recipe(
    lr=1e-2, num_steps=6, warmup_steps=2, last_lr_share=0.1, weight_decay=0.1, betas=(0.9, 0.99),
    clip_norm=0.5,
)  # fmt: skip
GRAMMAR = load_data("grammar-text").text


def as_batches(count: int) -> list[TextBatch]:
    return [TextBatch(ids_BT=ids, labels_BT=ids) for ids in batches(count)]


def test_training_equals_torch_s_own_parts() -> None:
    ours, theirs = llama(), llama()
    losses = train(ours, RECIPE.optimizer(ours.parameters()), as_batches(6), RECIPE)
    optimizer = torch.optim.AdamW(theirs.parameters(), lr=1e-2, betas=(0.9, 0.99), weight_decay=0.1)
    schedule = LambdaLR(optimizer, RECIPE.share_at)
    for ids, loss in zip(batches(6), losses, strict=True):
        found = theirs(input_ids=ids, labels=ids).loss
        assert float(found.detach()) == loss
        found.backward()
        clip_grad_norm_(theirs.parameters(), 0.5)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
    assert_same(ours, theirs)


def test_all_groups_follow_the_rate_over_switches() -> None:
    model = llama()
    lisa = Lisa(model, gamma=1, period=2, seed=0)
    optimizer = lisa.attach(RECIPE.optimizer(model.parameters()))
    seen: list[set[float]] = []
    train(
        model, optimizer, as_batches(6), RECIPE,
        after_step=lambda step, _: seen.append({g["lr"] for g in optimizer.param_groups}),
    )  # fmt: skip
    assert seen == [{1e-2 * RECIPE.share_at(step)} for step in range(6)]
    assert lisa.num_samplings == 3


def test_training_ends_at_a_loss_that_is_not_finite() -> None:
    model = llama()
    with torch.no_grad():
        model.lm_head.weight.fill_(float("nan"))
    before = copy_of(model)
    losses = train(model, RECIPE.optimizer(model.parameters()), as_batches(6), RECIPE)
    assert len(losses) == 1
    assert torch.equal(model.model.norm.weight, before["model.norm.weight"])


def test_the_rate_rises_over_the_warm_up_and_falls_along_a_cosine() -> None:
    recipe = replace(RECIPE, num_steps=9, warmup_steps=4, last_lr_share=0.1)
    shares = [recipe.share_at(step) for step in range(9)]
    # Of the fall 0.9 * (1 + cos(pi k / 4)) / 2 for k of 0 to 4, above a tenth.
    cosine = [1.0, 0.868198, 0.55, 0.231802, 0.1]
    assert shares == pytest.approx([0.25, 0.5, 0.75, 1.0, *cosine], abs=1e-6)


def test_padding_changes_no_loss_and_prompts_have_none() -> None:
    model = llama().double()
    examples = [([5, 6, 7, 8, 9], 2), ([10, 11, 12], 1), ([4, 5, 6, 7], 3)]
    batch = pad(examples, padding=0)
    nats, counts = answer_nats(model, batch)
    assert counts.tolist() == [3, 2, 1]
    for row, (tokens, num_given) in enumerate(examples):
        with torch.no_grad():
            logits = model(torch.tensor([tokens])).logits[0].float().log_softmax(-1)
        alone = -sum(float(logits[i - 1, tokens[i]]) for i in range(num_given, len(tokens)))
        assert float(nats[row]) == pytest.approx(alone, rel=1e-5)
    assert batch.labels_BT[1].tolist() == [IGNORED, 11, 12, IGNORED, IGNORED]


def test_mean_loss_weighs_tokens_and_not_batches() -> None:
    model = llama()
    parts = [pad([([5, 6, 7, 8, 9], 1)], padding=0), pad([([10, 11], 1)], padding=0)]
    nats = [float(answer_nats(model, part)[0]) for part in parts]
    assert mean_loss(model, parts) == pytest.approx(sum(nats) / 5, rel=1e-6)
    assert mean_loss(model, parts[:1]) == pytest.approx(
        float(model(input_ids=parts[0].ids_BT, labels=parts[0].labels_BT).loss), rel=1e-6
    )


@pytest.fixture(scope="module")
def base() -> LanguageModel:
    return fresh()


def fresh() -> LanguageModel:
    return new_model(shape_of("tiny-path"), [GRAMMAR[:20_000]], vocab_chars=20_000, seed=0)


def test_any_text_can_be_encoded_and_comes_back(base: LanguageModel) -> None:
    texts = ["a </s> b<s>", "\u00e9\u4e16 \x00\n", ""]
    encoded = base.encode_all(texts)
    assert [base.tokenizer.decode(tokens) for tokens in encoded] == texts
    assert encoded == [base.encode(text) for text in texts]
    assert not any(base.bos in tokens for tokens in encoded)


def test_windows_hold_the_text_in_order_each_after_a_start(base: LanguageModel) -> None:
    rows = windows(base, [GRAMMAR[:3_000], GRAMMAR[3_000:5_000]], num_tokens=64)
    assert (rows[:, 0] == base.bos).all()
    body = rows[:, 1:].flatten().tolist()
    texts = "".join(base.tokenizer.decode(body).split("</s>"))
    assert GRAMMAR.startswith(texts)
    assert body.count(base.eos) == 1
    with pytest.raises(DataError, match="do not fill one window"):
        windows(base, ["short"], num_tokens=64)


def test_pretraining_that_is_killed_goes_on_to_the_same_bits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pretraining, "CHECKPOINT_EVERY", 2)
    whole, killed = fresh(), fresh()
    windows_NT = windows(whole, [GRAMMAR[:5_000]], num_tokens=64)
    told: dict[str, Any] = {"batch_size": 2, "seed": 1, "checkpoint": tmp_path / "at"}
    losses = pretrain(whole, windows_NT, RECIPE, **{**told, "checkpoint": tmp_path / "other"})
    real = pretraining.train

    def dies(model: Any, optimizer: Any, stream: Any, recipe: Any, **options: Any) -> Any:
        first = [batch for batch, _ in zip(stream, range(5), strict=False)]
        real(model, optimizer, first, recipe, **options)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(pretraining, "train", dies)
        pretrain(killed, windows_NT, RECIPE, **told)
    resumed = fresh()
    assert pretrain(resumed, windows_NT, RECIPE, **told) == losses
    assert_same(resumed.model, whole.model)
