"""English-like text from a small seeded grammar of our own, for anyone without data.

A grammar is a table of rules, each chosen between by one random draw. The same seed gives the same
bytes everywhere.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path

from harness.untrusted import read_toml

Choices = tuple[list[int], list[list[str]]]
"""Integer weights, and for each the words and rule names (in capitals) that follow."""

# Written as words in the rules, because blanks separate words there.
BREAKS = {"<space>": " ", "<newline>": "\n"}
_GLUED = frozenset({",", ".", "?", "!", *BREAKS})


def generate_text(*, min_chars: int, seed: int) -> str:
    """Return whole sentences of at least `min_chars` characters in all, the same everywhere.

    >>> generate_text(min_chars=1, seed=0)
    'Yesterday, the castle sells some clever clocks beside every dog with the mountain softly! '
    """
    rng = random.Random(seed)
    rules = _rules()
    parts: list[str] = []
    num_chars = 0
    while num_chars < min_chars:
        parts.append(_sentence(rules, rng))
        num_chars += len(parts[-1])
    return "".join(parts)


def _sentence(rules: Mapping[str, Choices], rng: random.Random) -> str:
    """Draw a sentence with the blank or line end after it."""
    parts: list[str] = []
    stack = [next(iter(rules))]
    while stack:
        symbol = stack.pop()
        if symbol in rules:
            weights, expansions = rules[symbol]
            stack.extend(reversed(rng.choices(expansions, weights)[0]))
            continue
        if symbol not in _GLUED and parts:
            parts.append(" ")
        parts.append(BREAKS.get(symbol, symbol))
    text = "".join(parts)
    return text[0].upper() + text[1:]


def _rules() -> dict[str, Choices]:
    """Return the rules of `grammar.toml`, the start rule first, and those of its words."""
    found = read_toml(Path(__file__).with_name("grammar.toml"))
    words = {name: text.split() for name, text in found["words"].items()}
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
    rules = found["rules"] | {name: _by_rank(each) for name, each in lists.items()}
    return {
        name: ([weight for weight, _ in choices], [symbols.split() for _, symbols in choices])
        for name, choices in rules.items()
    }


def _by_rank(words: list[str]) -> list[tuple[int, str]]:
    """Weight words as Zipf's law does: in inverse proportion to the rank, in integers."""
    return [(240 // (rank + 4), word) for rank, word in enumerate(words)]


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
