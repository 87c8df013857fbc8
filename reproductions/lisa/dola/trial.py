"""From language models and questions to rows: how many answers are right, greedily and by DoLa.

GSM8K is asked as DoLa's authors ask it: after eight solved questions, whose results have a phrase.
Source: arXiv 2309.03883v2, section 3, and its code's evaluation; the solved questions are those of
arXiv 2201.11903, as lm-eval holds them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

from harness.declare import Outcome, Row, RunContext, Status
from harness.errors import EnvError
from reproductions.lisa.base_model.experiment import base_of
from reproductions.lisa.continual.experiment import runs
from reproductions.lisa.dola.decoding import dola, quarter_exits
from reproductions.lisa.dola.experiment import TEST, Decoded, Given, tuned
from reproductions.lisa.method.blocks import find_blocks
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.instructions import as_examples
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.pretraining import WEIGHTS
from reproductions.lisa.models.scored import load_given
from reproductions.lisa.models.word_problems import Filter, Problem, is_match, sample

NEXT_QUESTION = "Q:"
PHRASE = re.compile(r"the answer is\D*?(-?[0-9][0-9,]*(?:\.[0-9]+)?)", re.IGNORECASE)
FILE = "tasks/gsm8k/gsm8k-cot.yaml"


def decoded_rows(params: Decoded, ctx: RunContext) -> Outcome:
    """Decode with the pre-trained model, and with LISA's after continual pre-training.

    They are asked the first of our own problems that `continual` reports on.
    """
    trained = tuned(params)
    upstream = ctx.upstream(runs, trained)
    if not any(row["split"] == "test" for row in upstream.rows):
        return Outcome(rows=[], status=Status.DIVERGED, note="LISA's training diverged")
    lisa = base_of(params.model, ctx)
    lisa.model.load_state_dict(upstream.load(WEIGHTS))
    models = (("vanilla", base_of(params.model, ctx), None), ("lisa", lisa, trained.lr))
    problems = sample("test", params.num_questions, seed=ctx.seed("problems test"))
    rows: list[Row] = []
    for weights, lm, lr in models:
        told = {"questions": "word_problems", "weights": weights, "lr": lr}
        # Prompts as the model was trained on them.
        prompts = [example.prompt for example in as_examples(problems, lm)]
        found = dola_rows(lm, prompts, problems, max_new_tokens=params.max_new_tokens)
        rows += [{**told, **row} for row in found]
    return Outcome(rows=rows)


def given_rows(params: Given, ctx: RunContext) -> list[Row]:
    """Decode with models handed in, one at a time.

    They are asked the first questions of GSM8K's test split, after eight solved ones.
    """
    shots, records = demonstrations(), ctx.dataset(TEST).records[: params.num_questions]
    problems = [asked(record, shots=shots) for record in records]
    rows: list[Row] = []
    for weights in ("vanilla", "lisa"):
        name = f"{params.model}-{weights}-{params.seed}"
        lm = load_given(name, params.checkpoint, device=ctx.device)
        prompts = [(lm.bos, *lm.encode(one.question)) for one in problems]
        found = dola_rows(lm, prompts, problems, max_new_tokens=params.max_new_tokens, read=marked)
        rows += [{"questions": "gsm8k", "weights": weights, "lr": None, **row} for row in found]
    return rows


def dola_rows(
    lm: LanguageModel,
    prompts: Sequence[Sequence[int]],
    problems: Sequence[Problem],
    *,
    max_new_tokens: int,
    read: Callable[[str], str] = lambda said: said,
) -> list[Row]:
    """Return a row by greedy decoding and one by DoLa, with exits at quarters of the blocks.

    prompts: of each problem its tokens with the start token. read: from what a model says to an
    answer with the mark of its result.
    """
    exits = quarter_exits(len(find_blocks(lm.model)))
    tokens = {
        "greedy": greedy(lm, prompts, max_new_tokens=max_new_tokens),
        "dola": dola(lm, prompts, max_new_tokens=max_new_tokens, exits=exits),
    }
    rows: list[Row] = []
    for decoding, found in tokens.items():
        said = [read(str(lm.tokenizer.decode(one))) for one in found]
        unlike = [one != other for one, other in zip(found, tokens["greedy"], strict=True)]
        rows.append(
            {
                "decoding": decoding,
                "exits": " ".join(map(str, exits if decoding == "dola" else exits[-1:])),
                "accuracy": _share(said, problems, filter="strict"),
                "flexible_accuracy": _share(said, problems, filter="flexible"),
                "unlike_greedy": sum(unlike) / len(unlike),
            }
        )
    return rows


def _share(said: Sequence[str], problems: Sequence[Problem], *, filter: Filter) -> float:
    right = [is_match(s, p.answer, filter=filter) for s, p in zip(said, problems, strict=True)]
    return sum(right) / len(right)


def demonstrations() -> str:
    """Return the solved questions, to stand before a question. Raises EnvError without lm-eval."""
    import yaml

    found = find_spec("lm_eval")
    if found is None or not found.submodule_search_locations:
        raise EnvError("lm-eval is not installed, which holds GSM8K's solved questions: install it")
    text = (Path(found.submodule_search_locations[0]) / FILE).read_text(encoding="utf-8")
    shots = yaml.safe_load(text)["fewshot_config"]["samples"]
    return "".join(f"Q: {shot['question']}\nA: {shot['target']}\n\n" for shot in shots)


def asked(record: Mapping[str, str], *, shots: str) -> Problem:
    """Return a record of GSM8K with its whole prompt as the question."""
    question = f"{shots}Q: {record['question']}\nA:"
    return Problem(question=question, answer=record["answer"], key=record["question"])


def marked(response: str) -> str:
    r"""Return what stands before the next question, with the result after GSM8K's own mark.

    Without the phrase there is no mark: then the last number may count as the result.

    >>> marked(" 5 + 4 = 9. The answer is 9.\n\nQ: And 3?\nA: The answer is 3.")
    ' 5 + 4 = 9. \n#### 9'
    >>> marked(" 5 + 4 = 9.")
    ' 5 + 4 = 9.'
    """
    own = response.split(NEXT_QUESTION)[0]
    found = PHRASE.search(own)
    return own if found is None else f"{own[: found.start()]}\n#### {found.group(1)}"
