"""Stacked training: member for member what one-by-one training gives, and nothing shared."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from harness.declare.experiment import Status
from harness.errors import SpecError
from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar import TABLE_3, Parameterization, Scheme, max_abs_masked
from reproductions.supar.experiments import lr_sweep
from reproductions.supar.gpt_trial import train_gpt
from reproductions.supar.stacked import STACKED_RTOL, StackedGPT, train_gpt_stack, train_stack
from reproductions.supar.text import Batch
from reproductions.supar.training import (
    CHECK_EVERY,
    Seeds,
    Settings,
    TrainLog,
    build_adamw,
    build_gpt,
    evaluate,
    train,
)
from tests.reproductions.supar import small

SETTINGS = replace(small.SETTINGS, num_steps=15)
WIDTH, CONTEXT = 32, 16
GELU: dict[str, Any] = {
    "feed_forward": "gelu",
    "feed_forward_width": 4 * WIDTH,
    "positions": "learned",
    "bias": True,
}
SWIGLU: dict[str, Any] = {
    "feed_forward": "swiglu",
    "feed_forward_width": 88,
    "positions": "alibi",
    "bias": False,
}


@dataclass(frozen=True)
class Member:
    """What tells a member of a test stack from the others."""

    scheme: Scheme
    density: float
    lr: float
    seed: int


MEMBERS = (
    Member("sp", 1.0, 2e-3, 0),
    Member("mup", 0.5, 8e-3, 1),
    Member("supar", 0.125, 1.6e-2, 2),
    Member("mup_lr_only", 0.25, 4e-3, 3),
)


def _table(member: Member) -> Parameterization:
    base = replace(TABLE_3, lr=member.lr)
    return Parameterization(
        scheme=member.scheme, width_multiplier=2.0, density=member.density, base=base
    )


def _model(member: Member, net: dict[str, Any], *, num_layers: int = 2) -> GPT:
    table = _table(member)
    config = GPTConfig(
        vocab_size=len(set(small.TEXT)),
        width=WIDTH,
        num_layers=num_layers,
        head_size=16,
        context=CONTEXT,
        embedding_multiplier=table.embedding_multiplier,
        logit_multiplier=table.logit_multiplier,
        attention_scale=table.attention_scale(16),
        **net,
    )
    seeds = Seeds(init=member.seed, masks=member.seed + 100)
    return build_gpt(config, table, seeds, mask_density=member.density)


def _batches(member: Member, settings: Settings) -> list[Batch]:
    return list(small.batches(settings.num_steps, seed=member.seed))


def _stacked(
    members: Sequence[Member],
    net: dict[str, Any],
    settings: Settings,
    dtype: torch.dtype = torch.float64,
) -> tuple[list[GPT], list[TrainLog]]:
    models = [_model(member, net).to(dtype) for member in members]
    batches = [_batches(member, settings) for member in members]
    logs = train_stack(models, [_table(member) for member in members], batches, settings)
    return models, logs


def _alone(
    member: Member, net: dict[str, Any], settings: Settings, dtype: torch.dtype = torch.float64
) -> tuple[GPT, TrainLog]:
    model = _model(member, net).to(dtype)
    optimizer = build_adamw(model, _table(member), settings)
    return model, train(model, optimizer, _batches(member, settings), settings)


def _held_out() -> Batch:
    return next(iter(small.batches(1, seed=77)))


@pytest.mark.parametrize("clip_norm", [0.3, 1e9, math.inf], ids=["clipped", "free", "none"])
@pytest.mark.parametrize("net", [GELU, SWIGLU], ids=["gelu", "swiglu"])
def test_members_equal_one_by_one_training_in_float64(
    net: dict[str, Any], clip_norm: float
) -> None:
    settings = replace(SETTINGS, clip_norm=clip_norm, decay="independent")
    models, logs = _stacked(MEMBERS, net, settings)
    for member, model, log in zip(MEMBERS, models, logs, strict=True):
        expected, expected_log = _alone(member, net, settings)
        # Logs are float32 whatever the net is: one rounding of it.
        torch.testing.assert_close(log.losses, expected_log.losses, rtol=2.0**-23, atol=0.0)
        torch.testing.assert_close(
            dict(model.named_parameters()), dict(expected.named_parameters()), rtol=1e-9, atol=1e-11
        )
        loss, expected_loss = (evaluate(each, _held_out()) for each in (model, expected))
        assert loss == pytest.approx(expected_loss, rel=1e-9)
        assert (log.num_clipped, log.num_steps) == (expected_log.num_clipped, settings.num_steps)
    assert bool(sum(log.num_clipped for log in logs)) == (clip_norm == 0.3)


def test_members_equal_one_by_one_training_in_float32() -> None:
    settings = replace(SETTINGS, num_steps=60, warmup_steps=6, weight_decay=0.0)
    models, logs = _stacked(MEMBERS, GELU, settings, torch.float32)
    for member, model, log in zip(MEMBERS, models, logs, strict=True):
        expected, expected_log = _alone(member, GELU, settings, torch.float32)
        assert log.final_loss == pytest.approx(expected_log.final_loss, rel=STACKED_RTOL)
        assert evaluate(model, _held_out()) == pytest.approx(
            evaluate(expected, _held_out()), rel=STACKED_RTOL
        )


def test_masked_weights_stay_exactly_zero() -> None:
    models, _ = _stacked(MEMBERS, SWIGLU, SETTINGS, torch.float32)
    assert [max_abs_masked(model) for model in models] == [0.0] * len(models)


def test_a_diverging_member_leaves_the_others_as_they_were() -> None:
    settings = replace(SETTINGS, num_steps=CHECK_EVERY + 10)
    calm, wild = MEMBERS[1], replace(MEMBERS[1], lr=1e30)
    models, logs = _stacked([MEMBERS[0], wild, MEMBERS[2]], GELU, settings)
    others, other_logs = _stacked([MEMBERS[0], calm, MEMBERS[2]], GELU, settings)
    for place in (0, 2):
        assert torch.equal(logs[place].losses, other_logs[place].losses)
        pairs = zip(models[place].parameters(), others[place].parameters(), strict=True)
        assert all(torch.equal(mine, its) for mine, its in pairs)
    alone = _alone(wild, GELU, settings)[1]
    assert alone.diverged
    assert logs[1].diverged == alone.diverged
    assert logs[1].num_steps == alone.num_steps == CHECK_EVERY + 1
    assert logs[1].num_clipped == alone.num_clipped
    assert bool(logs[1].losses[CHECK_EVERY + 1 :].isnan().all())
    assert [log.diverged for log in other_logs] == [""] * 3


class _Count(TorchDispatchMode):
    """Count the operations that are carried out."""

    def __init__(self) -> None:
        super().__init__()
        self.num_operations = 0

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        self.num_operations += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("net", [GELU, SWIGLU], ids=["gelu", "swiglu"])
def test_no_operation_is_done_member_by_member(net: dict[str, Any]) -> None:
    counts = []
    batch = _held_out()
    for num_members in (2, 4):
        stack = StackedGPT([_model(member, net) for member in MEMBERS[:num_members]])
        tokens_SBT = batch.tokens_BT.expand(num_members, -1, -1)
        with _Count() as count:
            stack.losses(tokens_SBT, tokens_SBT).sum().backward()
        counts.append(count.num_operations)
    assert counts[0] == counts[1]


def test_stack_refuses_what_it_cannot_train_as_one() -> None:
    models = [_model(member, GELU) for member in MEMBERS[:2]]
    tables = [_table(member) for member in MEMBERS[:2]]
    batches = [_batches(member, SETTINGS) for member in MEMBERS[:2]]
    other = _model(MEMBERS[1], GELU, num_layers=1)
    with pytest.raises(SpecError, match="one shape"):
        train_stack([models[0], other], tables, batches, SETTINGS)
    with pytest.raises(SpecError, match="num_micro_batches=2"):
        train_stack(models, tables, batches, replace(SETTINGS, num_micro_batches=2))
    with pytest.raises(SpecError, match="one of each per member"):
        train_stack(models, tables[:1], batches, SETTINGS)
    with pytest.raises(SpecError, match="14 batches"):
        train_stack(models, tables, [batches[0], batches[1][:14]], SETTINGS)


def _points() -> list[dict[str, Any]]:
    """Return trials of the smoke sweep that differ in all that a stack lets differ."""
    points = [dict(point) for point in lr_sweep.smoke_grid()]
    changed = [points[0], points[-2], points[len(points) // 2]]
    return [{**point, "seed": seed} for seed, point in enumerate(changed)]


def test_rows_equal_those_of_single_trials() -> None:
    points = _points()
    assert len({point["scheme"] for point in points}) == 3
    points.append({**points[0], "log2_lr": 100.0})
    contexts = [small.Context(lr_sweep.experiment, point) for point in points]
    outcomes = train_gpt_stack(points, contexts)
    for point, ctx, outcome in zip(points, contexts, outcomes, strict=True):
        expected = train_gpt(point, ctx)
        assert (outcome.status, outcome.note) == (expected.status, expected.note)
        wanted: Any = dict(expected.rows[0])
        if expected.status is Status.DONE:
            wanted = pytest.approx(wanted, rel=STACKED_RTOL)
        assert dict(outcome.rows[0]) == wanted
    assert [outcome.status for outcome in outcomes] == [Status.DONE] * 3 + [Status.DIVERGED]


def test_trials_of_other_settings_are_refused() -> None:
    first, second = _points()[:2]
    second = {**second, "warmup_steps": 5}
    contexts = [small.Context(lr_sweep.experiment, point) for point in (first, second)]
    with pytest.raises(SpecError, match="different settings"):
        train_gpt_stack([first, second], contexts)
