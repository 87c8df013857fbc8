"""Random grammars whose sentences are read back without doubt, and whose entropy is known.

A grammar is a table of rules. Every rule is chosen between by one random draw, and no two
choices of a rule may begin with the same word (LL(1)), so the first word that is not yet
explained tells the choice: text and derivation determine each other. Hence the entropy of a
sentence is the entropy of its choices, a sum over rules of (expected number of visits) times
(entropy of one choice), and the expected length is a sum of the same form.
"""

from __future__ import annotations

import math
import random
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from harness.errors import SpecError

Choice = tuple[int, str]
"""Integer weight and the words and rule names (in capitals) that follow, with blanks between."""
Rules = Mapping[str, tuple[Choice, ...]]

# Written as words in the rules, because blanks separate words there.
BREAKS = {"<space>": " ", "<newline>": "\n"}
_GLUED = frozenset({",", ".", "?", "!", *BREAKS})
_TOKEN = re.compile(r"[A-Za-z]+|[,.?!]|(?<=[.?!])[ \n]")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence and the choices that made it, leftmost first."""

    text: str
    choices: tuple[tuple[str, int], ...]


@dataclass(frozen=True, eq=False)
class Grammar:
    """Rules by name, the start rule first. Names are in capitals, everything else is a word.

    Every sentence must end with one of the words `<space>` and `<newline>`. Raises SpecError
    if two choices of a rule may begin alike, a rule is missing, or sentences never end.
    """

    rules: Rules

    def __post_init__(self) -> None:
        for name, choices in self.rules.items():
            for weight, symbols in choices:
                missing = [s for s in symbols.split() if s.isupper() and s not in self.rules]
                if weight < 1 or missing:
                    raise SpecError(f"rule {name}: weight {weight} or unknown rules {missing}")
        _ = self._table, self.visits

    @property
    def start(self) -> str:
        return next(iter(self.rules))

    @property
    def words(self) -> set[str]:
        """All words, punctuation and breaks."""
        symbols = {
            s for choices in self.rules.values() for _, text in choices for s in text.split()
        }
        return symbols - set(self.rules)

    def sample(self, rng: random.Random) -> Sentence:
        """Draw one sentence; `rng.random()` is the only source, the same on every platform."""
        tokens: list[str] = []
        choices: list[tuple[str, int]] = []
        stack = [self.start]
        draw, rules = rng.random, self._compiled
        while stack:
            symbol = stack.pop()
            rule = rules.get(symbol)
            if rule is None:
                tokens.append(symbol)
                continue
            cumulative, expansions = rule
            index = bisect_right(cumulative, int(draw() * cumulative[-1]))
            choices.append((symbol, index))
            stack.extend(expansions[index])
        return Sentence(_render(tokens), tuple(choices))

    def parse(self, text: str) -> list[Sentence] | None:
        """Return the sentences of a text with their choices, or None if it is not ours."""
        tokens = list(self._tokens(text))
        sentences: list[Sentence] = []
        position = 0
        while position < len(tokens):
            begin, choices, stack = position, [], [self.start]
            while stack:
                symbol = stack.pop()
                token = tokens[position] if position < len(tokens) else ""
                if symbol not in self.rules:
                    if token != symbol:
                        return None
                    position += 1
                    continue
                index = self._table[symbol].get(token)
                if index is None:
                    return None
                choices.append((symbol, index))
                stack.extend(self._compiled[symbol][1][index])
            sentences.append(Sentence(_render(tokens[begin:position]), tuple(choices)))
        # Rendering again catches a blank or a capital that does not belong there.
        return sentences if "".join(s.text for s in sentences) == text else None

    def log_probability(self, text: str) -> float:
        """Return the log-probability in nats of a text of whole sentences; -inf if not ours."""
        sentences = self.parse(text)
        if sentences is None:
            return -math.inf
        return math.fsum(self._log_p[rule][i] for s in sentences for rule, i in s.choices)

    @cached_property
    def visits(self) -> dict[str, Fraction]:
        """Expected number of times a sentence visits each rule, exactly.

        Solves v = e_start + M^T v, where M[a][b] is the expected number of b in one choice of
        a. Raises SpecError if the grammar branches so much that sentences may never end.
        """
        names = list(self.rules)
        index = {name: i for i, name in enumerate(names)}
        matrix = [[Fraction(int(i == j)) for j in range(len(names))] for i in range(len(names))]
        for name, symbol, share in self._occurrences():
            if symbol in index:
                matrix[index[symbol]][index[name]] -= share
        solution = _solve(matrix, [Fraction(int(name == self.start)) for name in names])
        if solution is None or min(solution) <= 0:
            raise SpecError(
                f"rule {self.start}: sentences are not finite, or a rule is never reached"
            )
        return dict(zip(names, solution, strict=True))

    @property
    def entropy_per_sentence(self) -> float:
        """Nats: the sum over rules of expected visits times the entropy of one choice."""
        return math.fsum(
            float(self.visits[name] * Fraction(weight, total)) * -math.log(weight / total)
            for name, choices in self.rules.items()
            if (total := sum(w for w, _ in choices))
            for weight, _ in choices
        )

    @property
    def chars_per_sentence(self) -> Fraction:
        """Expected characters of a sentence with the break after it, exactly."""
        parts = (
            self.visits[name] * share * _num_chars(symbol)
            for name, symbol, share in self._occurrences()
            if symbol not in self.rules
        )
        chars = sum(parts, Fraction(0))
        return chars - 1  # no blank before the first word

    @property
    def entropy_per_char(self) -> float:
        """Nats per character of an endless text (renewal theorem: ratio of expectations)."""
        return self.entropy_per_sentence / float(self.chars_per_sentence)

    def _occurrences(self) -> Iterator[tuple[str, str, Fraction]]:
        """Yield (rule, symbol, probability of the choice) for each symbol of each choice."""
        for name, choices in self.rules.items():
            total = sum(weight for weight, _ in choices)
            for weight, symbols in choices:
                for symbol in symbols.split():
                    yield name, symbol, Fraction(weight, total)

    @cached_property
    def _compiled(self) -> dict[str, tuple[list[int], list[list[str]]]]:
        """Per rule: cumulative weights, and the choices reversed for a stack."""
        return {
            name: (
                list(accumulate(weight for weight, _ in choices)),
                [symbols.split()[::-1] for _, symbols in choices],
            )
            for name, choices in self.rules.items()
        }

    @cached_property
    def _log_p(self) -> dict[str, list[float]]:
        return {
            name: [math.log(weight / sum(w for w, _ in choices)) for weight, _ in choices]
            for name, choices in self.rules.items()
        }

    @cached_property
    def _table(self) -> dict[str, dict[str, int]]:
        """Per rule: the choice that a next word tells."""
        first, follow = self._first_sets(), self._follow_sets()
        table: dict[str, dict[str, int]] = {}
        for name, choices in self.rules.items():
            table[name] = {}
            for index, (_, symbols) in enumerate(choices):
                starts = _first_of(symbols.split(), first)
                words = (starts - {""}) | (follow[name] if "" in starts else set())
                for word in sorted(words):
                    if word in table[name]:
                        raise SpecError(f"rule {name}: two choices may begin with {word!r}")
                    table[name][word] = index
        return table

    def _first_sets(self) -> dict[str, set[str]]:
        """Per symbol the words it may begin with; the empty word if it may be empty."""
        first: dict[str, set[str]] = {word: {word} for word in self.words}
        first.update({name: set() for name in self.rules})
        grown = True
        while grown:
            grown = False
            for name, choices in self.rules.items():
                for _, symbols in choices:
                    starts = _first_of(symbols.split(), first)
                    grown = grown or not starts <= first[name]
                    first[name] |= starts
        return first

    def _follow_sets(self) -> dict[str, set[str]]:
        """Per rule the words that may come after it; a sentence is followed by nothing."""
        first = self._first_sets()
        follow: dict[str, set[str]] = {name: set() for name in self.rules}
        grown = True
        while grown:
            grown = False
            for name, choices in self.rules.items():
                for symbols in (text.split() for _, text in choices):
                    for i, symbol in enumerate(symbols):
                        rest = _first_of(symbols[i + 1 :], first)
                        after = (rest - {""}) | (follow[name] if "" in rest else set())
                        if symbol in follow and not after <= follow[symbol]:
                            follow[symbol] |= after
                            grown = True
        return follow

    def _tokens(self, text: str) -> Iterator[str]:
        """Yield the words of a text; the first of a sentence without its capital."""
        words, starts = self.words, True
        breaks = {char: word for word, char in BREAKS.items()}
        for found in _TOKEN.findall(text):
            token = breaks.get(found, found)
            lowered = token[0].lower() + token[1:]
            yield lowered if starts and token not in words else token
            starts = token in BREAKS


def _first_of(symbols: list[str], first: Mapping[str, set[str]]) -> set[str]:
    found: set[str] = set()
    for symbol in symbols:
        found |= first[symbol] - {""}
        if "" not in first[symbol]:
            return found
    return found | {""}


def _num_chars(word: str) -> int:
    """Return how many characters a word adds to a sentence, the blank before it included."""
    return len(BREAKS.get(word, word)) + (word not in _GLUED)


def _render(tokens: list[str]) -> str:
    parts: list[str] = []
    for token in tokens:
        if token not in _GLUED and parts:
            parts.append(" ")
        parts.append(BREAKS.get(token, token))
    text = "".join(parts)
    return text[0].upper() + text[1:]


def _solve(matrix: list[list[Fraction]], right: list[Fraction]) -> list[Fraction] | None:
    """Solve a linear system by Gauss-Jordan elimination, exactly; None if it is singular."""
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for column in range(len(rows)):
        pivot = next((r for r in range(column, len(rows)) if rows[r][column]), None)
        if pivot is None:
            return None
        rows[column], rows[pivot] = rows[pivot], rows[column]
        lead = rows[column][column]
        rows[column] = [value / lead for value in rows[column]]
        for other, row in enumerate(rows):
            factor = row[column]
            if other != column and factor:
                rows[other] = [a - factor * b for a, b in zip(row, rows[column], strict=True)]
    return [row[-1] for row in rows]
