"""What the claims on online adaptation share: scopes, names, and that one row is the better one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from functools import partial

from harness.declare import CPU, PAPER, Criterion, Scope, at_least, more_than, ours
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.table import EQUAL, RGU

Declared = tuple[str, Scope, Criterion, str]
IN_HOUSE = ours("DEV-41", profiles=CPU, elsewhere="only `cpu` trains models of several seeds")
PAPERS_MODELS = ours(
    "DEV-41", profiles=PAPER, elsewhere="the paper's own models run in its own setting alone"
)
ANSWERED = "streamingqa"
"""The stream on which models of ours learn answers: on SQuAD's articles they answer nothing, before
or after they read, so that claims on these are asked of the paper's models alone."""
NAMES = {"streamingqa": "StreamingQA", "squadseq": "SQuAD-Seq"}
WORDS = {"streamingqa": "streamingqa", "squadseq": "squad_seq"}
"""As the names of the paper's numbers have them."""
SCORES = {"em": "EM", "f1": "F1"}
MODELS = {"small": "DistilGPT2", "large": "GPT2-Large", "largest": "GPT2-XL"}
"""Of the paper, that read a stream."""
READERS = {name: MODELS[name] for name in ("small", "large")}
"""Those that a model of ours stands for."""
LEARNED = ({"entry": EQUAL}, {"entry": RGU})
"""Equal weights, and those that RGU learned."""
TAUGHT = 0.01
"""F1 that RGU's weights must gain over equal ones before other weights are compared."""
UNITS = {"f1": "F1", "qa_loss_after": "nats"}


def taught(scope: Scope, datasets: tuple[str, ...], models: tuple[str, ...]) -> Scope:
    """Return where claims are decided: CaMeLS must help those who read at all."""
    gained = partial(q.gains, column="f1", datasets=datasets, eval_models=models, pairs=(LEARNED,))
    return scope.controlled(
        "weights learned by RGU help by a point of F1 over equal ones on"
        f" {' and '.join(NAMES[each] for each in datasets)}",
        at_least(gained, TAUGHT, UNITS["f1"]),
    )


def gain(
    id: str,
    statement: str,
    *pairs: q.Pair,
    datasets: tuple[str, ...],
    measures: str,
    steps: Sequence[str] = ("",),
    column: str = "f1",
    models: Collection[str] = READERS,
    scope: Scope = IN_HOUSE,
    ask: Callable[..., Criterion] = more_than,
    read: dict[str, tuple[str | int, ...]] | None = None,
) -> Declared:
    """Return the claim that a score rises from the first to the second row of each pair.

    steps: names of the pairs. column: the score. read: by column the
    values of the rows that are read, where their step size on the stream could be in doubt.
    """
    models = tuple(models)
    if scope.control is None:
        scope = taught(scope, datasets, models)
    quantity = partial(q.gains, column=column, datasets=datasets, eval_models=models, pairs=pairs)
    names = [
        ", ".join(filter(None, (NAMES[each] if len(datasets) > 1 else "", MODELS[model], step)))
        for each in datasets
        for model in models
        for step in steps
    ]
    criterion = ask(quantity, 0, UNITS[column]).naming(*names).measuring(measures)
    if read:
        rows = {"dataset": datasets, "eval_model": models, **read}
        criterion = criterion.unless(partial(q.at_edge, **rows))
    return id, scope, criterion, statement
