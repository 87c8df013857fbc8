"""Scores against a plain float64 sum; questions and answers with nets whose scores are known."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from reproductions.nets.gpt import GPT
from reproductions.supar.downstream.continuations import (
    Item,
    choice_accuracy,
    choice_items,
    greedy_accuracy,
    last_word_items,
    score,
)
from reproductions.supar.downstream.experiment import continuation, net_of
from reproductions.supar.downstream.trial import net_config
from reproductions.supar.models.training import Seeds, build_gpt, generator_of
from reproductions.supar.transfer.experiment import transfer
from tests.reproductions.supar import small
from tests.reproductions.supar.scored import HandMade, Kept

TEXT = "The cat sat on the mat. A dog barked at the old moon! Who saw the quick brown fox? " * 60
TEXT_N = torch.tensor(list(TEXT.encode()), dtype=torch.uint8)
TABLE = small.table(density=0.25)
CONFIG = replace(small.config(TABLE), vocab_size=256, positions="alibi", feed_forward="swiglu")


@pytest.fixture
def net() -> GPT:
    """Return a masked net with a context of 16 bytes."""
    return build_gpt(CONFIG, TABLE, Seeds(init=3, masks=4), mask_density=0.25).eval()


@torch.no_grad()
def plain_window(net: GPT, whole: bytes, *, num_scored: int) -> float:
    """Score the last bytes in one window of the net's context, in float64."""
    window = list(whole[-(net.config.context + 1) :])
    log_probs_TV = net(torch.tensor([window[:-1]]))[0].double().log_softmax(-1)
    places = range(len(window) - 1 - num_scored, len(window) - 1)
    return float(sum(log_probs_TV[place, window[place + 1]] for place in places))


def test_long_continuation_is_scored_in_parts_of_half_a_context(net: GPT) -> None:
    context, continuation = b"once", b" upon a time there was a fox"
    whole = context + continuation
    expected, end = 0.0, len(context)
    while end < len(whole):
        step = min(8, len(whole) - end)
        end += step
        expected += plain_window(net, whole[:end], num_scored=step)
    (scored,) = score(net, [(context, continuation)])
    assert scored.log_likelihood == pytest.approx(expected, rel=1e-6)


def test_score_does_not_depend_on_what_is_scored_beside_it(net: GPT) -> None:
    pairs = [(b"abc"[: 1 + i % 3], b"some word here"[: 1 + i % 14]) for i in range(700)]
    together = score(net, pairs)
    for index in (0, 13, 350, 699):
        (alone,) = score(net, [pairs[index]])
        assert together[index].log_likelihood == pytest.approx(alone.log_likelihood, rel=1e-5)
        assert together[index].is_greedy == alone.is_greedy


def drawn(num_items: int = 40) -> list[Item]:
    return choice_items(
        TEXT_N, num_items=num_items, num_choices=4, context=24, continuation=12,
        generator=generator_of(0),
    )  # fmt: skip


def test_true_continuation_follows_its_context_and_the_others_are_elsewhere() -> None:
    for item in drawn():
        assert item.context + item.choices[item.answer] in TEXT.encode()
        assert [len(choice) for choice in item.choices] == [12] * 4
        assert len(item.context) == 24
        assert item.context.endswith(b" ")
    assert {item.answer for item in drawn()} == {0, 1, 2, 3}


def test_net_that_knows_the_text_is_right_and_one_that_knows_nothing_takes_the_first() -> None:
    items = drawn(20)
    knows = HandMade([(item.context + item.choices[item.answer]).decode() for item in items])
    assert choice_accuracy(knows, items) == 1.0  # type: ignore[arg-type]
    first = sum(item.answer == 0 for item in items) / len(items)
    assert choice_accuracy(HandMade(), items) == first  # type: ignore[arg-type]


def test_last_words_end_sentences_and_are_right_only_if_greedy() -> None:
    items = last_word_items(TEXT_N, num_items=30, context=20, generator=generator_of(0))
    assert {item.choices[0] for item in items} == {b" mat", b" moon", b" fox"}
    assert all((item.context + item.choices[0]) in TEXT.encode() for item in items)
    knows = HandMade([(item.context + item.choices[0]).decode() for item in items])
    assert greedy_accuracy(knows, items) == 1.0  # type: ignore[arg-type]
    assert greedy_accuracy(HandMade(), items) == 0.0  # type: ignore[arg-type]


def test_every_trial_scores_the_net_of_a_transfer_trial_on_the_same_questions() -> None:
    found = []
    for point in small.points(continuation):
        assert net_of(point) in small.points(transfer)
        if point.density == 1.0:
            kept = Kept(GPT(net_config(point), generator=generator_of(0)).state_dict())
            context = small.Context(continuation, point, text=TEXT * 20, kept=kept)
            found.append(small.run(continuation, point, context).rows)
    hashes = [[row["items_sha256"] for row in rows] for rows in found]
    assert len(hashes) == 3
    assert hashes[0] == hashes[1] == hashes[2]
    assert [row["random_accuracy"] for row in found[0]] == [0.25, 0.0]
