"""Arithmetic word problems of our own in GSM8K's form, and running text of the same arithmetic.

They stand in for GSM8K, and for the mathematical text before it, where a model is too small to
learn either: short stories of one or two steps over small numbers. A problem's answer shows its
steps and ends with a line `#### result`, as GSM8K's do (Cobbe et al., arXiv 2110.14168). What is
the same on every machine: all of it, for the same seed.
"""

from __future__ import annotations

import hashlib
import operator
import random
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Literal, TypeVar

from harness.errors import SpecError

Split = Literal["train", "validation", "test"]
Filter = Literal["strict", "flexible"]
Numbers = tuple[int, ...]

HELD_OUT: dict[int, Split] = {8: "validation", 9: "test"}
"""Last digit of a problem's hash -> its split; the other digits are `train`."""
SMALL = range(2, 7)
"""What is added, taken away or multiplied by."""
LARGE = range(7, 16)
"""What is taken away from."""
MOST = 20
"""Largest result of any step."""
PERSONS = (
    "man", "woman", "boy", "girl", "child", "father", "mother", "brother", "friend", "lady",
)  # fmt: skip
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
THINGS = (
    "apples", "boats", "books", "coins", "dogs", "doors", "flowers", "hats", "leaves", "letters",
    "pounds", "trees",
)  # fmt: skip
Item = TypeVar("Item")


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One problem, told with a person and things."""

    question: str
    answer: str
    """Its steps in words, then a line `#### result`."""
    key: str
    """What is asked, whoever it is about; its hash decides the split."""

    @property
    def prompt(self) -> str:
        """The question as lm-eval's task `gsm8k` asks it; the answer follows after a space."""
        return f"Question: {self.question}\nAnswer:"


@dataclass(frozen=True, kw_only=True, slots=True)
class Template:
    """A story with gaps: {n} a person, {t} things, {a} {b} {c} numbers."""

    id: str
    question: str
    steps: tuple[str, ...]
    """What is computed: two numbers and a sign, where x is the result of the step before."""
    ranges: tuple[range, ...]
    """Values of each number, in order."""

    def computed(self, numbers: Numbers) -> list[tuple[int, str, int, int]]:
        """Return each step: a number, a sign, a number, and the result."""
        known = dict(zip("abc", numbers, strict=False))
        found = []
        for step in self.steps:
            left, sign, right = step.split()
            one, other = known[left], known[right]
            known["x"] = SIGNS[sign](one, other)
            found.append((one, sign, other, known["x"]))
        return found

    def tell(self, numbers: Numbers, *, person: str, things: str) -> Problem:
        """Return the problem with its gaps filled."""
        known = dict(zip("abc", numbers, strict=False))
        steps = self.computed(numbers)
        chain = " ".join(f"{one} {sign} {other} = {result}." for one, sign, other, result in steps)
        return Problem(
            question=self.question.format(n=person, t=things, **known),
            answer=f"{chain}\n#### {steps[-1][-1]}",
            key=self.key(numbers, things),
        )

    def key(self, numbers: Numbers, things: str) -> str:
        """Return what identifies a problem, whatever person it is told of."""
        return " ".join([self.id, *map(str, numbers), things])


def _template(id: str, story: str, steps: str, first: range) -> Template:
    """Return a template; all numbers after the first are small."""
    told = tuple(steps.split(", "))
    asked = "How many are left?" if " - " in told[-1] else "How many is that?"
    ranges = (first, *(SMALL for _ in told))
    return Template(id=id, question=f"{story} {asked}", steps=told, ranges=ranges)


TEMPLATES = (
    _template("gain", "The {n} had {a} {t} and got {b} more.", "a + b", SMALL),
    _template("loss", "The {n} had {a} {t} and lost {b}.", "a - b", LARGE),
    _template("groups", "Each of {a} men had {b} {t}.", "a * b", SMALL),
    _template(
        "gain_loss", "The {n} had {a} {t}, got {b} more and lost {c}.", "a + b, x - c", LARGE
    ),
    _template(
        "two_losses", "The {n} had {a} {t}, lost {b} and then {c} more.", "a - b, x - c", LARGE
    ),
    _template(
        "groups_gain", "Each of {a} men had {b} {t}, and {c} more came.", "a * b, x + c", SMALL
    ),
    _template(
        "gain_groups", "Each of {c} men had {a} {t} and got {b} more.", "a + b, x * c", SMALL
    ),
)


def split_of(key: str) -> Split:
    """Return the split of a problem by its key: eight in ten train, one each is held out."""
    return HELD_OUT.get(int(hashlib.sha256(key.encode()).hexdigest(), 16) % 10, "train")


