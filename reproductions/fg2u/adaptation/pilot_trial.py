"""From the parameters of a pilot of online adaptation to its rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from harness.declare import Row, RunContext
from reproductions.fg2u.adaptation.experiment import (
    BLOCKS,
    HEADS,
    SIZES,
    STREAM_LRS,
    WIDTHS,
    first_phase,
)
from reproductions.fg2u.adaptation.learning import learn, read_rows
from reproductions.fg2u.adaptation.pilot_experiment import Stream
from reproductions.fg2u.adaptation.trial import FACTS, MAX_ASKED
from reproductions.fg2u.models import facts
from reproductions.fg2u.models.adaptation import Base, no_preference
from reproductions.fg2u.models.answers import scored
from reproductions.fg2u.models.documents import Corpus
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.gpt import Gpt
from reproductions.fg2u.models.stream import Recipe, questions_of, trained


def stream_rows(params: Stream, ctx: RunContext) -> list[Row]:
    """Train both models, learn weights of tokens by RGU, and read streams of two lengths.

    The shorter streams are the first documents of the longer ones, in the numbers that the
    experiment of Table 2 reads: its validation stream is half as long as its test stream.
    """
    sizes = FACTS[params.scale]
    longer = replace(sizes, validation=params.num_read, test=params.num_read)
    corpus = facts.corpus(longer, generator_of(ctx, "corpus"))
    models = _models(params, ctx, corpus)
    trunk = models["small"]
    weighing = first_phase("streamingqa", params.scale, seed=params.seed)
    equal, learned = no_preference(WIDTHS[params.scale]), no_preference(WIDTHS[params.scale])
    learn(weighing, ctx, learned, corpus, base=trunk, trunk=trunk)
    known = {name: _known(model, corpus) for name, model in models.items()}
    shorter = replace(
        corpus,
        validation=corpus.validation[: sizes.validation],
        test=corpus.test[: sizes.test],
    )
    rows: list[Row] = []
    for length, read in (("shorter", shorter), ("longer", corpus)):
        for weights, phi in (("equal", equal), ("learned", learned)):
            said = {"streams": length, "weighing": weights}
            found = read_rows(models, trunk, phi, read, STREAM_LRS, said)
            rows += [{**row, "known_em": known[str(row["eval_model"])]} for row in found]
    return rows


def _models(params: Stream, ctx: RunContext, corpus: Corpus) -> dict[str, Base]:
    steps = {"small": params.small_steps, "large": params.large_steps}
    found: dict[str, Base] = {}
    for name in SIZES:
        net = Gpt(
            vocab=corpus.vocab, width=WIDTHS[params.scale], num_blocks=BLOCKS[params.scale][name],
            heads=HEADS, window=corpus.window,
        )  # fmt: skip
        recipe = Recipe(num_steps=steps[name], batch_size=8 if params.scale == "tiny" else 32)
        found[name] = Base(
            net=net, weights=trained(net, corpus, recipe, generator_of(ctx, f"base {name}"))
        )
    return found


def _known(model: Base, corpus: Corpus) -> float:
    """Return the share of exact answers about documents that the model was trained on."""
    questions: Any = questions_of(corpus.known)[:MAX_ASKED]
    return float(
        scored(model.net, model.weights, questions, corpus.window, corpus.text).exact_match
    )
