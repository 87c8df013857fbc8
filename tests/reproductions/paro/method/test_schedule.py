"""Schedules: Figure 1's two strategies, the released code's, and known systems'."""

from __future__ import annotations

import pytest

from reproductions.paro.method.schedule import schedule
from reproductions.paro.method.strategy import Strategy, strategy_of

SHORT = {"all_gather": "ag", "reduce_scatter": "rs", "all_reduce": "ar"}


def told(strategy: Strategy) -> list[str]:
    """Return a schedule in short: what is done every micro-batch stands in brackets."""
    found = []
    for step in schedule(strategy):
        word = f"{step.collective.scope} {SHORT[step.collective.kind]}"
        found.append(f"({word})" if step.per_micro_batch else word)
    return found


@pytest.mark.parametrize(
    ("letters", "expected"),
    [
        # Figure 1.
        ("IIG", ["(intra ag)", "(intra ag)", "(intra rs)", "inter rs", "inter ag"]),
        ("NIG", ["(intra rs)", "inter rs", "world ag"]),
        # The released code.
        ("NII", ["(intra rs)", "inter ar", "intra ag"]),
        ("IGG", ["(intra ag)", "(intra ag)", "(world rs)", "inter ag"]),
        ("ING", ["(intra ag)", "(intra ag)", "world rs", "inter ag"]),
        # DDP, ZeRO-1, 2 and 3, MiCS.
        ("NNN", ["world ar"]),
        ("NNG", ["world rs", "world ag"]),
        ("NGG", ["(world rs)", "world ag"]),
        ("GGG", ["(world ag)", "(world ag)", "(world rs)"]),
        ("III", ["(intra ag)", "(intra ag)", "(intra rs)", "inter ar"]),
    ],
)
def test_schedule_of(letters: str, expected: list[str]) -> None:
    assert told(strategy_of(letters)) == expected


def test_a_second_copy_is_gathered_in_the_backward_pass() -> None:
    hpz = Strategy(params="G", grads="G", states="G", between="I")
    assert told(hpz) == ["(world ag)", "(intra ag)", "(world rs)"]
    whole = Strategy(params="I", grads="I", states="I", between="N")
    assert told(whole) == ["(intra ag)", "(intra rs)", "inter ar"]
