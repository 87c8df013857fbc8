"""What the claims on online adaptation share: scopes, names, and that one row is the better one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import product
from typing import Any

from harness.declare import CPU, PAPER, Criterion, Scope, at_least, more_than, ours
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.experiment import NAMES, SIZES
from reproductions.fg2u.adaptation.table import EQUAL, RGU

Declared = tuple[str, Scope, Criterion, str]
IN_HOUSE = ours("DEV-41", profiles=CPU, elsewhere="only `cpu` trains models of several seeds")
PAPERS_MODELS = ours(
    "DEV-41", profiles=PAPER, elsewhere="the paper's own models run only in its own setting"
)
ANSWERED = "streamingqa"
"""The stream on which models of ours learn answers: on SQuAD's articles they answer nothing, before
or after they read, so that claims on these are asked of the paper's models alone."""
WORDS = {"streamingqa": "streamingqa", "squadseq": "squad_seq"}
"""As the names of the paper's numbers have them."""
SCORES = {"em": "EM", "f1": "F1"}
MODELS = {"small": "DistilGPT2", "large": "GPT2-Large", "largest": "GPT2-XL"}
"""Of the paper, that read a stream."""
READERS: dict[str, str] = {name: MODELS[name] for name in SIZES}
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
        "weights learned by RGU raise F1 by a point over equal ones on"
        f" {' and '.join(NAMES[each] for each in datasets)}",
        at_least(gained, TAUGHT, UNITS["f1"]),
    )


def gain(
    id: str,
    statement: str,
    *pairs: q.Pair,
    measures: str,
    datasets: tuple[str, ...] = (ANSWERED,),
    steps: Sequence[str] = ("",),
    column: str = "f1",
    scope: Scope = IN_HOUSE,
    ask: Callable[..., Criterion] = more_than,
) -> Declared:
    """Return the claim that a score rises from the first to the second row of each pair.

    steps: names of the pairs. column: the score. scope: also says whose models are asked about.
    """
    names = MODELS if scope.profiles == PAPER else READERS
    asked: dict[str, Any] = {"datasets": datasets, "eval_models": tuple(names), "pairs": pairs}
    if scope.control is None:
        scope = taught(scope, datasets, tuple(names))
    told = [
        ", ".join(filter(None, (NAMES[each] if len(datasets) > 1 else "", name, step)))
        for each, name, step in product(datasets, names.values(), steps)
    ]
    criterion = ask(partial(q.gains, column=column, **asked), 0, UNITS[column])
    criterion = criterion.naming(*told).measuring(measures).unless(partial(q.at_edge, **asked))
    return id, scope, criterion, statement
