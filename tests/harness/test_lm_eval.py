"""lm-eval over records at hand: what is asked, what a score says, and what stays untouched."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest
import torch
from lm_eval.api.model import LM

from harness.errors import SpecError
from harness.lm_eval import LMTask, Score, quietly, scores, task_over

CAPITALS = """
task: capitals
output_type: multiple_choice
test_split: test
num_fewshot: 0
doc_to_text: "Capital of {{country}}:"
doc_to_choice: cities
doc_to_target: answer
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
"""
SUMS = """
task: sums
output_type: generate_until
test_split: test
num_fewshot: 0
doc_to_text: "{{sum}} ="
doc_to_target: "{{result}}"
generation_kwargs: {until: ["."], do_sample: false}
metric_list:
  - metric: exact_match
    aggregation: mean
    higher_is_better: true
filter_list:
  - name: first
    filter:
      - {function: regex, regex_pattern: "([0-9]+)"}
      - {function: take_first}
  - name: last
    filter:
      - {function: regex, group_select: -1, regex_pattern: "([0-9]+)"}
      - {function: take_first}
"""
COUNTRIES = [
    {"country": "France", "cities": ["Lyon", "Paris"], "answer": 1},
    {"country": "Peru", "cities": ["Lima", "Cusco", "Ica", "Puno"], "answer": 0},
    {"country": "Italy", "cities": ["Rome", "Milan"], "answer": 0},
]
SUMMED = [{"sum": "1 + 2", "result": "3"}, {"sum": "2 + 2", "result": "4"}]


class Parrot(LM):
    """Finds continuations that it knows likely, and writes one answer to everything."""

    def __init__(self, known: tuple[str, ...] = (), says: str = "") -> None:
        super().__init__()
        self.known, self.says = known, says

    def loglikelihood(self, requests: list[Any]) -> list[tuple[float, bool]]:
        return [(0.0 if request.args[1] in self.known else -1.0, False) for request in requests]

    def generate_until(self, requests: list[Any]) -> list[str]:
        return [self.says for _ in requests]

    def loglikelihood_rolling(self, requests: list[Any]) -> list[float]:
        raise NotImplementedError


def capitals() -> dict[str, LMTask]:
    return {"capitals": task_over(COUNTRIES[:3], definition=CAPITALS)}


def only(found: list[Score]) -> Score:
    (score,) = found
    return score


def test_share_of_right_answers_and_of_guessing() -> None:
    score = only(scores(Parrot((" Paris", " Cusco", " Rome")), capitals(), num_documents=None))
    assert (score.task, score.metric, score.filter) == ("capitals", "acc", "none")
    assert score.value == pytest.approx(2 / 3)
    assert score.stderr == pytest.approx((2 / 3 * 1 / 3 / 2) ** 0.5)
    assert score.random_value == pytest.approx((1 / 2 + 1 / 4 + 1 / 2) / 3)
    assert score.num_documents == 3


def test_every_filter_has_its_score_and_written_answers_are_not_guessed() -> None:
    tasks = {"sums": task_over(SUMMED, definition=SUMS), **capitals()}
    found = scores(Parrot(says=" 3, or 4"), tasks, num_documents=1)
    values = {(one.task, one.filter): one.value for one in found}
    assert values == {("sums", "first"): 1.0, ("sums", "last"): 0.0, ("capitals", "none"): 0.0}
    assert {one.random_value for one in found if one.task == "sums"} == {0.0}


def test_first_documents_are_asked_and_one_has_no_error() -> None:
    score = only(scores(Parrot(), capitals(), num_documents=1))
    assert (score.num_documents, score.stderr) == (1, None)


def test_hash_follows_what_is_asked_and_not_what_is_answered() -> None:
    whole = only(scores(Parrot(), capitals(), num_documents=None))
    again = only(scores(Parrot((" Paris",)), capitals(), num_documents=None))
    part = only(scores(Parrot(), capitals(), num_documents=2))
    other = {"capitals": task_over(COUNTRIES, definition=CAPITALS + "# a remark\n")}
    changed = only(scores(Parrot(), other, num_documents=None))
    assert whole.value != again.value
    hashes = [one.task_sha256 for one in (whole, again, part, changed)]
    assert hashes[0] == hashes[1]
    assert len(set(hashes)) == 3


def test_task_without_records_is_refused() -> None:
    with pytest.raises(SpecError, match="at least one record"):
        task_over([], definition=CAPITALS)


def test_neither_network_nor_terminal_nor_global_seed_is_touched(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise AssertionError(f"the network was asked for {args}")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    before = torch.get_rng_state()
    scores(Parrot(), capitals(), num_documents=None)
    assert torch.equal(torch.get_rng_state(), before)
    with quietly():
        print("a warning", file=sys.stderr)
    assert capfd.readouterr() == ("", "")
