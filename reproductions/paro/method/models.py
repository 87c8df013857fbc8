"""Parameters of a model: in all, of LoRA's adapters on it, and of its largest unit.

LLaMA's sizes by closed form of their shapes; any other by transformers, from a local config.json,
built on the meta device so that nothing is allocated. Torch is imported for the latter alone.

Letters: d hidden size, f feed-forward size, V vocabulary.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.errors import SpecError, nearest
from reproductions.paro.method.cluster import MOST

if TYPE_CHECKING:
    from torch import Tensor, nn
    from transformers import PreTrainedConfig

CONFIG = "config.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class Model:
    """What a plan asks of a model."""

    name: str
    num_params: int
    """Psi; tied parameters once."""
    largest_unit: int
    """Parameters of the largest unit: a block, or what lies outside of the blocks, by module. A
    split unit is gathered whole before it runs."""
    hidden: int
    """Hidden size of its text part."""
    adapted: int
    """Inputs and outputs of all linear layers, the head's and each expert's too, summed: of so many
    parameters are LoRA's adapters of rank 1. A router of experts that is a class of its own has
    none."""

    def lora_params(self, rank: int) -> int:
        """Return the parameters of adapters on every linear layer, as the released code has them.

        Raises SpecError for a rank below 1, or above the hidden size, where it lowers no rank.
        """
        if not 1 <= rank <= self.hidden:
            raise SpecError(
                f"LoRA's rank={rank}: need at least 1, and at most the hidden size of {self.name},"
                f" {self.hidden}"
            )
        return rank * self.adapted

    def transient_bytes(self, param_bytes: int = 2) -> int:
        """Return the bytes of two gathered units: one at work, and the next one on its way."""
        return 2 * param_bytes * self.largest_unit


@dataclass(frozen=True, kw_only=True, slots=True)
class Llama:
    """A shape of the first LLaMA: norms apart, all its parameters are in matrices."""

    hidden: int
    """d."""
    ffn: int
    """f."""
    blocks: int
    vocab: int = 32000
    """V."""

    @property
    def linears(self) -> tuple[tuple[int, int], ...]:
        """Inputs and outputs of each linear layer of a block."""
        d, f = self.hidden, self.ffn
        return ((d, d),) * 4 + ((d, f), (d, f), (f, d))

    @property
    def block_params(self) -> int:
        return sum(rows * columns for rows, columns in self.linears) + 2 * self.hidden

    def model(self, name: str) -> Model:
        """Return its parameters: blocks, embedding, head and last norm."""
        embedding = self.vocab * self.hidden
        in_blocks = self.blocks * sum(rows + columns for rows, columns in self.linears)
        return Model(
            name=name,
            num_params=self.blocks * self.block_params + 2 * embedding + self.hidden,
            largest_unit=max(self.block_params, embedding),
            hidden=self.hidden,
            adapted=in_blocks + self.hidden + self.vocab,
        )


LLAMA: dict[str, Llama] = {
    "llama-7b": Llama(hidden=4096, ffn=11008, blocks=32),
    "llama-13b": Llama(hidden=5120, ffn=13760, blocks=40),
    "llama-30b": Llama(hidden=6656, ffn=17888, blocks=60),
    "llama-65b": Llama(hidden=8192, ffn=22016, blocks=80),
}
"""As the released code has them; its feed-forward sizes of 13B and 30B are not Meta's."""


def load_model(where: str) -> Model:
    """Return a model by LLaMA's name, or by a local folder or file of Hugging Face's config.

    Raises SpecError for anything else, and for a config that does not say how large it is.
    """
    if where in LLAMA:
        return LLAMA[where].model(where)
    path = config_file(where)
    if path is None:
        raise SpecError(
            f"no model {where!r}: need a folder with a {CONFIG}, such a file, or one of"
            f" {', '.join(LLAMA)}{nearest(where.lower(), LLAMA)}"
        )
    told = read_config(path)
    return counted(path.parent.name or str(path), config_of(told, path))


def config_file(where: str) -> Path | None:
    """Return the file of a config, where there is one by that name of it or of its folder."""
    try:
        path = Path(where).expanduser()
        path = path / CONFIG if path.is_dir() else path
        return path if path.is_file() else None
    except (OSError, RuntimeError):  # a name too long, or the home of nobody
        return None


def read_config(path: Path) -> dict[str, Any]:
    """Return what a config.json says. Raises SpecError where it is none of a model."""
    try:
        told = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise SpecError(f"{path} is no JSON that can be read: {error}") from error
    if not isinstance(told, dict) or not isinstance(told.get("model_type"), str):
        raise SpecError(f"{path} has no model_type: need the config of a Hugging Face model")
    return told


