"""Word problems against an evaluator of their own text, and their scoring against lm-eval's."""

from __future__ import annotations

import ast
import hashlib
import operator
import re
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any

import pytest
import yaml
from lm_eval.api.metrics import exact_match_fn
from lm_eval.filters.extraction import RegexFilter

from harness.errors import SpecError
from reproductions.lisa.models.word_problems import (
    MOST,
    Filter,
    Problem,
    Split,
    extracted,
    is_match,
    sample,
    split_of,
    statements,
    stream,
)

SPLITS: tuple[Split, ...] = ("train", "validation", "test")
STEP = re.compile(r"(\d+) ([-+*]) (\d+) = (\d+)")
SIGNS = {"+": operator.add, "-": operator.sub, "*": operator.mul}
IN_WORDS = {
    "+": r"(\d+) and (\d+) make (\d+): ",
    "-": r"(\d+) less (\d+) leaves (\d+): ",
    "*": r"(\d+) times (\d+) is (\d+): ",
}
DIGEST = "a262c9a0a5c38613"


def some(split: Split, count: int = 400) -> list[Problem]:
    return list(islice(stream(split, seed=3), count))


def steps_of(text: str) -> list[tuple[int, int]]:
    """Return what each equality of a text says, and what it comes to."""
    return [
        (int(said), SIGNS[sign](int(left), int(right)))
        for left, sign, right, said in STEP.findall(text)
    ]


@pytest.mark.parametrize("split", SPLITS)
def test_every_step_is_right_and_the_last_one_is_the_result(split: Split) -> None:
    for problem in some(split):
        chain, _, result = problem.answer.partition("\n#### ")
        steps = steps_of(chain)
        assert 1 <= len(steps) <= 2
        assert all(said == computed for said, computed in steps), problem
        assert int(result) == steps[-1][1]
        assert all(1 <= computed <= MOST for _, computed in steps)


@pytest.mark.parametrize(
    ("question", "formula"),
    [
        (r"^The \w+ had (\d+) \w+ and got (\d+) more\. How many is that", "{0}+{1}"),
        (r"had (\d+) \w+ and lost (\d+)\. How many are left", "{0}-{1}"),
        (r"Each of (\d+) men had (\d+) \w+\. How", "{0}*{1}"),
        (r"had (\d+) \w+, got (\d+) more and lost (\d+)\.", "{0}+{1}-{2}"),
        (r"had (\d+) \w+, lost (\d+) and then (\d+) more", "{0}-{1}-{2}"),
        (r"Each of (\d+) men had (\d+) \w+, and (\d+) more came", "{0}*{1}+{2}"),
        (r"Each of (\d+) men had (\d+) \w+ and got (\d+) more", "{0}*({1}+{2})"),
    ],
)
def test_result_is_what_the_question_s_words_mean(question: str, formula: str) -> None:
    found = [(m, p) for p in some("train") if (m := re.search(question, p.question))]
    assert len(found) > 20
    for match, problem in found:
        meant = eval(compile(ast.parse(formula.format(*match.groups()), mode="eval"), "", "eval"))
        assert problem.answer.endswith(f"\n#### {meant}"), problem


def test_splits_share_no_problem_and_are_eight_to_one_to_one() -> None:
    keys = {split: {p.key for p in some(split, 4000)} for split in SPLITS}
    assert not keys["train"] & keys["validation"]
    assert not keys["train"] & keys["test"]
    assert not keys["validation"] & keys["test"]
    last_digits = [int(hashlib.sha256(f"a {n}".encode()).hexdigest(), 16) % 10 for n in range(99)]
    expected = ["validation" if d == 8 else "test" if d == 9 else "train" for d in last_digits]
    assert [split_of(f"a {n}") for n in range(99)] == expected


def test_sample_has_different_problems_of_its_split_alone() -> None:
    problems = sample("test", 200, seed=0)
    assert len({problem.key for problem in problems}) == 200
    assert all(split_of(problem.key) == "test" for problem in problems)
    assert problems != sample("test", 200, seed=1)
    assert sample("test", 0, seed=0) == []
    with pytest.raises(SpecError, match="at most"):
        sample("test", 10**6, seed=0)


def test_text_is_the_same_for_a_seed_in_every_process() -> None:
    """Byte for byte, whatever the hash seed; the digest was taken when the text was written."""
    told = [p.prompt + p.answer for p in islice(stream("train", seed=7), 300)]
    told += islice(statements(seed=7), 300)
    assert hashlib.sha256("\n".join(told).encode()).hexdigest()[:16] == DIGEST
    assert some("train", 20) != list(islice(stream("train", seed=4), 20))


def test_statements_are_right_and_tell_no_held_out_problem() -> None:
    paragraphs = list(islice(statements(seed=5), 2000))
    equalities = [paragraph for paragraph in paragraphs if "?" not in paragraph]
    stories = [paragraph for paragraph in paragraphs if "?" in paragraph]
    assert 900 < len(equalities) < 1100
    for paragraph in paragraphs:
        assert all(said == computed for said, computed in steps_of(paragraph)), paragraph
        assert not re.search(r"####|Question|Answer|\n", paragraph)
    for sign, pattern in IN_WORDS.items():
        found = re.findall(pattern, " ".join(equalities))
        assert len(found) > 100
        assert all(SIGNS[sign](int(a), int(b)) == int(x) for a, b, x in found)
    told = {story.partition("?")[0] + "?" for story in stories}
    trained_on = {problem.question for problem in islice(stream("train", seed=5), 2000)}
    assert told <= trained_on
    assert len(told) > 800
    for split in SPLITS[1:]:
        assert not told & {problem.question for problem in some(split, 4000)}


RESPONSES = (
    "Tom has 3 + 4 = 7 eggs.\n#### 7",
    "7 eggs.\n#### 7.\nQuestion: and #### 9",
    "#### -12",
    "#### 1,200",
    "#### .",
    "It costs $18.50 in all",
    "no number",
    "3 and 14, then 15.",
    "a -5 b 6",
)
ANSWERS = ("3 + 4 = 7\n#### 7", "x\n#### 1200", "#### 18.50", "y\n#### -12")


@cache
def lm_eval_task() -> dict[str, Any]:
    """Return the task's own file, as installed."""
    text = (files("lm_eval") / "tasks" / "gsm8k" / "gsm8k.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def theirs(response: str, filter: str) -> tuple[str, list[bool]]:
    """Return what lm-eval finds in a response, and which of the answers it matches."""
    (entry,) = (one for one in lm_eval_task()["filter_list"] if one["name"] == filter)
    told = {name: value for name, value in entry["filter"][0].items() if name != "function"}
    ((found,),) = RegexFilter(**told).apply([[response]], [{}])
    (metric,) = lm_eval_task()["metric_list"]
    options = {name: metric[name] for name in ("ignore_case", "regexes_to_ignore")}
    matched = [
        bool(exact_match_fn(predictions=[found], references=[answer], **options)["exact_match"])
        for answer in ANSWERS
    ]
    return str(found), matched


@pytest.mark.parametrize(
    ("filter", "name"), [("strict", "strict-match"), ("flexible", "flexible-extract")]
)
def test_filter_and_match_are_lm_eval_s(filter: Filter, name: str) -> None:
    for response in RESPONSES:
        ours = [is_match(response, answer, filter=filter) for answer in ANSWERS]
        assert (extracted(response, filter=filter), ours) == theirs(response, name), response
