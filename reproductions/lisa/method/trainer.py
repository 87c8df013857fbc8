"""LISA inside transformers' Trainer."""

from __future__ import annotations

from typing import Any

from transformers import Trainer, TrainerCallback

from harness.errors import EnvError, RunError, SpecError
from reproductions.lisa.method.lisa import Lisa


def attach_to_trainer(lisa: Lisa, trainer: Trainer) -> None:
    """Attach LISA to the optimizer that a trainer makes from its arguments.

    To be called once, before `trainer.train()`. Raises SpecError for a trainer that would make
    another model or optimizer later, and EnvError for several GPUs.
    """
    if trainer.model_init is not None or trainer.args.auto_find_batch_size:
        raise SpecError(
            "with model_init or auto_find_batch_size the trainer starts anew with another model or"
            " optimizer, which LISA would not follow: hand it a model and a batch size"
        )
    if trainer.model is not lisa.model:
        raise SpecError("the trainer has another model: make Lisa(trainer.model, ...)")
    if max(trainer.args.world_size, trainer.args.n_gpu) > 1:
        raise EnvError(
            "Trainer wraps a model for several GPUs too late for LISA: run it on one, or use a loop"
            " of your own with DistributedDataParallel"
        )
    lisa.attach(trainer.create_optimizer())
    trainer.add_callback(_Watch(lisa))


class _Watch(TrainerCallback):
    """Stops a training that LISA does not take part in."""

    def __init__(self, lisa: Lisa) -> None:
        self._lisa = lisa

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Raise RunError where a run goes on from a checkpoint and LISA does not."""
        if state.global_step and not self._lisa.step:
            raise RunError(
                f"the run goes on at step {state.global_step}, and its checkpoint holds no state of"
                " the optimizer, from which LISA goes on: save checkpoints without"
                " save_only_model, or load the model's weights and start a new run"
            )

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Raise RunError where the trainer steps and LISA's optimizer does not."""
        # A scaler of float16 skips some of the first steps.
        if self._lisa.step == 0 and state.global_step >= 50:
            raise RunError(
                f"after {state.global_step} steps of the trainer LISA's optimizer has not made one:"
                " something has replaced it"
            )
