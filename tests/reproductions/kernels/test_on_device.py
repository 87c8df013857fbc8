"""Kernels at odd sizes: what is wrong on purpose is seen, and what was not done is said.

There is no GPU here: CUDA C++ is built by the host's compiler, and Triton's interpreter runs the
rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest
import torch
from torch import Tensor

from harness.declare.verdict import Word
from harness.errors import EnvError
from harness.registry import load_registry
from reproductions.kernels.backend import implementation
from reproductions.kernels.on_device import calls
from reproductions.kernels.on_device.experiment import Check, written
from reproductions.kernels.on_device.sizes import BEYOND_A_BLOCK, ODD, cases_of
from reproductions.kernels.on_device.trial import rows_of
from reproductions.kernels.sign_ops import plain as sign_ops
from tests.verdicts import controlled

TASK = load_registry().tasks["kernels/on_device"]
CLAIMS = {claim.id: claim for claim in TASK.claims}


def check_of(kernel: str, backend: str = "plain", precision: str = "float32") -> Check:
    return Check(
        kernel=kernel, backend=backend, precision=precision, checker="outputs", device="cpu",
    )  # type: ignore[arg-type]  # fmt: skip


def table_of(check: Check, *names: str) -> pd.DataFrame:
    """Return the table of a check, of some cases or of all."""
    cases = cases_of(check.kernel, "cpu", check.backend)
    cases = [case for case in cases if not names or case.name in names]
    rows = [{**check.to_json(), **row} for row in rows_of(check, cases, 3)]
    return pd.DataFrame(rows, columns=TASK.table.names)


def word_of(claim: str, table: pd.DataFrame, profile: Any = "gpu") -> Word:
    return controlled(CLAIMS[claim], table, seed=None, profile=profile).word


HOST = [(k, b, p) for k, b, p in written() if b == "cuda"]
INTERPRETED = [
    pytest.param(*each, marks=pytest.mark.kernels)
    for each in written()
    if each[1:] == ("triton", "float32")
]


@pytest.mark.parametrize(("kernel", "language", "precision"), [*HOST, *INTERPRETED])
def test_what_runs_on_a_device_runs_here(kernel: str, language: str, precision: str) -> None:
    """The same trial, in Triton's interpreter too."""
    table = table_of(check_of(kernel, language, precision))
    assert not table.empty and (table["missing"] == "").all()
    worst = table[~table["agrees"].astype(bool)]
    assert worst.empty, worst[["case", "inputs", "error"]].to_string()
    assert table["repeats"].all() and (table["stray_bytes"] == 0).all()


def off_by_a_thousandth(found: Tensor) -> Tensor:
    return found * 1.001


def one_too_short(found: Tensor) -> Tensor:
    return found[:-1]


@pytest.mark.parametrize("spoil", [off_by_a_thousandth, one_too_short])
def test_a_wrong_output_fails_the_check(
    monkeypatch: pytest.MonkeyPatch, spoil: Callable[[Tensor], Tensor]
) -> None:
    check, name = check_of("rademacher", "cuda"), "4097 x 3, sum"
    assert word_of("outputs_are_right", table_of(check, name)) == Word.HOLDS
    module = implementation("rademacher", "cuda")
    combine = module.combine
    monkeypatch.setattr(module, "combine", lambda *given: spoil(combine(*given)))
    spoilt = table_of(check, name)
    assert word_of("outputs_are_right", spoilt) == Word.FAILS
    assert word_of("bits_come_again", spoilt) == Word.HOLDS


def test_numbers_where_nan_belongs_fail_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    add = sign_ops.add_fedsign_

    def quiet(grad: Tensor, *given: Any, **named: Any) -> Tensor:
        penalty = add(grad, *given, **named)
        # Of float64, the reference, what it is stays.
        if grad.dtype == torch.float32:
            grad.nan_to_num_()
        return penalty

    monkeypatch.setattr(sign_ops, "add_fedsign_", quiet)
    table = table_of(check_of("sign_ops"), "129").set_index("inputs")
    assert table.loc[calls.SHIFTED, "agrees"] and not table.loc[calls.NO_NUMBERS, "agrees"]


def test_bits_that_change_from_call_to_call_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    count, module = itertools.count(), implementation("rademacher", "cuda")
    project = module.project

    def unsteady(*given: Any) -> Tensor:
        found: Tensor = project(*given)
        # One bit, and only in the third call.
        return torch.nextafter(found, found + (next(count) == 2))

    monkeypatch.setattr(module, "project", unsteady)
    table = table_of(check_of("rademacher", "cuda"), "129 x 3, along")
    assert word_of("bits_come_again", table) == Word.FAILS
    assert word_of("outputs_are_right", table) == Word.HOLDS


@pytest.mark.parametrize("place", [-1, 129])
def test_a_byte_beyond_an_end_is_seen(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    add = sign_ops.add_fedsign_

    def careless(grad: Tensor, *given: Any, **named: Any) -> Tensor:
        found = add(grad, *given, **named)
        if grad.dtype == torch.float32:
            start = grad.storage_offset() + place
            grad.as_strided((1,), (1,), start).zero_()
        return found

    check, name = check_of("sign_ops"), "129"
    assert word_of("within_the_ends", table_of(check, name)) == Word.HOLDS
    monkeypatch.setattr(sign_ops, "add_fedsign_", careless)
    table = table_of(check, name)
    assert word_of("within_the_ends", table) == Word.FAILS
    assert word_of("outputs_are_right", table) == Word.HOLDS


def test_what_a_device_would_be_given_is_checked() -> None:
    table = table_of(check_of("sign_ops"), "129")
    assert word_of("taken_by_methods", table) == Word.HOLDS
    assert word_of("taken_by_methods", table.assign(device="cuda")) == Word.FAILS


def test_a_compiler_that_is_not_there_decides_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking(kernel: str, device: torch.device) -> None:
        raise EnvError("nvcc is not installed: get it")

    monkeypatch.setattr(implementation("rademacher", "cuda"), "library", lacking)
    table = table_of(check_of("rademacher", "cuda"), "1 x 1, sum")
    assert set(table["missing"]) == {"nvcc is not installed: get it"}
    for claim in ("outputs_are_right", "bits_come_again", "within_the_ends", "taken_by_methods"):
        verdict = controlled(CLAIMS[claim], table, seed=None, profile="gpu")
        assert verdict.word == Word.UNTESTED and "nvcc is not installed" in verdict.reason
    # What is wrong is told, whatever else was not done.
    wrong = table.head(1).assign(agrees=False, missing="")
    assert word_of("outputs_are_right", pd.concat([table, wrong])) == Word.FAILS


@pytest.mark.kernels
def test_sizes_beyond_a_block_are_one_more_than_blocks_of_the_kernels() -> None:
    from reproductions.kernels.adamw.launch import CHUNK
    from reproductions.kernels.rademacher.plain import TILE

    blocks = {
        name: implementation(name, "triton").BLOCK
        for name in ("tangent_step", "sign_ops", "linear_cross_entropy")
    }
    blocks |= dict.fromkeys(("masked_adamw", "layer_adamw"), CHUNK)
    blocks |= {"rademacher": TILE, "shard_pack": CHUNK}
    assert implementation("shard_pack", "triton").BLOCK == CHUNK
    for kernel, names in BEYOND_A_BLOCK.items():
        for case in (case for case in ODD[kernel] if case.name in names):
            sizes = case.sizes.values()
            assert any(size > 1 and size % blocks[kernel] == 1 for size in sizes), case
