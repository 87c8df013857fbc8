"""Word problems against an evaluator of their own text, and their scoring against lm-eval's."""

from __future__ import annotations

import ast
import hashlib
import operator
import re
from itertools import islice

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import SpecError
from reproductions.lisa.models.word_problems import (
    IGNORED,
    MOST,
    PATTERNS,
    TEMPLATES,
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
FILTERS: tuple[Filter, ...] = ("strict", "flexible")


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


def test_steps_use_each_number_of_the_question_once_and_go_on_from_one_another() -> None:
    for problem in some("train"):
        given_numbers = sorted(re.findall(r"\d+", problem.question))
        used: list[str] = []
        before: list[str] = []
        for left, _, right, said in STEP.findall(problem.answer):
            used += [number for number in (left, right) if number not in before]
            before = [said] if left not in before else before
        # A result that equals a number of the question hides it here; the rest must agree.
        assert set(used) <= set(given_numbers)
        assert len(given_numbers) == len(steps_of(problem.answer)) + 1


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


def test_every_template_is_told_and_alike_often() -> None:
    told = [problem.key.split()[0] for problem in some("train", 7000)]
    counts = [told.count(template.id) for template in TEMPLATES]
    # 1000 expected of each, with a standard deviation of 29.
    assert all(850 < count < 1150 for count in counts), counts


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


def test_unknown_split_is_refused() -> None:
    with pytest.raises(SpecError, match="'dev'"):
        next(stream("dev", seed=0))  # type: ignore[arg-type]


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
    "#### $5",
    "#### .",
    "It costs $18.50 in all",
    "no number",
    "",
    "3 and 14, then 15.",
    "####7",
    "a -5 b 6",
    "ends with a dot 5.",
)


@pytest.fixture(scope="module")
def lm_eval_task() -> dict[str, object]:
    """The task's own file, as installed."""
    from importlib.resources import files

    text = (files("lm_eval") / "tasks" / "gsm8k" / "gsm8k.yaml").read_text(encoding="utf-8")
    return dict(yaml.safe_load(text))


def test_patterns_are_those_of_the_installed_task(lm_eval_task: dict[str, object]) -> None:
    names = {"strict-match": "strict", "flexible-extract": "flexible"}
    listed = lm_eval_task["filter_list"]
    assert isinstance(listed, list)
    theirs = {
        names[entry["name"]]: (
            entry["filter"][0]["regex_pattern"],
            entry["filter"][0].get("group_select", 0),
        )
        for entry in listed
    }
    assert theirs == PATTERNS
    (metric,) = lm_eval_task["metric_list"]  # type: ignore[misc]
    assert tuple(metric["regexes_to_ignore"]) == IGNORED
    assert lm_eval_task["doc_to_text"] == "Question: {{question}}\nAnswer:"
    assert some("train", 1)[0].prompt.startswith("Question: ")


def theirs_of(response: str, filter: Filter) -> str:
    from lm_eval.filters.extraction import RegexFilter

    pattern, which = PATTERNS[filter]
    ((found,),) = RegexFilter(pattern, which).apply([[response]], [{}])
    return str(found)


def theirs_match(response: str, answer: str, filter: Filter) -> bool:
    from lm_eval.api.metrics import exact_match_fn

    score = exact_match_fn(
        predictions=[theirs_of(response, filter)], references=[answer], ignore_case=True,
        regexes_to_ignore=list(IGNORED),
    )  # fmt: skip
    return bool(score["exact_match"])


@pytest.mark.parametrize("filter", FILTERS)
@pytest.mark.parametrize("response", RESPONSES)
def test_filter_and_match_are_lm_eval_s(response: str, filter: Filter) -> None:
    assert extracted(response, filter=filter) == theirs_of(response, filter)
    for answer in ("3 + 4 = 7\n#### 7", "x\n#### 1200", "#### 18.50", "y\n#### -12"):
        assert is_match(response, answer, filter=filter) == theirs_match(response, answer, filter)


@given(st.text(alphabet="#$ -.,0123456789a\n", max_size=20))
def test_filter_is_lm_eval_s_on_any_text(response: str) -> None:
    for filter in FILTERS:
        assert extracted(response, filter=filter) == theirs_of(response, filter)
        assert is_match(response, "#### 10", filter=filter) == theirs_match(
            response, "#### 10", filter
        )


def test_the_right_answer_matches_and_another_does_not() -> None:
    for problem in some("test", 50):
        result = int(problem.answer.rpartition(" ")[2])
        for filter in FILTERS:
            assert is_match(problem.answer, problem.answer, filter=filter)
            wrong = problem.answer.rpartition(" ")[0] + f" {result + 1}"
            assert not is_match(wrong, problem.answer, filter=filter)
        assert not is_match(str(result), problem.answer, filter="strict")
