"""What texts and widths stand in for is said by the parameters of the trials behind a task."""

from __future__ import annotations

from harness.publish.stand_ins import stand_ins
from reproductions.supar.downstream import tab02
from reproductions.supar.sweeps import fig06, fig09


def test_a_task_says_on_what_it_was_trained_and_nothing_at_the_papers_scale() -> None:
    assert stand_ins(fig06.task, "cpu", "") == {
        "SlimPajama": "Tiny Shakespeare",
        "width 4096": "256",
    }
    ladder = stand_ins(fig09.task, "cpu", "")
    assert ladder["widths 768 to 2176"] == "96 and 136 and 192 and 272"
    assert stand_ins(tab02.task, "cpu", "")["BoolQ"] == "its questions without their passages"
    assert stand_ins(fig06.task, "paper", "") == stand_ins(tab02.task, "paper", "") == {}
