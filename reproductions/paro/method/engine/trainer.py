"""transformers' Trainer with an engine: its loop, data, schedule and logs; our steps."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch.optim import Optimizer
from transformers import Trainer

from harness.errors import SpecError
from reproductions.paro.method.engine.groups import mesh_of_groups
from reproductions.paro.method.engine.paro import Paro


class ParoTrainer(Trainer):
    """A Trainer whose model an engine splits, on ranks that torchrun starts.

        trainer = ParoTrainer(
            model, args, train_dataset=data, engine=partial(Paro, strategy="IIG"), group_size=8
        )
        trainer.train()

    Learning rate, weight decay, clipping and accumulation are the arguments'. Where DDP would have
    averaged gradients, so does the engine.
    """

    def __init__(
        self, *args: Any, engine: Callable[..., Paro], group_size: int, **kwargs: Any
    ) -> None:
        """engine: makes one from a model, a mesh, and what the arguments set; `Paro` with a
        strategy and what else it takes. group_size: ranks that share fast links.

        Raises SpecError for an optimizer that is made already, and for arguments under which a
        checkpoint would lack what other ranks hold.
        """
        super().__init__(*args, **kwargs)
        if self.args.save_strategy != "no" and not self.args.save_only_model:
            raise SpecError(
                "a Trainer's checkpoint has the optimizer states of rank 0 alone: set"
                " save_only_model=True, and keep them by checkpoint.save(trainer.engine, folder)"
            )
        if self.optimizer is not None:
            raise SpecError(
                "an optimizer over a model that is not split, so that no rank would hear of"
                " another's gradients: say what makes it by optimizer_cls_and_kwargs"
            )
        self._make_engine, self._group_size = engine, group_size
        # What would wrap the model in DDP.
        self.accelerator.prepare_model = lambda model, **_: model
        self.engine: Paro

    def create_optimizer(self, _: Any = None) -> Optimizer:
        """Split the model at the first call."""
        if self.optimizer is None:
            model: Any = self.model
            decaying = set(self.get_decay_parameter_names(model))
            given = self.optimizer_cls_and_kwargs
            kind, settings = given or self.get_optimizer_cls_and_kwargs(self.args, model)
            decays = {True: {"weight_decay": self.args.weight_decay}, False: {"weight_decay": 0.0}}
            self.engine = self._make_engine(
                model,
                mesh_of_groups(self._group_size, self.args.device.type),
                optimizer=partial(kind, **settings),
                options=lambda name, param: decays[name in decaying],
                max_norm=self.args.max_grad_norm or None,
            )
            self.optimizer = self._steps = EngineOptimizer(self.engine)
        return self.optimizer

    def log(self, logs: dict[str, float], *args: Any, **kwargs: Any) -> None:
        """Log the norm that the engine took: parameters have no gradients of their own."""
        if "grad_norm" in logs:
            logs["grad_norm"] = self._steps.norm
        super().log(logs, *args, **kwargs)

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:
        """Save the whole model from rank 0. All ranks must call it."""
        if self.optimizer is None:
            # Nothing is split yet.
            super().save_model(output_dir, _internal_call)
            return
        state = self.engine.state_dict()
        if self.args.should_save:
            self._save(output_dir, state_dict=state)


class EngineOptimizer(Optimizer):
    """An engine's optimizer, whose step is the engine's."""

    def __init__(self, engine: Paro) -> None:
        # Without what an optimizer makes: all it has is the inner one's.
        self.engine = engine
        self.norm = 0.0
        """Of the last step's gradient."""

    def __getattr__(self, name: str) -> Any:
        """Return groups, states and hooks of the inner optimizer."""
        if name == "engine":
            raise AttributeError(name)
        return getattr(self.engine.optimizer, name)

    @torch.no_grad()
    def step(self, closure: Any = None) -> None:  # type: ignore[override]
        """See `Paro.step`."""
        self.norm = self.engine.step()

    def zero_grad(self, set_to_none: bool = True) -> None:
        """See `Paro.forget`."""
        self.engine.forget()

    def state_dict(self) -> dict[str, Any]:
        """Return this rank's part."""
        return self.engine.optimizer.state_dict()

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take this rank's part."""
        self.engine.optimizer.load_state_dict(state_dict)
