"""LISA inside a loop of accelerate: attached before the optimizer is prepared."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from accelerate import Accelerator
from accelerate.state import AcceleratorState, GradientState

from harness.errors import RunError
from reproductions.lisa import Lisa
from reproductions.lisa.method.lisa import PATIENCE
from tests.reproductions.lisa.small import adamw, assert_same, batches, llama, train

SETTINGS: dict[str, Any] = {"gamma": 2, "period": 2, "seed": 6, "policy": "page_refrozen"}


@pytest.fixture(autouse=True)
def alone() -> Iterator[None]:
    """Let no setting of another accelerator of this process be taken over."""
    for state in (AcceleratorState, GradientState):
        state._reset_state()
    yield
    for state in (AcceleratorState, GradientState):
        state._reset_state()


def prepared(*, seed: int = 0, **more: Any) -> tuple[Accelerator, Lisa, Any, Any]:
    """Return an accelerator, a Lisa, and the model and optimizer as the accelerator gave them."""
    accelerator, model = Accelerator(cpu=True, **more), llama(seed=seed)
    lisa = Lisa(model, **SETTINGS)
    return accelerator, lisa, *accelerator.prepare(model, lisa.attach(adamw(model)))


def run(accelerator: Accelerator, model: Any, optimizer: Any, ids: Iterator[Any]) -> None:
    for batch in ids:
        with accelerator.accumulate(model):
            accelerator.backward(model(input_ids=batch, labels=batch).loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()


def test_attached_before_prepare_it_is_the_plain_loop_and_resumes_to_the_bit(
    tmp_path: Path,
) -> None:
    plain = llama()
    train(plain, Lisa(plain, **SETTINGS).attach(adamw(plain)), batches(9))
    ids = batches(9)
    accelerator, lisa, model, optimizer = prepared()
    run(accelerator, model, optimizer, (next(ids) for _ in range(5)))
    accelerator.save_state(str(tmp_path / "saved"))
    accelerator, lisa, model, optimizer = prepared(seed=9)
    accelerator.load_state(str(tmp_path / "saved"))
    assert lisa.step == 5
    run(accelerator, model, optimizer, ids)
    assert_same(accelerator.unwrap_model(model), plain)


def test_accumulated_batches_are_one_step() -> None:
    accelerator, lisa, model, optimizer = prepared(gradient_accumulation_steps=2)
    run(accelerator, model, optimizer, batches(8))
    assert (lisa.step, lisa.num_samplings) == (4, 2)


def test_a_block_that_gets_no_gradient_is_told() -> None:
    """Accelerate hands each step a closure that is None."""
    accelerator, _, model, optimizer = prepared()
    model.model.layers[1].register_forward_hook(lambda block, inputs, output: inputs[0])
    with pytest.raises(RunError, match=r"active blocks \[1\] have no gradient"):
        run(accelerator, model, optimizer, batches(4 * PATIENCE))
