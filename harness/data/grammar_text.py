"""English-like text from a small seeded grammar of our own, its entropy known exactly.

For anyone without data: byte-identical everywhere, and no language model's expected loss on
unseen text can lie below `grammar().entropy_per_char`.
"""

from __future__ import annotations

import random
from functools import cache
from pathlib import Path

from harness.data.grammar import Choice, Grammar
from harness.untrusted import read_toml


def generate_text(*, min_chars: int, seed: int) -> str:
    """Return whole sentences of at least `min_chars` characters in all, the same everywhere.

    No language model's expected loss on it lies below `grammar().entropy_per_char`, in nats. The
    only source is `random.Random(seed).random()`, whose values Python guarantees.

    >>> round(grammar().entropy_per_char, 6)
    0.589561
    """
    rng = random.Random(seed)
    parts: list[str] = []
    num_chars = 0
    while num_chars < min_chars:
        parts.append(grammar().sentence(rng))
        num_chars += len(parts[-1])
    return "".join(parts)


@cache
def grammar() -> Grammar:
    """Return the grammar of the bundled text: the rules of `grammar.toml`, and its words."""
    found = read_toml(Path(__file__).with_name("grammar.toml"))
    words = {name: text.split() for name, text in found["words"].items()}
    rules = {name: tuple(map(tuple, choices)) for name, choices in found["rules"].items()}
    lists = {
        "BARENOUNONE": words["nouns"],
        "BARENOUNMANY": [_plural(noun) for noun in words["nouns"]],
        "ADJECTIVE": words["adjectives"],
        "NAME": words["names"],
        "TRANSITIVEONE": words["transitive"],
        "TRANSITIVEMANY": [_base(verb) for verb in words["transitive"]],
        "INTRANSITIVEONE": words["intransitive"],
        "INTRANSITIVEMANY": [_base(verb) for verb in words["intransitive"]],
        "SAYSONE": words["saying"],
        "SAYSMANY": [_base(verb) for verb in words["saying"]],
        "ADVERB": words["adverbs"],
        "PREPOSITION": words["prepositions"],
    }
    return Grammar({**rules, **{name: _by_rank(each) for name, each in lists.items()}})


def _by_rank(words: list[str]) -> tuple[Choice, ...]:
    """Weight words as Zipf's law does: in inverse proportion to the rank, in integers."""
    return tuple((240 // (rank + 4), word) for rank, word in enumerate(words))


def _plural(noun: str) -> str:
    irregular = {"child": "children", "wolf": "wolves", "church": "churches"}
    return irregular.get(noun, f"{noun}s")


def _base(verb: str) -> str:
    """Return the verb as it follows "they".

    >>> [_base(verb) for verb in ("sees", "carries", "watches")]
    ['see', 'carry', 'watch']
    """
    if verb.endswith("ies"):
        return f"{verb[:-3]}y"
    return verb[:-2] if verb.endswith("ches") else verb[:-1]
