"""GSM8K as DoLa's authors ask it: after eight solved questions, whose results have a phrase.

Source: arXiv 2309.03883v2, section 3, and its code's evaluation; the solved questions are those of
arXiv 2201.11903, as lm-eval holds them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

from harness.errors import EnvError
from reproductions.lisa.models.word_problems import Problem

NEXT_QUESTION = "Q:"
PHRASE = re.compile(r"the answer is\D*?(-?[0-9][0-9,]*(?:\.[0-9]+)?)", re.IGNORECASE)
FILE = "tasks/gsm8k/gsm8k-cot.yaml"


def demonstrations() -> str:
    """Return the solved questions, to stand before a question. Raises EnvError without lm-eval."""
    import yaml

    found = find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        raise EnvError("lm-eval is not installed, which holds GSM8K's solved questions: install it")
    text = (Path(found.submodule_search_locations[0]) / FILE).read_text(encoding="utf-8")
    shots = yaml.safe_load(text)["fewshot_config"]["samples"]
    return "".join(f"Q: {shot['question']}\nA: {shot['target']}\n\n" for shot in shots)


def asked(record: Mapping[str, str], *, shots: str) -> Problem:
    """Return a record of GSM8K with its whole prompt as the question."""
    question = f"{shots}Q: {record['question']}\nA:"
    return Problem(question=question, answer=record["answer"], key=record["question"])


def marked(response: str) -> str:
    r"""Return what stands before the next question, with the result after GSM8K's own mark.

    Without the phrase there is no mark: then the last number may count as the result.

    >>> marked(" 5 + 4 = 9. The answer is 9.\n\nQ: And 3?\nA: The answer is 3.")
    ' 5 + 4 = 9. \n#### 9'
    >>> marked(" 5 + 4 = 9.")
    ' 5 + 4 = 9.'
    """
    own = response.split(NEXT_QUESTION)[0]
    found = PHRASE.search(own)
    return own if found is None else f"{own[: found.start()]}\n#### {found.group(1)}"
