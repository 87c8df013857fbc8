"""English-like text from a small seeded grammar of our own, its entropy known exactly.

For anyone without data: byte-identical everywhere, and no language model's expected loss on
unseen text can lie below `grammar().entropy_per_char`.
"""

from __future__ import annotations

import random
from functools import cache

from harness.data.grammar import Choice, Grammar, Rules

# Nouns and adjectives begin with a consonant, so that "a" is always right.
NOUNS = """river baker garden horse letter window soldier mountain boat child teacher lamp doctor
 kitchen sailor forest king bridge painter market tower dog farmer road singer castle cat
 mirror neighbour wagon shepherd table queen candle village lawyer bird clock miller stone
 hunter door poet ship widow field tailor church wolf basket"""
ADJECTIVES = """little good young dark quiet strong bright cold proud clever gentle broken strange
 happy tired famous pale heavy wise careful narrow silver hungry rich poor noble plain merry"""
NAMES = "Anna Thomas Clara Peter Marian Walter Julia Henry"
TRANSITIVE = """sees finds likes follows paints carries remembers watches calls leaves helps fears
 visits sells hears guards"""
INTRANSITIVE = "sleeps waits laughs sings works falls dreams listens returns dances"
SAYING = "says thinks knows believes hopes"
ADVERBS = "slowly often quietly again gladly alone never there softly today"
PREPOSITIONS = "in near behind under with beside from over"

STRUCTURE: Rules = {
    "SENTENCE": (
        (12, "STATEMENT TAIL BREAK"),
        (2, "FRONT , STATEMENT TAIL BREAK"),
        (1, "does SUBJECTONE VERBMANY ? BREAK"),
        (1, "do SUBJECTMANY VERBMANY ? BREAK"),
    ),
    "TAIL": (
        (12, "."),
        (3, ", LINK STATEMENT ."),
        (1, "because STATEMENT ."),
        (1, "!"),
    ),
    "LINK": ((3, "and"), (2, "but"), (1, "so")),
    "FRONT": ((2, "sometimes"), (2, "now"), (1, "yesterday"), (1, "later")),
    "STATEMENT": ((5, "SUBJECTONE PREDICATEONE"), (3, "SUBJECTMANY PREDICATEMANY")),
    "SUBJECTONE": (
        (8, "ARTICLEONE NOUNONE RELATIVEONE"),
        (3, "NAME"),
        (1, "he"),
        (1, "she"),
    ),
    "SUBJECTMANY": ((5, "ARTICLEMANY NOUNMANY RELATIVEMANY"), (1, "they"), (1, "we")),
    "ARTICLEONE": ((8, "the"), (4, "a"), (1, "every"), (1, "this")),
    "ARTICLEMANY": ((3, "some"), (2, "all"), (2, "many"), (2, "two"), (1, "those")),
    "NOUNONE": ((3, "BARENOUNONE"), (1, "ADJECTIVE NOUNONE")),
    "NOUNMANY": ((3, "BARENOUNMANY"), (1, "ADJECTIVE NOUNMANY")),
    "RELATIVEONE": ((9, ""), (1, "that VERBONE")),
    "RELATIVEMANY": ((9, ""), (1, "that VERBMANY")),
    "PREDICATEONE": ((7, "VERBONE"), (2, "is ADJECTIVE"), (1, "SAYSONE that STATEMENT")),
    "PREDICATEMANY": ((7, "VERBMANY"), (2, "are ADJECTIVE"), (1, "SAYSMANY that STATEMENT")),
    "VERBONE": ((3, "TRANSITIVEONE OBJECT PLACE"), (2, "INTRANSITIVEONE PLACE")),
    "VERBMANY": ((3, "TRANSITIVEMANY OBJECT PLACE"), (2, "INTRANSITIVEMANY PLACE")),
    "OBJECT": (
        (8, "ARTICLEONE NOUNONE"),
        (3, "ARTICLEMANY NOUNMANY"),
        (2, "NAME"),
        (1, "him"),
        (1, "her"),
        (1, "them"),
    ),
    "PLACE": ((6, ""), (1, "ADVERB"), (3, "PREPOSITION ARTICLEONE NOUNONE PLACE")),
    "BREAK": ((4, "<space>"), (1, "<newline>")),
}


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
    """Return the grammar of the bundled text."""
    return Grammar({**STRUCTURE, **_vocabulary()})


def _vocabulary() -> Rules:
    return {
        "BARENOUNONE": _by_rank(NOUNS.split()),
        "BARENOUNMANY": _by_rank([_plural(noun) for noun in NOUNS.split()]),
        "ADJECTIVE": _by_rank(ADJECTIVES.split()),
        "NAME": _by_rank(NAMES.split()),
        "TRANSITIVEONE": _by_rank(TRANSITIVE.split()),
        "TRANSITIVEMANY": _by_rank([_base(verb) for verb in TRANSITIVE.split()]),
        "INTRANSITIVEONE": _by_rank(INTRANSITIVE.split()),
        "INTRANSITIVEMANY": _by_rank([_base(verb) for verb in INTRANSITIVE.split()]),
        "SAYSONE": _by_rank(SAYING.split()),
        "SAYSMANY": _by_rank([_base(verb) for verb in SAYING.split()]),
        "ADVERB": _by_rank(ADVERBS.split()),
        "PREPOSITION": _by_rank(PREPOSITIONS.split()),
    }


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
