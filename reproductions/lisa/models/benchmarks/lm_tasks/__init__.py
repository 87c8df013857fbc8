"""Seven benchmarks for lm-eval: our own files over documents handed in.

The files have lm-eval's stock prompts, filters and metrics, without examples in the prompt (the
paper does not state its shots). They name no data set, so lm-eval fetches nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.canonical import digest
from harness.declare import RunContext
from harness.lm_eval import Documents
from reproductions.lisa.models.names import GRAMMAR
from reproductions.lisa.models.word_problems import sample

FIELDS = {
    "mmlu": ("subject", "question", "choices", "answer"),
    "agieval": ("passage", "question", "options", "label"),
    "winogrande": ("sentence", "option1", "option2", "answer"),
    "gsm8k": ("question", "answer"),
    "pubmedqa": ("contexts", "question", "final_decision"),
    "arc_easy": ("question", "choices", "answer"),
    "piqa": ("goal", "sol1", "sol2", "answer"),
}
"""What a prompt and its answer are made of."""


def definition(benchmark: str) -> str:
    """Return the text of a benchmark's file."""
    return (Path(__file__).parent / f"{benchmark}.yaml").read_text(encoding="utf-8")


def documents_of(benchmark: str, records: Documents, *, most: int) -> Documents:
    """Return the documents that are asked: of the test split the first in the order of their hash.

    records: the staged data set. most: how many; 0 for all. AGIEval's `math`, which has no
    choices, is left out.
    """
    asked = [
        record
        for record in records
        if record.get("split", "test") == "test" and record.get("task") != "math"
    ]
    ordered = sorted(asked, key=digest)
    chosen = ordered[:most] if most else ordered
    return [{name: record[name] for name in FIELDS[benchmark]} for record in chosen]


def documents_for(
    benchmarks: Mapping[str, str], ctx: RunContext, *, most: int, made_up: bool
) -> dict[str, Documents]:
    """Return the documents of benchmarks; made-up ones where a model is too small for any other.

    benchmarks: each with its data set. most: of each benchmark, as in `documents_of`.
    """
    if made_up:
        made = made_up_documents(ctx.dataset(GRAMMAR).text, most)
        return {name: made[name] for name in benchmarks}
    return {
        name: documents_of(name, ctx.dataset(source).records, most=most)
        for name, source in benchmarks.items()
    }


def made_up_documents(text: str, count: int) -> dict[str, Documents]:
    """Return documents of every benchmark from running text, and arithmetic of our own.

    They exercise the path and measure nothing: the right answer is the sentence that follows, the
    word that stood there, or nothing in particular.
    """
    sentences = [part.strip() for part in text.replace("\n", " ").split(".") if " " in part.strip()]
    groups = [sentences[5 * index : 5 * index + 5] for index in range(count)]
    makers: dict[str, Callable[[int, Sequence[str]], dict[str, Any]]] = {
        "mmlu": _mmlu,
        "agieval": _agieval,
        "winogrande": _winogrande,
        "pubmedqa": _pubmedqa,
        "arc_easy": _arc_easy,
        "piqa": _piqa,
    }
    made: dict[str, Documents] = {
        name: [make(index, group) for index, group in enumerate(groups)]
        for name, make in makers.items()
    }
    problems = sample("test", count, seed=0)
    made["gsm8k"] = [{"question": one.question, "answer": one.answer} for one in problems]
    return made


def _mmlu(index: int, group: Sequence[str]) -> dict[str, Any]:
    here, right, *wrong = group
    place = index % 4
    choices = [*wrong[:place], right, *wrong[place:]]
    return {"subject": "made_up_text", "question": here, "choices": choices, "answer": place}


def _agieval(index: int, group: Sequence[str]) -> dict[str, Any]:
    made = _mmlu(index, group)
    options = [f"({letter}){one}" for letter, one in zip("ABCD", made["choices"], strict=True)]
    return {
        "passage": made["question"],
        "question": "What comes next?",
        "options": options,
        "label": "ABCD"[made["answer"]],
    }


def _winogrande(index: int, group: Sequence[str]) -> dict[str, Any]:
    first, gap, *rest = group[0].split(" ")
    other = group[1].split(" ")[0].lower()
    one, two = (gap, other) if index % 2 == 0 else (other, gap)
    sentence = " ".join([first, "_", *rest]) + "."
    return {"sentence": sentence, "option1": one, "option2": two, "answer": 1 + index % 2}


def _pubmedqa(index: int, group: Sequence[str]) -> dict[str, Any]:
    decision = ("yes", "no", "maybe")[index % 3]
    return {"contexts": list(group[:2]), "question": f"{group[2]}?", "final_decision": decision}


def _arc_easy(index: int, group: Sequence[str]) -> dict[str, Any]:
    made = _mmlu(index, group)
    return {name: made[name] for name in FIELDS["arc_easy"]}


def _piqa(index: int, group: Sequence[str]) -> dict[str, Any]:
    here, right, wrong, *_ = group
    one, two = (right, wrong) if index % 2 == 0 else (wrong, right)
    return {"goal": here, "sol1": one, "sol2": two, "answer": index % 2}
