"""The bundled text: byte-identical, of one derivation each, its entropy as computed."""

from __future__ import annotations

import hashlib
import math
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache

import pytest

from harness.data.bundled import grammar_text
from harness.data.grammar import Grammar
from harness.data.grammar_text import generate_text, grammar

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


def test_recursion_gives_the_geometric_distribution() -> None:
    chain = Grammar({"S": ((1, "A . <space>"),), "A": ((1, "end"), (1, "very A"))})
    # k times "very" has probability 2^-(k+1): entropy 2 ln 2, one "very" expected.
    assert chain.entropy_per_sentence == pytest.approx(2 * math.log(2), rel=1e-12)
    assert chain.chars_per_sentence == pytest.approx(len("very ") + len("end. "), rel=1e-12)


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


def test_lengths_meet_the_closed_form() -> None:
    rng = random.Random(123)
    lengths = [len(grammar().sentence(rng)) for _ in range(4000)]
    error = statistics.stdev(lengths) / math.sqrt(len(lengths))
    assert abs(statistics.fmean(lengths) - grammar().chars_per_sentence) < 4 * error


@pytest.mark.parametrize("order", [1, 2, 3, 4, 5])
def test_ngram_models_stay_above_the_floor(order: int) -> None:
    """Held-out cross-entropy of character n-grams, add-one smoothing."""
    train = generate_text(min_chars=200_000, seed=1)
    held_out = generate_text(min_chars=50_000, seed=2)
    alphabet = len(set(train) | set(held_out))
    history = order - 1
    grams = Counter(train[i : i + order] for i in range(len(train) - history))
    contexts = Counter(train[i : i + history] for i in range(len(train) - history))
    losses = [
        -math.log(
            (grams[held_out[i - history : i + 1]] + 1)
            / (contexts[held_out[i - history : i]] + alphabet)
        )
        for i in range(history, len(held_out))
    ]
    loss = statistics.fmean(losses)
    assert loss > grammar().entropy_per_char
    # A floor far below what is easily reached would be no test of a model.
    assert order < 5 or loss < 2 * grammar().entropy_per_char


def test_text_is_the_same_in_a_fresh_process_with_another_hash_seed() -> None:
    code = (
        "import hashlib; from harness.data.bundled import grammar_text;"
        "print(hashlib.sha256(grammar_text().encode()).hexdigest())"
    )
    env = {"PYTHONHASHSEED": "99", "PATH": ""}
    out = subprocess.run(
        [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == hashlib.sha256(grammar_text().encode()).hexdigest()


def test_bundled_text_has_the_promised_size() -> None:
    text = grammar_text()
    assert 200_000 <= len(text) <= 300_000
    assert text.isascii()
    assert text.startswith(generate_text(min_chars=1000, seed=0))
    assert generate_text(min_chars=1000, seed=1) != generate_text(min_chars=1000, seed=0)
