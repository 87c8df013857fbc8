"""Score against the base of the meta model, at equal depth and outer steps."""

from __future__ import annotations

from functools import partial

from harness.declare import Task, claims, more_than
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import IN_HOUSE, READERS, SCORE, WORDS, on
from reproductions.fg2u.adaptation.experiment import DEPTHS, STREAMS, first, second
from reproductions.fg2u.adaptation.table import of_datasets


def larger(dataset: str, eval_model: str) -> tuple[object, ...]:
    """Return the claim that the larger base is better at each depth."""
    column, unit = SCORE[dataset]
    depths = DEPTHS
    quantity = partial(
        q.by_base, column=column, dataset=dataset, eval_model=eval_model, depths=depths
    )
    return (
        f"larger_base_better_{dataset}_{eval_model}",
        IN_HOUSE,
        more_than(quantity, 0, unit)
        .naming(*(f"{depth} documents" for depth in depths))
        .measuring("how much better the larger base is")
        .unless(
            partial(
                q.at_edge,
                dataset=(dataset,),
                eval_model=(eval_model,),
                method=("fg2u",),
                depth=depths,
            )
        ),
        f"{on(dataset, eval_model)} weights by (FG)²U with the larger base are better than those"
        f" with the smaller one at equal depth, in {WORDS[dataset]}.",
    )


task = Task(
    "fg2u/abl_base_model",
    reads=(first, second),
    table=of_datasets(*STREAMS),
    claims=claims("Tables G.1 and G.2", *(larger(d, m) for d in STREAMS for m in READERS)),  # type: ignore[arg-type]
    figure="figures:base_panels",
    caption="Answers after one pass over a stream, by the base whose adaptation (FG)²U unrolled: a"
    " GPT of two blocks or of four, in both cases from the RGU result of the smaller one; means"
    " over seeds, bars: standard error. The paper has no such figure; its Tables G.1 and G.2"
    " compare DistilGPT2 and GPT2.",
    alt="Panels of F1 and loss against depth for two models that read and two streams, a line per"
    " base.",
)
