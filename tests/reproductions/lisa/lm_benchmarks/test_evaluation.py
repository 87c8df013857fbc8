"""The benchmarks under lm-eval: its stock prompts, its scores beside ours, and which documents."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lm_eval.api.task import ConfigurableTask
from lm_eval.tasks._yaml_loader import load_yaml

from harness.data import load as datasets
from harness.lm_eval import task_over
from reproductions.lisa.lm_benchmarks.experiment import DATASETS
from reproductions.lisa.models.benchmarks.evaluation import StartedLM, benchmark_rows
from reproductions.lisa.models.benchmarks.lm_tasks import definition, documents_of
from reproductions.lisa.models.benchmarks.scorer import QUESTIONS, log_likelihoods, word_problem
from reproductions.lisa.models.generation import greedy
from reproductions.lisa.models.language_model import LanguageModel
from reproductions.lisa.models.stories import read_stories
from reproductions.lisa.models.word_problems import extracted
from tests.reproductions.lisa.benchmark_models import documents, examinee, writer

Document = Mapping[str, Any]
DOCUMENTS: dict[str, list[dict[str, Any]]] = {
    "mmlu": [
        {"subject": "anatomy", "question": " What beats? ", "choices": list("wxyz"), "answer": 2},
        {
            "subject": "high_school_us_history",
            "question": "Who?\nWhen?",
            "choices": ["it's", 'a "b"', "3", ""],
            "answer": 3,
        },
    ],
    "agieval": [
        {
            "passage": "A text.",
            "question": "So?",
            "options": ["(A)x", "(B)y's", "(C)z", "(D)w", "(E)v"],
            "label": "E",
        },
        {"passage": None, "question": "1 + 1?", "options": ["(A)1", "(B)2"], "label": "B"},
    ],
    "winogrande": [
        {"sentence": "Ann thanked Bo as _ ran.", "option1": "Ann", "option2": "Bo", "answer": 1},
        {"sentence": "The _ fits.  ", "option1": "cup's lid", "option2": 'a "box"', "answer": 2},
    ],
    "gsm8k": [{"question": "How many?", "answer": "1 + 1 = 2\n#### 2"}],
    "pubmedqa": [
        {"contexts": ["One.", "Two's."], "question": "Is it?", "final_decision": "maybe"},
        {"contexts": ["Three."], "question": "Was it?", "final_decision": "no"},
    ],
    "arc_easy": [{"question": "What's up?", "choices": ["sky", "a \"b\"", "3"], "answer": 1}],
    "piqa": [{"goal": "To open", "sol1": "turn it", "sol2": "don't", "answer": 1}],
}  # fmt: skip


@pytest.fixture(scope="module")
def lm() -> LanguageModel:
    return examinee()


def rows_of(lm: LanguageModel, asked: Any) -> dict[tuple[str, str], dict[str, Any]]:
    return {(str(row["task"]), str(row["metric"])): dict(row) for row in benchmark_rows(lm, asked)}


# --- prompts ---


def stock_file(name: str, document: Document) -> str:
    subject = document.get("subject")
    return {
        "mmlu": f"mmlu/default/mmlu_{subject}.yaml",
        "agieval": "agieval/aqua-rat.yaml",
        "winogrande": "winogrande/default.yaml",
        "gsm8k": "gsm8k/gsm8k.yaml",
        "pubmedqa": "pubmedqa/pubmedqa.yaml",
        "arc_easy": "arc/arc_easy.yaml",
        "piqa": "piqa/piqa.yaml",
    }[name]


def stock_record(name: str, document: Document) -> dict[str, Any]:
    """Return a document in the fields of the data set that lm-eval's own file names."""
    if name == "winogrande":
        return {**document, "answer": str(document["answer"])}
    if name == "pubmedqa":
        return {**document, "CONTEXTS": document["contexts"], "QUESTION": document["question"]}
    if name == "arc_easy":
        choices = {"text": document["choices"], "label": ["A", "B", "C"]}
        return {**document, "choices": choices, "answerKey": "ABC"[document["answer"]]}
    if name == "piqa":
        return {**document, "label": document["answer"]}
    if name == "agieval":
        # As the authors' script for questions without examples has it (AGIEval, dataset_loader).
        options, last = document["options"], "ABCDE"[len(document["options"]) - 1]
        asked = f"Q: {document['question']} Answer Choices: {' '.join(options)}"
        query = f"{document['passage'] or ''}{asked}\nA: Among A through {last}, the answer is"
        return {"query": query, "choices": options, "gold": ["ABCDE".index(document["label"])]}
    return dict(document)


def stock_task(name: str, document: Document) -> ConfigurableTask:
    found = find_spec("lm_eval")
    assert found is not None and found.submodule_search_locations
    folder = Path(found.submodule_search_locations[0]) / "tasks"
    config = load_yaml(folder / stock_file(name, document))
    kept = {name: value for name, value in config.items() if name not in ("tag", "task_alias")}

    class AtHand(ConfigurableTask):  # type: ignore[misc]
        def download(self, *_: Any, **__: Any) -> None:
            from datasets import Dataset

            splits = ("train", "dev", "validation", "test")
            self.dataset = dict.fromkeys(splits, Dataset.from_list([stock_record(name, document)]))

    return AtHand(config={**kept, "num_fewshot": 0})


def built(task: ConfigurableTask) -> ConfigurableTask:
    task.build_all_requests(limit=None, rank=0, world_size=1)
    return task


CASES = [
    pytest.param(name, document, id=f"{name}{number}")
    for name, some in DOCUMENTS.items()
    for number, document in enumerate(some)
]


