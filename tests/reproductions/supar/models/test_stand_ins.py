"""What texts and widths stand in for is said by the parameters of the trials behind a task."""

from __future__ import annotations

import pytest

from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.publish.stand_ins import stand_ins
from reproductions.supar.coordinates import fig05
from reproductions.supar.downstream import tab02, tab02_proxy
from reproductions.supar.sweeps import fig06, fig09
from reproductions.supar.transfer import fig03

SHAKESPEARE = {"SlimPajama": "Tiny Shakespeare", "width 4096": "256"}


@pytest.mark.parametrize(
    ("task", "profile", "expected"),
    [
        (fig06.task, "cpu", SHAKESPEARE),
        (fig05.task, "cpu", {"SlimPajama": "Tiny Shakespeare", "width 2048": "768"}),
        (
            fig09.task, "cpu",
            {"SlimPajama": "Tiny Shakespeare", "widths 768 to 2176": "96 and 136 and 192 and 272"},
        ),
        (fig03.task, "smoke", {"SlimPajama": "made-up text", "width 2048": "64"}),
        (
            tab02_proxy.task, "cpu",
            {"SlimPajama": "public-domain books", "width 2048": "256"},
        ),
    ],
)  # fmt: skip
def test_a_task_says_on_what_it_was_trained(
    task: Task, profile: Profile, expected: dict[str, str]
) -> None:
    assert stand_ins(task, profile, "") == expected


def test_boolq_says_that_it_lacks_its_passages_where_it_does() -> None:
    assert stand_ins(tab02.task, "cpu", "")["BoolQ"] == "its questions without their passages"


@pytest.mark.parametrize("task", [fig03.task, fig06.task, tab02.task], ids=lambda task: task.id)
def test_nothing_stands_in_at_the_papers_scale(task: Task) -> None:
    assert stand_ins(task, "paper", "") == {}