def config_of(told: dict[str, Any], path: Path) -> PreTrainedConfig:
    """Return transformers' config. Raises SpecError for an unknown type, or where a size lacks."""
    from transformers import CONFIG_MAPPING

    name = told["model_type"]
    if name not in CONFIG_MAPPING:
        raise SpecError(
            f"{path}: transformers knows no model_type {name!r}{nearest(name, CONFIG_MAPPING)}"
        )
    parts = dict(parts_of(told))
    lacks = [problem for where, part in parts.items() if (problem := lacking(where, part))]
    # A part of no hidden size is not the one of text, which is known by its vocabulary.
    is_text = hasattr(CONFIG_MAPPING[name]().get_text_config(), "vocab_size")
    sized = [part for part in parts.values() if says(part, SIZES[0])]
    if not [part for part in sized if has(part, "vocab_size") or not is_text]:
        lacks = [f"has no {written_as(told, 'hidden_size')}{' of text' * (len(parts) > 1)}"]
    if lacks:
        raise SpecError(f"{path} {'; '.join(lacks)}: the model's size is not known without that")
    try:
        config = CONFIG_MAPPING[name].from_dict(told)
    except Exception as error:
        raise SpecError(f"{path} is no config of {name}: {' '.join(str(error).split())}") from error
    check_sizes(config, path)
    return config


SIZES = ("hidden_size", "num_hidden_layers", "vocab_size")
"""What a size follows from. A class has values of its own where a config is silent, which are not
those of the model."""
MOST_LAYERS = 10_000
"""Blocks are built one by one: more are a slip that would take hours."""


def parts_of(told: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield a config, and those of its parts, as models of text and images have them, by name."""
    from transformers import CONFIG_MAPPING

    yield "", told
    for name, part in told.items():
        if isinstance(part, dict) and part.get("model_type") in [*CONFIG_MAPPING]:
            yield name, part


def written_as(part: dict[str, Any], size: str) -> str:
    """Return how a type of model calls a size: GPT-2's hidden_size is n_embd."""
    from transformers import CONFIG_MAPPING

    return str(CONFIG_MAPPING[part["model_type"]].attribute_map.get(size, size))


def says(part: dict[str, Any], size: str) -> bool:
    """Return whether a part says a size, by either of its names."""
    return any(part.get(name) is not None for name in (size, written_as(part, size)))


def has(part: dict[str, Any], size: str) -> bool:
    """Return whether a part's type of model has a size."""
    from transformers import CONFIG_MAPPING

    return hasattr(CONFIG_MAPPING[part["model_type"]](), size)


def lacking(where: str, part: dict[str, Any]) -> str:
    """Return which sizes a part does not say that its type has; without the first it has none."""
    if not says(part, SIZES[0]):
        return ""
    names = [written_as(part, size) for size in SIZES if has(part, size) and not says(part, size)]
    inside = f"in its {where} " if where else ""
    return f"has {inside}no {' and no '.join(names)}" if names else ""


def check_sizes(config: PreTrainedConfig, path: Path) -> None:
    """Raise SpecError for sizes of a text part that are no whole numbers, or absurd."""
    text = config.get_text_config()
    for size in SIZES:
        value = getattr(text, size, 1)
        most = MOST_LAYERS if size == "num_hidden_layers" else MOST
        if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= most:
            raise SpecError(f"{path}: {size}={value!r}: need a whole number from 1 to {most:,}")


def counted(name: str, config: PreTrainedConfig) -> Model:
    """Return a model's parameters, counted on the meta device."""
    import torch

    from reproductions.nets.named_class import class_of

    try:
        with torch.device("meta"):
            net = class_of(config)(config)
    except Exception as error:
        said = " ".join(str(error).split())
        raise SpecError(f"transformers builds no model of {name}'s config: {said}") from error
    net.tie_weights()
    return Model(
        name=name,
        num_params=sum(each.numel() for each in net.parameters()),
        largest_unit=max(sum(each.numel() for each in unit) for unit in units_of(net)),
        hidden=config.get_text_config().hidden_size,
        adapted=sum(sum(weight.shape) for weight in linear_weights(net)),
    )


def units_of(net: nn.Module) -> Iterator[list[nn.Parameter]]:
    """Yield the parameters of each block of an outermost list, and of each module beside them."""
    from torch import nn

    own = list(net.parameters(recurse=False))
    if own:
        yield own
    for child in net.children():
        if isinstance(child, nn.ModuleList):
            yield from (list(block.parameters()) for block in child)
        else:
            yield from units_of(child)


def linear_weights(net: nn.Module) -> Iterator[Tensor]:
    """Yield the weights of linear layers, of shape (outputs, inputs) or (inputs, outputs).

    GPT-2's are of another class; experts of a layer are one tensor, with an axis more.
    """
    from torch import nn
    from transformers.pytorch_utils import Conv1D

    for module in net.modules():
        if isinstance(module, nn.Linear | Conv1D):
            yield module.weight
        elif type(module).__name__.endswith("Experts"):
            for stacked in module.parameters(recurse=False):
                yield from stacked if stacked.ndim == 3 else ()
