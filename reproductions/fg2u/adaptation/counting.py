"""One gradient per method and depth on a small GPT in float64: its bytes, and its error."""

from __future__ import annotations

import torch

from harness.declare import Row, RunContext
from reproductions.fg2u.adaptation.experiment import FIRST_DEPTH, HEADS, INNER_LR, Counting
from reproductions.fg2u.method.estimator import Estimator
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.trees import norm, num_entries, tree_map
from reproductions.fg2u.models import facts
from reproductions.fg2u.models.adaptation import Base, Episode, Phi, adaptation, episode
from reproductions.fg2u.models.documents import Corpus, asked
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.gpt import Gpt
from reproductions.fg2u.models.stream import questions_of

PEOPLE = facts.Sizes(known=1, passing=1, repeats=1, meta=48, validation=1, test=1)


def cost_rows(params: Counting, ctx: RunContext) -> list[Row]:
    """Count a gradient of RGU and one direction of (FG)2U per depth; all directions at the first.

    Weights and phi are drawn, not trained: neither statement depends on them.
    """
    generator = generator_of(ctx, "counting")
    corpus = facts.corpus(PEOPLE, generator)
    net = Gpt(
        vocab=corpus.vocab, width=params.width, num_blocks=1, heads=HEADS, window=corpus.window
    )
    base = Base(net=net, weights=tree_map(torch.Tensor.double, net.drawn(generator)))
    phi = {
        "slope": torch.randn(params.width, generator=generator).double(),
        "offset": torch.randn(1, generator=generator).double(),
    }
    methods: dict[str, Estimator] = {
        "rgu": hypergradient("rgu"),
        "fg2u": hypergradient("fg2u", num_directions=1),
    }
    rows: list[Row] = []
    for name, depths in {"rgu": params.rgu_depths, "fg2u": params.fg2u_depths}.items():
        for depth in (int(word) for word in depths.split()):
            batch = _episode(corpus, base, depth, params.num_questions)
            peak = _peak(methods[name], base, phi, batch, depth)
            rows.append({"method": name, "depth": depth, "peak_bytes": peak})
    batch = _episode(corpus, base, FIRST_DEPTH, params.num_questions)
    error = coordinate_error(base, phi, batch)
    return [
        {**row, "gradient_error": error if row["depth"] == FIRST_DEPTH else None} for row in rows
    ]


def coordinate_error(base: Base, phi: Phi, batch: Episode) -> float:
    """Return how far (FG)2U along every coordinate is from RGU, over the gradient's norm."""
    problem = adaptation(base, depth=FIRST_DEPTH, lr=INNER_LR, direction="updated_initial")
    count = num_entries(phi)
    forward = hypergradient("fg2u", num_directions=count, chunk=count, directions="coordinate")
    exact = hypergradient("rgu")(problem, phi, batch).grad
    found = forward(problem, phi, batch, torch.Generator().manual_seed(0)).grad
    error = float(norm(tree_map(torch.sub, found, exact)) / norm(exact))
    # What is left of zero is another number on each machine.
    return round(error, 12)


def _peak(method: Estimator, base: Base, phi: Phi, batch: Episode, depth: int) -> int:
    problem = adaptation(base, depth=depth, lr=INNER_LR, direction="updated_initial")
    return method.peak_bytes(problem, phi, batch, torch.Generator().manual_seed(0))


def _episode(corpus: Corpus, base: Base, depth: int, num_questions: int) -> Episode:
    documents = corpus.meta[:depth]
    found = episode(
        documents, corpus.known, corpus.window, base=base, trunk=base, which=[0] * depth
    )
    return found._replace(questions=asked(questions_of(documents)[:num_questions], corpus.window))
