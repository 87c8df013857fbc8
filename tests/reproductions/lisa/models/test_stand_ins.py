"""What small models stand in for is said by the parameters of the trials behind a task."""

from __future__ import annotations

import pytest

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.publish.stand_ins import stand_ins
from reproductions.lisa.continual import tab04
from reproductions.lisa.finetuning import fig01
from reproductions.lisa.lm_benchmarks import tab05
from reproductions.lisa.norms import fig12


@pytest.mark.parametrize(
    ("task", "profile", "text", "expected"),
    [
        (fig01.task, "smoke", "Alpaca-GPT4", "made-up sentences"),
        (tab04.task, "cpu", "GSM8K", "word problems of ours, by a LLaMA of 2.1M weights"),
        (fig12.task, "cpu", "Mistral-7B", "untrained adapters on one of its 32 blocks"),
        (fig12.task, "gpu", "Mistral-7B", "untrained adapters on its 32 blocks"),
    ],
)  # fmt: skip
def test_what_was_run_is_told_by_the_paper_s_name(
    task: Task, profile: Profile, text: str, expected: str
) -> None:
    assert stand_ins(task, profile, "")[text] == expected


def test_nothing_stands_in_at_the_papers_scale() -> None:
    assert stand_ins(tab05.task, "paper", "") == {}
