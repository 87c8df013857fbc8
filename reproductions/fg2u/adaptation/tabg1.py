"""Table G.1: StreamingQA by model that reads, unrolled depth and base of the meta model."""

from __future__ import annotations

from collections.abc import Iterator

from harness.declare import Cell, Layout, Line, Task, at_most, claims
from reproductions.fg2u.adaptation import quantities as q
from reproductions.fg2u.adaptation.claims import (
    MODELS,
    PAPERS_MODELS,
    SCORES,
    WORDS,
    Declared,
    gain,
)
from reproductions.fg2u.adaptation.experiment import DEPTHS, FIRST_DEPTH, NAMES, first, second
from reproductions.fg2u.adaptation.given_experiment import handed_in
from reproductions.fg2u.adaptation.table import RGU, adapted

BASES = {"small": "DistilGPT2", "large": "GPT2"}


def depth_layout(dataset: str) -> Layout:
    """Return a table by model that reads, depth and base; RGU at its own depth."""
    runs = [(FIRST_DEPTH, "rgu", 1), *((depth, "fg2u", 2) for depth in DEPTHS)]
    return Layout(
        rows=tuple(
            Line(name, where={"eval_model": model}, paper={"series": name.lower()})
            for model, name in MODELS.items()
        ),
        columns=tuple(
            Line(
                head,
                group=f"{'RGU' if method == 'rgu' else '(FG)²U'}, depth {depth}, base {base}",
                where=where(method, phase, size, depth),
                cell=Cell(column, unit="%", scale=0.01, digits=2),
                paper={
                    "series": f"{method} base_{base.lower()}",
                    "x": str(depth),
                    "y_name": f"{WORDS[dataset]}_{column}",
                },
            )
            for depth, method, phase in runs
            for size, base in BASES.items()
            for column, head in SCORES.items()
        ),
        where={"dataset": dataset},
        notes=("RGU with the base GPT2 did not fit into the paper's memory and was not run.",),
    )


def where(method: str, phase: int, size: str, depth: int) -> dict[str, str | int]:
    """Return which rows belong to a run."""
    found: dict[str, str | int] = {"method": method, "meta_base_model": size, "depth": depth}
    return {**found, "entry": RGU} if method == "rgu" else {**found, "phase": phase}


def _papers_models(dataset: str) -> Iterator[Declared]:
    """Yield what the table says of depths and bases, of the paper's own models."""
    few, many = DEPTHS
    small, large = ([q.of_base(base, depth) for depth in DEPTHS] for base in BASES)
    yield gain(
        "gpt2_gains_nothing_from_depth",
        "With the base GPT2 an unroll of 48 documents gives no higher F1 than one of 24 on"
        f" {NAMES[dataset]}.",
        (large[0], large[1]),
        datasets=(dataset,),
        scope=PAPERS_MODELS,
        ask=at_most,
        measures="F1 at 48 less F1 at 24",
    )
    yield gain(
        "distilgpt2_gains_from_depth",
        f"With the base DistilGPT2 a deeper unroll gives a higher F1 on {NAMES[dataset]}.",
        ({"entry": RGU}, small[0]),
        (small[0], small[1]),
        datasets=(dataset,),
        steps=(f"{few} against {FIRST_DEPTH}", f"{many} against {few}"),
        scope=PAPERS_MODELS,
        measures="F1 by the deeper unroll less F1 by the other",
    )
    yield gain(
        "larger_base_better",
        f"At equal depth the base GPT2 gives a higher F1 than DistilGPT2 on {NAMES[dataset]}.",
        *zip(small, large, strict=True),
        datasets=(dataset,),
        steps=[f"{depth} documents" for depth in DEPTHS],
        scope=PAPERS_MODELS,
        measures="F1 by GPT2 less F1 by DistilGPT2",
    )


def depth_table(word: str, where: str, dataset: str) -> Task:
    """Return the task of Table G.1 or G.2."""
    return Task(
        f"fg2u/{word}",
        reads=(first, second, handed_in),
        table=adapted(dataset=dataset),
        claims=claims(where, *_papers_models(dataset)),
        layout=depth_layout(dataset),
        figure="figures:depth_panels",
        caption="F1 and loss of the right answers after one pass over a stream, against documents"
        " of an unroll, by base model: RGU at six documents, (FG)²U from there. Means over seeds,"
        " bars: standard error; hollow: the paper's F1.",
        alt="Two rows of panels, F1 and loss, against depth, a line per base, for two models.",
    )


task = depth_table("tabg1", "Table G.1", "streamingqa")
