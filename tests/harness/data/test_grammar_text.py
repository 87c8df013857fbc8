"""The bundled text: byte-identical, of one derivation each, its entropy as computed."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from functools import cache

import pytest

from harness.data.bundled import grammar_text
from harness.data.grammar_text import Grammar, generate_text, grammar

SMALL = Grammar(
    {
        "S": ((3, "SUBJECT sleeps . B"), (1, "does SUBJECT sleep ? B")),
        "SUBJECT": ((2, "ARTICLE cat"), (1, "Anna"), (1, "two cats TAIL")),
        "ARTICLE": ((5, "the"), (1, "a")),
        "TAIL": ((4, ""), (1, "from here")),
        "B": ((4, "<space>"), (1, "<newline>")),
    }
)


def enumerate_sentences(rules: Grammar, stack: list[str]) -> Iterator[tuple[float, list[str]]]:
    """Yield every derivation's probability and words, by brute force."""
    if not stack:
        yield 1.0, []
        return
    head, *rest = stack
    if head not in rules.rules:
        for p, words in enumerate_sentences(rules, rest):
            yield p, [head, *words]
        return
    total = sum(weight for weight, _ in rules.rules[head])
    for weight, symbols in rules.rules[head]:
        for p, words in enumerate_sentences(rules, [*symbols.split(), *rest]):
            yield weight / total * p, words


def spell(words: list[str]) -> str:
    text = " ".join(words)
    for old, new in ((" .", "."), (" ?", "?"), (" <space>", " "), (" <newline>", "\n")):
        text = text.replace(old, new)
    return text


def test_closed_form_equals_enumeration_on_a_small_grammar() -> None:
    found = [(p, spell(words)) for p, words in enumerate_sentences(SMALL, ["S"])]
    assert len({text for _, text in found}) == len(found) == 20
    entropy = -math.fsum(p * math.log(p) for p, _ in found)
    length = math.fsum(p * len(text) for p, text in found)
    assert SMALL.entropy_per_sentence == pytest.approx(entropy, rel=1e-12)
    assert SMALL.chars_per_sentence == pytest.approx(length, rel=1e-12)


def test_every_sentence_has_one_derivation() -> None:
    """Else the entropy of derivations would be more than that of the text."""
    rules, rng = grammar().rules, random.Random(7)
    for _ in range(300):
        words = grammar().draw(rng)

        @cache
        def num_ways(stack: tuple[str, ...], start: int, words: list[str] = words) -> int:
            if not stack:
                return start == len(words)
            head, *rest = stack
            if head in rules:
                each = ((*symbols.split(), *rest) for _, symbols in rules[head])
                return sum(num_ways(inner, start) for inner in each)
            return start < len(words) and words[start] == head and num_ways((*rest,), start + 1)

        assert num_ways((grammar().start,), 0) == 1


def test_bundled_text_has_the_promised_size() -> None:
    text = grammar_text()
    assert 200_000 <= len(text) <= 300_000
    assert text.isascii()
    assert text.startswith(generate_text(min_chars=1000, seed=0))
    assert generate_text(min_chars=1000, seed=1) != generate_text(min_chars=1000, seed=0)
