"""Weights of tokens: one masked loss, what phi reaches, and clear words for what does not fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from harness.errors import DataError
from reproductions.fg2u import hypergradient
from reproductions.fg2u.method.trees import norm, num_entries, tree_map
from reproductions.fg2u.models import facts, squad
from reproductions.fg2u.models.adaptation import (
    LOCALITY,
    Base,
    adaptation,
    answer_loss,
    document_loss,
    episode,
    locality,
    no_preference,
    separation,
    token_weights,
    weighed,
    whole_model,
)
from reproductions.fg2u.models.answers import answers, normalised, scored, token_f1
from reproductions.fg2u.models.documents import Question, asked, padded
from reproductions.fg2u.models.gpt import Gpt
from reproductions.fg2u.models.stream import Recipe, _share, questions_of, read, reading, trained

SIZES = facts.Sizes(known=6, passing=2, repeats=2, meta=8, validation=3, test=4)


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


CORPUS = facts.corpus(SIZES, generator())
NET = Gpt(vocab=CORPUS.vocab, width=8, num_blocks=1, heads=2, window=CORPUS.window)


def base(seed: int = 0) -> Base:
    return Base(net=NET, weights=tree_map(torch.Tensor.double, NET.drawn(generator(seed))))


def some(depth: int = 3) -> tuple[Base, object]:
    own = base()
    documents = CORPUS.meta[:depth]
    return own, episode(
        documents, CORPUS.known[:2], CORPUS.window, base=own, trunk=own, which=[0] * depth
    )


def test_attention_is_that_of_torch() -> None:
    own = base()
    x = torch.randn(2, 5, 8, generator=generator()).double()
    prefix = "0.attention."
    normed = torch.nn.functional.layer_norm(x, (8,))
    q, k, v = (normed @ own.weights[f"{prefix}in"].T).view(2, 5, 3, 2, 4).permute(2, 0, 3, 1, 4)
    mixed = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    expected = mixed.transpose(1, 2).reshape(2, 5, 8) @ own.weights[f"{prefix}out"].T
    assert torch.allclose(NET._attended(own.weights, x, prefix), expected, atol=1e-12)


def test_untrained_weights_are_equal_and_those_of_the_released_code() -> None:
    own = base()
    tokens = padded(CORPUS.meta, CORPUS.window).tokens
    for phi in (no_preference(8), whole_model(own, generator())):
        phi = tree_map(torch.Tensor.double, phi)
        assert torch.allclose(weighed(phi, own, tokens), torch.tensor(0.2310).double(), atol=1e-4)
        assert separation(phi, own, CORPUS.test, CORPUS.window) == 0.5


def test_forward_and_reverse_see_one_masked_loss_also_through_a_trunk_of_its_own() -> None:
    own, batch = some()
    for phi, trunk in ((no_preference(8), None), (small_whole(own), NET)):
        phi = tree_map(lambda leaf: leaf.double() + 0.1, phi)
        problem = adaptation(own, depth=3, lr=0.5, direction="updated_initial", trunk=trunk)
        exact = hypergradient("rgu")(problem, phi, batch)
        count = min(40, num_entries(phi))
        directions = hypergradient("fg2u", num_directions=count, chunk=count)
        found = directions(problem, phi, batch, generator())
        assert torch.allclose(found.outer_value, exact.outer_value, atol=1e-12)
        if trunk is None:
            every = hypergradient("fg2u", num_directions=9, chunk=9, directions="coordinate")
            grad = every(problem, phi, batch, generator()).grad
            assert float(norm(tree_map(torch.sub, grad, exact.grad)) / norm(exact.grad)) < 1e-10
        else:
            assert float(norm(exact.grad["trunk"])) > 0.0


def small_whole(own: Base) -> dict[str, object]:
    return whole_model(own, generator(3))


def test_an_answer_s_loss_is_that_of_its_own_tokens() -> None:
    own, questions = base(), questions_of(CORPUS.test)
    losses = []
    for one in questions:
        scores = NET.logits(own.weights, torch.tensor([one.prompt + one.answer]))[0]
        # A token is told by what stands before it.
        told = scores[len(one.prompt) - 1 : -1]
        answer = torch.tensor(one.answer)
        losses.append(torch.nn.functional.cross_entropy(told, answer, reduction="none"))
    value = answer_loss(NET, own.weights, asked(questions, CORPUS.window))
    assert float(value) == pytest.approx(float(torch.cat(losses).mean()))


def test_a_document_is_divided_by_the_window_and_not_by_its_length() -> None:
    own, _ = some()
    tokens, counts = padded(CORPUS.meta[:1], CORPUS.window)
    weights = torch.full((CORPUS.window,), 0.5).double()
    value = document_loss(NET, own.weights, tokens[0], weights, counts[0])
    losses = torch.nn.functional.cross_entropy(
        NET.logits(own.weights, tokens)[0, :-1], tokens[0, 1:], reduction="none"
    )
    length = len(CORPUS.meta[0].tokens)
    assert float(value) == pytest.approx(0.5 * float(losses[: length - 1].sum()) / CORPUS.window)


def test_the_two_directions_of_the_divergence_are_zero_at_the_start_and_differ_later() -> None:
    own, batch = some()
    moved = {name: leaf + 0.3 * torch.sin(10 * leaf) for name, leaf in own.weights.items()}
    for direction in ("updated_initial", "initial_updated"):
        assert abs(float(locality(NET, own.weights, batch, direction))) < 1e-12  # type: ignore[arg-type]
    now = NET.logits(moved, batch.local.tokens).log_softmax(-1)  # type: ignore[attr-defined]
    apart = torch.nn.functional.kl_div(
        batch.local_log_probs,
        now,
        reduction="none",
        log_target=True,  # type: ignore[attr-defined]
    ).sum(-1)
    counts = batch.local.counts  # type: ignore[attr-defined]
    expected = float((apart * counts).sum() / counts.sum())
    # torch's first argument is the second distribution.
    assert float(locality(NET, moved, batch, "updated_initial")) == pytest.approx(expected)  # type: ignore[arg-type]
    other = float(locality(NET, moved, batch, "initial_updated"))  # type: ignore[arg-type]
    assert other > 0.0 and other != pytest.approx(expected)
    assert LOCALITY == 0.1


def test_answers_are_scored_as_for_squad() -> None:
    assert normalised("The U.S., a  nation") == "us nation"
    assert token_f1("in the red barn", "red barn") == pytest.approx(0.8)
    assert token_f1("", "") == 1.0
    assert token_f1("barn", "red") == 0.0


def test_a_model_that_knows_the_answers_gets_them_all_and_a_fresh_one_none() -> None:
    own = facts.corpus(replace(SIZES, known=3), generator(5))
    net = Gpt(vocab=own.vocab, width=32, num_blocks=1, heads=2, window=own.window)
    recipe = Recipe(num_steps=150, batch_size=16, lr=1e-2, warmup_steps=5)
    weights = trained(net, own, recipe, generator(6))
    known = scored(net, weights, questions_of(own.known), own.window, own.text)
    assert (known.exact_match, known.f1) == (1.0, 1.0)
    fresh = scored(net, net.drawn(generator(7)), questions_of(own.known), own.window, own.text)
    assert fresh.exact_match == 0.0 and fresh.loss > known.loss
    one = questions_of(own.known)[0]
    assert tuple(answers(net, weights, [one], own.window)[0]) == one.answer


def test_reading_uses_the_validation_stream_for_its_step_size_and_weights_of_tokens() -> None:
    own = base()
    single = Base(net=NET, weights=tree_map(torch.Tensor.float, own.weights))
    phi = no_preference(8)
    found = reading(single, single, phi, CORPUS, (1e-30, 1e-2))
    assert found.lr_place == 1
    assert found.after.loss < found.before.loss
    own_stream = CORPUS.validation
    weights = read(single, single, phi, own_stream, CORPUS.window, lr=1e-2)
    value = answer_loss(NET, weights, asked(questions_of(own_stream), CORPUS.window))
    assert found.validation_loss == pytest.approx(float(value))
    blind = {**phi, "offset": torch.full((1,), -1e3)}
    still = read(single, single, blind, CORPUS.test, CORPUS.window, lr=1e-2)
    assert all(torch.equal(still[name], leaf) for name, leaf in single.weights.items())
    assert float(token_weights(blind, torch.zeros(1, 1, 8))) == 0.0


def test_a_base_model_s_rate_warms_up_and_falls_to_a_tenth() -> None:
    recipe = Recipe(num_steps=100, batch_size=2, warmup_steps=10)
    rates = [_share(step, recipe) for step in range(101)]
    assert rates[0] == pytest.approx(0.1) and rates[4] == pytest.approx(0.5, rel=0.01)
    assert max(rates) == rates[9] and rates[9:] == sorted(rates[9:], reverse=True)
    assert rates[100] == pytest.approx(0.1)


def article(title: str, words: int) -> dict[str, object]:
    context = " ".join(f"{title}{number}" for number in range(words))
    answer = f"{title}50 {title}51"
    qas = [{"question": "which?", "answers": [answer], "answer_starts": [context.index(answer)]}]
    return {"title": title, "context": context, "qas": qas}


def test_paragraphs_longer_than_the_window_are_cut_and_keep_what_answers() -> None:
    articles = [article(title, 90) for title in "abcdefghij"]
    single = [
        {"context": f"{title}1 {title}2 .", "question": "what?", "answer": f"{title}2"}
        for title in "abc"
    ]
    most = {"meta": 9, "validation": 9, "test": 9}
    found = squad.corpus(articles, single, generator(), most=most)
    assert (len(found.meta), len(found.validation), len(found.test)) == (5, 2, 3)
    (document, *_) = found.test
    assert len(document.tokens) == squad.WINDOW
    assert [at for at, states in enumerate(document.states_value) if states] == [12, 13]
    assert document.questions[0].answer[:2] == document.tokens[12:14]
    assert len(found.known) == 3
    padded(found.test, found.window)


LONG = Question(prompt=(1,) * 10, answer=(1, 2, 3))


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: padded(CORPUS.meta, 2), r"document 0 of the stream has .* window holds 2: cut"),
        (lambda: asked([LONG], 12), r"a question has 13 tokens .* window holds 12"),
        (lambda: asked([], 12), "these documents have no question"),
    ],
)
def test_what_does_not_fit_says_so(make: Callable[[], object], said: str) -> None:
    with pytest.raises(DataError, match=said):
        make()