def stream(split: Split, *, seed: int) -> Iterator[Problem]:
    """Yield problems of a split without end, templates and numbers evenly drawn."""
    # Only random() is the same in every version of Python.
    draw = random.Random(seed).random
    while True:
        template = _one_of(TEMPLATES, draw())
        numbers, things = _one_of(_told_of(template, split), draw())
        yield template.tell(numbers, person=_one_of(PERSONS, draw()), things=things)


def sample(split: Split, count: int, *, seed: int) -> list[Problem]:
    """Return different problems of a split, templates as evenly drawn as in its stream.

    Raises SpecError for more than the split has.
    """
    most = sum(len(_told_of(template, split)) for template in TEMPLATES) // 2
    if not 0 <= count <= most:
        # Half of what there is: drawing what is new yet would take ever longer.
        raise SpecError(f"count={count} problems of {split}: need at most {most}")
    found: dict[str, Problem] = {}
    for problem in stream(split, seed=seed):
        if len(found) >= count:
            break
        found.setdefault(problem.key, problem)
    return list(found.values())


def statements(*, seed: int) -> Iterator[str]:
    """Yield mathematical text without end, one paragraph at a time.

    Half are some equalities, in signs or in words; half are training problems told as stories
    with their steps, without the words Question and Answer and without the mark of the result.
    """
    draw = random.Random(seed).random
    problems = stream("train", seed=seed)
    while True:
        if draw() < 0.5:
            yield " ".join(_equality(draw(), draw()) for _ in range(3))
        else:
            problem = next(problems)
            yield f"{problem.question} {problem.answer.partition(chr(10))[0]}"


WORDINGS = {
    "+": "{l} and {r} make {x}: {l} + {r} = {x}.",
    "-": "{l} less {r} leaves {x}: {l} - {r} = {x}.",
    "*": "{l} times {r} is {x}: {l} * {r} = {x}.",
}


def _equality(kind: float, numbers: float) -> str:
    sign = _one_of("+-*", kind)
    left, right = _one_of(_facts(sign), numbers)
    return WORDINGS[sign].format(l=left, r=right, x=SIGNS[sign](left, right))


@cache
def _facts(sign: str) -> tuple[Numbers, ...]:
    """Return the pairs of numbers that a step may compute something of."""
    lefts = SMALL if sign == "*" else range(SMALL[0], MOST + 1)
    pairs = product(lefts, SMALL)
    return tuple((left, right) for left, right in pairs if 0 < SIGNS[sign](left, right) <= MOST)


def _one_of(items: Sequence[Item], drawn: float) -> Item:
    return items[int(drawn * len(items))]


@cache
def _told_of(template: Template, split: Split) -> tuple[tuple[Numbers, str], ...]:
    """Return all numbers and things of a template in a split, in order."""
    return tuple(
        (numbers, things)
        for numbers in product(*template.ranges)
        if all(0 < result <= MOST for *_, result in template.computed(numbers))
        for things in THINGS
        if split_of(template.key(numbers, things)) == split
    )


PATTERNS: dict[Filter, tuple[str, int]] = {
    "strict": (r"#### (\-?[0-9\.\,]+)", 0),
    "flexible": (r"(-?[$0-9.,]{2,})|(-?[0-9]+)", -1),
}
"""Filters of lm-eval's task `gsm8k` (version 3): what is looked for, and which find counts."""
IGNORED = (",", r"\$", r"(?s).*#### ", r"\.$")
"""What that task leaves out of both sides before it compares."""
NO_ANSWER = "[invalid]"


def extracted(response: str, *, filter: Filter) -> str:
    """Return the number that a response gives as its result, or `[invalid]`.

    >>> extracted("5 + 7 = 12 eggs.", filter="strict")
    '[invalid]'
    >>> extracted("5 + 7 = 12 eggs.", filter="flexible")
    '12'
    """
    pattern, which = PATTERNS[filter]
    found = list(re.finditer(pattern, response))
    if not found:
        return NO_ANSWER
    return next(group for group in found[which].groups() if group).strip()


def is_match(response: str, answer: str, *, filter: Filter) -> bool:
    """Say whether a response's result is that of the answer, as lm-eval's exact match does.

    >>> is_match("He has 1,200.\\n#### 1,200", "600 * 2 = 1200\\n#### 1200", filter="strict")
    True
    """
    return _compared(extracted(response, filter=filter)) == _compared(answer)


def _compared(text: str) -> str:
    for ignored in IGNORED:
        text = re.sub(ignored, "", text)
    return text.lower()
