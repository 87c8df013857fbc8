"""How a staged data set is made from its upstream's own files: one pure function a rule."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness.data.rules import images, models, records
from harness.data.rules.files import Files

Rule = Callable[[Files], Any]
"""Returns str for text, a list of dicts for records, arrays by name for arrays and tensors, and
the file's bytes for json and gguf."""

RULES: dict[str, Rule] = {
    f"{rule.__module__.rsplit('.', 1)[1]}:{rule.__name__}": rule
    for rule in (
        records.text, records.unchanged, records.bible, records.alpaca_shards,
        records.squad_articles, records.squad_single, records.pubmedqa, records.agieval,
        records.mmlu, records.winogrande, records.split_choices, records.true_or_false,
        records.piqa,
        images.mnist, images.cifar10_first, images.cifar10_more, images.cifar100,
        models.gguf, models.resnet, models.llama2c_config, models.llama2c_weights,
        models.llama2c_tokenizer, models.sentencepiece_tokenizer,
    )
}  # fmt: skip
"""All that a catalogue may name: one that is not ours runs no code."""
