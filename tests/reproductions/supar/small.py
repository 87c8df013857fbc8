"""Small nets, settings and a stand-in for the harness that the tests of this paper share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

from harness.data.codec import Content
from harness.declare.experiment import Experiment
from reproductions.nets.gpt import GPT, GPTConfig
from reproductions.supar import TABLE_3, Parameterization, Scheme
from reproductions.supar.models.points import Training
from reproductions.supar.models.text import Batch, character_corpus, training_batches
from reproductions.supar.models.training import Seeds, build_gpt, generator_of
from tests.made_runs import MadeRun

TRAINING = Training(
    data="", batch_size=4, micro_batches=1, steps=12, warmup_steps=2, schedule="to_tenth",
    clip_norm=1.0,
)  # fmt: skip
TEXT = "the quick brown fox jumps over the lazy dog. pack my box with five dozen jugs! " * 80


def table(scheme: Scheme = "supar", *, width: int = 64, density: float = 0.25) -> Parameterization:
    """Return a parameterization over a proxy of width 32."""
    return Parameterization(
        scheme=scheme, width_multiplier=width / 32, density=density, base=TABLE_3
    )


def config(parameterization: Parameterization, *, width: int = 64) -> GPTConfig:
    """Return a net of one layer for `TEXT`."""
    return GPTConfig(
        vocab_size=len(set(TEXT)),
        width=width,
        num_layers=1,
        head_size=16,
        context=16,
        feed_forward="gelu",
        feed_forward_width=4 * width,
        positions="learned",
        bias=False,
        embedding_multiplier=parameterization.embedding_multiplier,
        logit_multiplier=parameterization.logit_multiplier,
        attention_scale=parameterization.attention_scale(16),
    )


def gpt(parameterization: Parameterization, *, width: int = 64, seed: int = 0) -> GPT:
    """Return a masked net, its masks and start drawn."""
    seeds = Seeds(init=seed, masks=seed + 1000)
    shape = config(parameterization, width=width)
    return build_gpt(shape, parameterization, seeds, mask_density=parameterization.density)


def batches(num_batches: int = TRAINING.steps, *, seed: int = 5) -> Iterator[Batch]:
    """Yield training batches of `TEXT`."""
    return training_batches(
        character_corpus(TEXT).train_N,
        context=16,
        batch_size=4,
        num_batches=num_batches,
        generator=generator_of(seed),
    )


class Context(MadeRun):
    """A run whose every data set is a text, but for those that are given."""

    def __init__(
        self, experiment: Experiment, params: Any, *, text: str = TEXT, kept: Any = None,
        data: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__({n: getattr(params, n) for n in experiment.seed_from}, kept, data or {})
        self._text = text

    def dataset(self, name: str) -> Content:
        return Content(name, "made", "", self.data.get(name, self._text))


def zeros_under(weight: Tensor, mask: Tensor) -> bool:
    """Return whether every masked entry is exactly zero."""
    return bool(torch.equal(weight.detach()[~mask], torch.zeros(int((~mask).sum()))))


def points(experiment: Experiment, profile: Any = "smoke") -> list[Any]:
    """Return the typed points of a grid."""
    return [experiment.typed(params) for params in experiment.params_of(profile)]


def run(experiment: Experiment, point: Any, context: Any = None) -> Any:
    """Run a trial of an experiment here."""
    return experiment.function(experiment.run)(point, context or Context(experiment, point))
