"""From the parameters of a base model or a weight model to rows."""

from __future__ import annotations

from typing import Any

from harness.declare import Row, RunContext
from reproductions.fg2u.adaptation.experiment import (
    BLOCKS,
    HEADS,
    SIZES,
    STREAM_LRS,
    WIDTHS,
    BaseTraining,
    Size,
    Weighing,
    base_of,
    bases,
    first,
    first_phase,
)
from reproductions.fg2u.adaptation.learning import learn, read_rows
from reproductions.fg2u.models import facts, squad
from reproductions.fg2u.models.adaptation import Base, no_preference
from reproductions.fg2u.models.answers import scored
from reproductions.fg2u.models.documents import Corpus
from reproductions.fg2u.models.draws import generator_of
from reproductions.fg2u.models.gpt import Gpt
from reproductions.fg2u.models.stream import Recipe, questions_of, trained

WEIGHTS, PHI = "weights.safetensors", "phi.safetensors"
FACTS = {
    "tiny": facts.Sizes(known=12, passing=12, repeats=1, meta=24, validation=4, test=8),
    "full": facts.Sizes(known=256, passing=600, repeats=4, meta=400, validation=48, test=96),
    "even": facts.Sizes(known=256, passing=600, repeats=4, meta=400, validation=160, test=160),
}
ARTICLES = {
    "tiny": {"meta": 24, "validation": 4, "test": 8},
    "full": {"meta": 400, "validation": 48, "test": 96},
    "even": {"meta": 400, "validation": 96, "test": 96},
}
MAX_ASKED = 200
"""Questions on known documents by which a base model is described."""


def corpus_of(params: Any, ctx: RunContext) -> Corpus:
    """Return a seed's documents, dealt out to what they are for."""
    generator = generator_of(ctx, "corpus")
    if params.stream == "streamingqa":
        return facts.corpus(FACTS[params.scale], generator)
    if params.scale == "tiny":
        articles: Any = squad.made_up(6, 8)
        single: Any = squad.singly(squad.made_up(1, 12))
    else:
        articles, single = (ctx.dataset(name).records for name in (squad.DOCS, squad.SINGLE))
    return squad.corpus(articles, single, generator, most=ARTICLES[params.scale])


def net_of(params: Any, corpus: Corpus, model: Size) -> Gpt:
    """Return a base model's net."""
    return Gpt(
        vocab=corpus.vocab, width=WIDTHS[params.scale], num_blocks=BLOCKS[params.scale][model],
        heads=HEADS, window=corpus.window,
    )  # fmt: skip


def base_rows(params: BaseTraining, ctx: RunContext) -> list[Row]:
    """Train a base model; keep its weights, and ask it what it read and what it did not."""
    corpus = corpus_of(params, ctx)
    net = net_of(params, corpus, params.model)
    recipe = Recipe(num_steps=params.num_steps, batch_size=params.batch_size)
    weights = trained(net, corpus, recipe, generator_of(ctx, "base"))
    ctx.save(WEIGHTS, weights)
    parts = {"known": corpus.known, "test": corpus.test}
    rows: list[Row] = []
    for part, documents in parts.items():
        questions = questions_of(documents)[:MAX_ASKED]
        found = scored(net, weights, questions, corpus.window, corpus.text)
        rows.append({"part": part, "em": found.exact_match, "f1": found.f1, "qa_loss": found.loss})
    return rows


def weighing_rows(params: Weighing, ctx: RunContext) -> list[Row]:
    """Learn weights of tokens, then let both models read the stream with them.

    The first phase also has rows of equal weights, which it starts from.
    """
    corpus = corpus_of(params, ctx)
    models: dict[str, Base] = {
        model: Base(
            net=net_of(params, corpus, model),
            weights=ctx.upstream(bases, base_of(params, model)).load(WEIGHTS),
        )
        for model in SIZES
    }
    trunk = models["small"]
    phi = no_preference(WIDTHS[params.scale])
    if params.phase == 2:
        start = first_phase(params.stream, params.scale, seed=params.seed)
        phi = ctx.upstream(first, start).load(PHI)
    rows: list[Row] = []
    if params.phase == 1:
        rows = read_rows(
            models, trunk, phi, corpus, STREAM_LRS, {"weighing": "equal", "seconds": 0.0}
        )
    said = learn(params, ctx, phi, corpus, base=models[params.meta_base], trunk=trunk)
    ctx.save(PHI, phi)
    said = {"weighing": "learned", **said}
    return rows + read_rows(models, trunk, phi, corpus, STREAM_LRS, said)