@pytest.mark.parametrize(("name", "document"), CASES)
def test_prompts_answers_filters_and_metric_are_lm_evals_own(name: str, document: Document) -> None:
    ours = built(task_over([document], definition=definition(name)).task)
    theirs = built(stock_task(name, document))
    assert [one.args for one in ours.instances] == [one.args for one in theirs.instances]
    for answers in ([(0.0, True), (-1.0, False)], [(-1.0, False), (0.0, True)]):
        results: Any = [*answers, *[(-2.0, False)] * (len(ours.instances) - 2)]
        if name == "gsm8k":
            results = ["2"] if answers[0][1] else ["#### 3"]
        found, expected = (
            one.process_results(next(iter(one.eval_docs)), results) for one in (ours, theirs)
        )
        metric = "exact_match" if name == "gsm8k" else "acc"
        assert found == {metric: expected[metric]}
    config = ours.config
    assert config.filter_list == theirs.config.filter_list
    assert config.generation_kwargs == theirs.config.generation_kwargs


@pytest.mark.parametrize(
    ("name", "document"), [case for case in CASES if case.values[0] in DATASETS]
)
def test_scorer_asks_what_lm_eval_asks(name: str, document: Document) -> None:
    requests = built(stock_task(name, document)).instances
    if name == "gsm8k":
        assert [one.args[0] for one in requests] == [word_problem(document)]
    else:
        assert [one.args for one in requests] == list(QUESTIONS[name](document).pairs)


# --- scores ---


def test_lm_eval_and_the_scorer_agree_on_every_benchmark(lm: LanguageModel) -> None:
    made = documents()
    rows = rows_of(lm, {name: made[name] for name in DATASETS})
    assert {name for name, _ in rows} == set(DATASETS)
    for key, row in rows.items():
        assert row["accuracy"] == row["scorer_accuracy"], key
    # Choices that a model makes, not one for all.
    assert len({row["accuracy"] for row in rows.values()}) > 3
    assert rows["winogrande", "acc"]["random_accuracy"] == 0.5
    assert rows["pubmedqa", "acc"]["random_accuracy"] == pytest.approx(1 / 3)


def test_log_likelihoods_are_those_of_the_scorer_where_texts_are_cut(lm: LanguageModel) -> None:
    questions = [QUESTIONS["agieval"](one) for one in documents()["agieval"][:6]]
    pairs = [*(pair for one in questions for pair in one.pairs), ("", "The letter works.")]
    pairs.append(("Peter is cold", " and the castle sells some clocks" * 20))
    lengths = [len(lm.encode("".join(pair))) for pair in pairs]
    assert min(lengths) < lm.context < max(lengths)
    found = StartedLM(lm).loglikelihood([SimpleNamespace(args=pair) for pair in pairs])
    expected = log_likelihoods(lm, pairs)
    assert [value for value, _ in found] == pytest.approx(expected, rel=1e-5)


ASKED = [f"has {first} a {second}?" for first in "abcdef" for second in "qrs"]


def written(lm: LanguageModel) -> list[str]:
    """Return what lm-eval lets a model write to `ASKED`."""
    options = {"until": ["Question:", "</s>", "<|im_end|>"], "do_sample": False, "temperature": 0.0}
    prompts = [word_problem({"question": question}) for question in ASKED]
    return StartedLM(lm).generate_until(
        [SimpleNamespace(args=(prompt, options)) for prompt in prompts]
    )


def test_written_answers_are_those_to_each_prompt_alone_and_count_alike() -> None:
    lm = writer()
    half, said = lm.context // 2, written(lm)
    for question, text in zip(ASKED, said, strict=True):
        # The prompt's end, after the start token, leaves half the context for the answer.
        prompt = lm.encode(word_problem({"question": question}))[-(half - 1) :]
        (alone,) = greedy(lm, [[lm.bos, *prompt]], max_new_tokens=half)
        assert text == lm.tokenizer.decode(alone, skip_special_tokens=True)
    numbers = [
        extracted(text, filter="strict" if place % 2 else "flexible")
        for place, text in enumerate(said)
    ]
    records = [
        {"question": question, "answer": f"#### {number}"}
        for question, number in zip(ASKED, numbers, strict=True)
    ]
    for (_, metric), row in rows_of(lm, {"gsm8k": records}).items():
        assert row["accuracy"] == row["scorer_accuracy"], metric
        assert 0.0 < row["accuracy"] < 1.0, metric


@pytest.mark.data
@pytest.mark.parametrize("name", list(DATASETS))
def test_lm_eval_and_the_scorer_agree_on_the_real_thing(name: str) -> None:
    records = documents_of(name, datasets.load(DATASETS[name]).records, most=4)
    # Half its context: a quarter of the time, and every text is cut.
    told = read_stories("stories260k", datasets.load)
    told.model.config.max_position_embeddings = 128
    for key, row in rows_of(told, {name: records}).items():
        assert row["accuracy"] == row["scorer_accuracy"], key
        assert row["num_documents"] == 4


def test_documents_are_the_first_of_the_test_split_by_hash_and_none_of_written_formulas() -> None:
    records: list[dict[str, Any]] = [
        {
            **{"task": task, "split": split, "passage": None, "question": f"{i}?"},
            **{"options": ["(A)", "(B)"], "label": "A"},
        }
        for i in range(40)
        for split in ("test", "dev")
        for task in ("lsat-ar", "math")
    ]
    text = {"separators": (",", ":"), "sort_keys": True}
    asked = [one for one in records if (one["split"], one["task"]) == ("test", "lsat-ar")]
    asked.sort(key=lambda one: hashlib.sha256(json.dumps(one, **text).encode()).hexdigest())
    chosen = documents_of("agieval", records, most=5)
    assert [one["question"] for one in chosen] == [one["question"] for one in asked[:5]]
    assert "split" not in chosen[0]
    assert len(documents_of("agieval", records, most=0)) == 40
