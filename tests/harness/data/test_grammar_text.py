"""The bundled text: byte-identical, read back without doubt, its entropy as computed."""

from __future__ import annotations

import hashlib
import math
import random
import statistics
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator

import pytest

from harness.data.bundled import grammar_text
from harness.data.grammar import Grammar
from harness.data.grammar_text import (
    entropy_per_char,
    generate_sentences,
    generate_text,
    grammar,
    log_probability,
)
from harness.errors import SpecError

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
    for old, new in (
        (" .", "."),
        (" ?", "?"),
        (" ,", ","),
        (" <space>", " "),
        (" <newline>", "\n"),
    ):
        text = text.replace(old, new)
    return text[0].upper() + text[1:]


def test_closed_form_equals_enumeration_on_a_small_grammar() -> None:
    found = [(p, spell(words)) for p, words in enumerate_sentences(SMALL, ["S"])]
    assert len({text for _, text in found}) == len(found) == 20
    assert math.fsum(p for p, _ in found) == pytest.approx(1.0, rel=1e-12)
    entropy = -math.fsum(p * math.log(p) for p, _ in found)
    length = math.fsum(p * len(text) for p, text in found)
    assert SMALL.entropy_per_sentence == pytest.approx(entropy, rel=1e-12)
    assert float(SMALL.chars_per_sentence) == pytest.approx(length, rel=1e-12)
    for p, text in found:
        assert SMALL.log_probability(text) == pytest.approx(math.log(p), rel=1e-12)


def test_recursion_gives_the_geometric_distribution() -> None:
    chain = Grammar({"S": ((1, "A . <space>"),), "A": ((1, "end"), (1, "very A"))})
    # k times "very" has probability 2^-(k+1): entropy 2 ln 2, one "very" expected.
    assert chain.entropy_per_sentence == pytest.approx(2 * math.log(2), rel=1e-12)
    assert chain.chars_per_sentence == len("very ") + len("end. ")


@pytest.mark.parametrize(
    ("rules", "reason"),
    [
        ({"S": ((1, "a . <space>"), (1, "a a . <space>"))}, "two choices may begin with 'a'"),
        ({"S": ((1, "A a . <space>"),), "A": ((1, ""), (1, "a"))}, "may begin with 'a'"),
        ({"S": ((1, "B . <space>"),)}, "unknown rules"),
        ({"S": ((0, "a . <space>"),)}, "weight 0"),
        ({"S": ((1, "A . <space>"),), "A": ((1, "end"), (2, "and A A"))}, "not finite"),
    ],
)
def test_a_grammar_in_doubt_or_without_end_is_refused(rules: dict, reason: str) -> None:
    with pytest.raises(SpecError, match=reason):
        Grammar(rules)


def test_every_choice_is_read_back_from_the_text() -> None:
    rng = random.Random(7)
    sentences = [grammar().sample(rng) for _ in range(2000)]
    parsed = grammar().parse("".join(sentence.text for sentence in sentences))
    assert parsed == sentences
    used = {choice for sentence in sentences for choice in sentence.choices}
    every = {(name, i) for name, c in grammar().rules.items() for i in range(len(c))}
    assert len(every - used) < 0.02 * len(every), sorted(every - used)


def test_capitals_do_not_make_two_words_alike() -> None:
    words = grammar().words
    capitals = Counter(word[0].upper() + word[1:] for word in words)
    assert max(capitals.values()) == 1, capitals.most_common(3)
    assert sum(word.isalpha() for word in words) >= 100


def test_oracle_surprisal_meets_the_closed_form() -> None:
    sentences = generate_sentences(4000, seed=123)
    surprisal = [-log_probability(sentence) for sentence in sentences]
    lengths = [len(sentence) for sentence in sentences]
    for sample, expected in (
        (surprisal, grammar().entropy_per_sentence),
        (lengths, float(grammar().chars_per_sentence)),
    ):
        error = statistics.stdev(sample) / math.sqrt(len(sample))
        assert abs(statistics.fmean(sample) - expected) < 4 * error
    # The delta method gives the standard error of a ratio of means.
    rate = entropy_per_char()
    residuals = [s - rate * n for s, n in zip(surprisal, lengths, strict=True)]
    error = statistics.stdev(residuals) / math.sqrt(len(residuals)) / statistics.fmean(lengths)
    assert error < 0.01 * rate
    assert abs(sum(surprisal) / sum(lengths) - rate) < 4 * error


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
    assert loss > entropy_per_char()
    # A floor far below what is easily reached would be no test of a model.
    assert order < 5 or loss < 2 * entropy_per_char()


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


def test_bundled_text_has_the_promised_size_and_whole_sentences() -> None:
    text = grammar_text()
    assert 200_000 <= len(text) <= 300_000
    assert text.isascii()
    assert math.isfinite(log_probability(text))
    assert (
        generate_text(min_chars=1000, seed=0) == text[: len(generate_text(min_chars=1000, seed=0))]
    )
    assert generate_text(min_chars=1000, seed=1) != generate_text(min_chars=1000, seed=0)


@pytest.mark.parametrize(
    "change",
    [
        lambda text: text.replace(" ", "  ", 1),
        lambda text: text.lower(),
        lambda text: text[:-1],
        lambda text: text + "The",
        lambda text: text.replace(".", " .", 1),
        lambda text: "\u00e9" + text,
    ],
)
def test_text_outside_the_language_has_probability_zero(change) -> None:  # type: ignore[no-untyped-def]
    text = "The baker sleeps. "
    assert math.isfinite(log_probability(text))
    assert log_probability(change(text)) == -math.inf
