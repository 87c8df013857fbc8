"""The models that benchmarks and judges score: ours before and after fine-tuning, and the paper's,
handed in as checkpoints; an experiment on each, and one on the paper's largest."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from harness.declare import Experiment, Needs, Params, Profile, Use, doc, seed
from harness.errors import DataError
from reproductions.lisa.models.names import (
    GRAMMAR,
    IN_HOUSE,
    LARGEST,
    QUALITY,
    SMALLEST,
    THREE,
    TITLES,
)
from reproductions.lisa.models.shapes import shape_of
from reproductions.lisa.models.stand_ins import net

if TYPE_CHECKING:
    from reproductions.lisa.models.language_model import LanguageModel

VANILLA = "vanilla"
"""The model before fine-tuning, as the paper's quality tables call it."""
METHODS = ("lora", "galore", "lisa", "full")
"""Beside it, in the order of Table 2."""
SEEDS = (0, 1, 2)
"""Seeds of the paper's models: three show what they score, and a verdict needs five. Of our own
models the weights of the first seed alone are kept."""
NOT_GIVEN = "not given"


class Scored(Params):
    """A model whose answers are scored."""

    model: str = doc("What is asked.")
    method: Literal["vanilla", "lora", "galore", "lisa", "full"] = doc(
        "How it was fine-tuned; vanilla: not at all.", default="vanilla"
    )
    seed: int = seed("One fine-tuning.", default=0)


def scored(
    id: str,
    *,
    untuned: str,
    own: Mapping[Profile, Scored],
    given: Scored,
    run: str,
    needs: Callable[[Any], Any],
    estimate: Callable[[Any], Any],
    uses: tuple[tuple[Use, ...], tuple[Use, ...]],
) -> tuple[Experiment, Experiment, Experiment, Experiment]:
    """Return an experiment on each kind of model: untuned, tuned, handed in, and the largest.

    id: of the second; untuned: of the first. own: our model's trial by profile. given: a trial of
    a model handed in, named by `--set checkpoint=FOLDER`. run: from the package of this module.
    uses: untuned, tuned.
    """
    make = partial(
        Experiment, version=1, run=run, needs=needs, estimate=estimate,
        address=("model", "method", "seed"), package=__package__,
        stands_in=stands_in, timeout_s=6 * 3600.0,
    )  # fmt: skip
    ours, theirs = partial(make, params=type(own["cpu"])), partial(make, params=type(given))
    return (
        ours(untuned, grid=partial(own_grid, own, (VANILLA,)), uses=uses[0]),
        ours(id, grid=partial(own_grid, own, METHODS), uses=uses[1]),
        theirs(f"{id}_given", grid=partial(given_grid, given, THREE)),
        theirs(f"{id}_given_70b", grid=partial(given_grid, given, (LARGEST,))),
    )


def stands_in(params: Scored) -> dict[str, str]:
    """Return what a small model stands in for; nothing where one is handed in."""
    own = net(params.model) if params.model in IN_HOUSE else ""
    return {TITLES[name]: own for name in (*THREE, LARGEST) if own}


def needs_of(params: Scored, *, data: tuple[str, ...], packages: tuple[str, ...]) -> Needs:
    """Return a score's data and packages, its judge, and a GPU for a model handed in.

    The smallest model is asked what is made up, from bundled text.
    """
    judged = getattr(params, "judged", False)
    packages = (*packages, "openai") if judged else packages
    ask = partial(Needs, packages=packages, judge=judged)
    if params.model == SMALLEST:
        return ask(data=(GRAMMAR,), memory_bytes=2**30)
    if params.model == QUALITY:
        return ask(data=data, memory_bytes=2**31)
    # Weights in bfloat16, and a tenth for what a pass holds.
    return ask(data=data, device="cuda", gpu_bytes=int(2.2 * shape_of(params.model).num_params))


def own_grid(
    own: Mapping[Profile, Scored], methods: tuple[Any, ...], profile: Profile
) -> Iterator[Scored]:
    """Yield our model by methods; of tuned ones LISA's alone at `smoke`."""
    shown = ("lisa",) if profile == "smoke" and len(methods) > 1 else methods
    for method in shown if profile in own else ():
        yield replace(own[profile], method=method)


def given_grid(given: Scored, models: tuple[str, ...], profile: Profile) -> Iterator[Scored]:
    """Yield models of the paper, as checkpoints to be handed in."""
    if profile == "paper":
        methods: tuple[Any, ...] = (VANILLA, *METHODS)
        for model in models:
            for method in methods:
                for number in SEEDS:
                    yield replace(given, model=model, method=method, seed=number)


def load_given(name: str, checkpoint: str, *, device: str) -> LanguageModel:
    """Return a model and tokenizer saved by transformers, in a folder in `checkpoint`.

    name: `<model>-<method>-<seed>`. Raises DataError where no folder was given, or it has no such
    model, and SpecError where its config names another kind.
    """
    folder = Path(checkpoint) / name
    if checkpoint == NOT_GIVEN or not (folder / "config.json").is_file():
        raise DataError(
            f"no model {name}: save each model and method of the paper in a folder and say "
            "--set checkpoint=FOLDER"
        )
    from transformers import AutoConfig, AutoTokenizer

    from reproductions.lisa.models.language_model import LanguageModel
    from reproductions.nets.named_class import causal_lm_of

    kind = causal_lm_of(AutoConfig.from_pretrained(folder, local_files_only=True))
    model: Any = kind.from_pretrained(folder, dtype="auto", local_files_only=True)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    return LanguageModel(model=model.to(device), tokenizer=tokenizer)
