"""Rules for texts and records: each names the catalogue's data sets that it makes."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from typing import Any

from harness.data.rules.files import Files

Records = list[dict[str, Any]]

ALPACA_FIELDS = ("instruction", "input", "output")
AGIEVAL_TASKS = (
    "sat-en", "sat-math", "sat-en-without-passage", "lsat-ar", "lsat-lr", "lsat-rc",
    "logiqa-en", "aqua-rat", "gaokao-english", "math",
)  # fmt: skip
WINOGRANDE = re.compile(
    r".*?given sentence: (.*)\n\nOption1: (.*?) Option2: (.*?) Answer format: option1/option2",
    re.DOTALL,
)
CHOOSE = re.compile(r".*?answer to the question: (.*?)\n\n(Answer1: .*)\n\nAnswer format: ", re.S)
CHOICE = re.compile(r"\s*Answer\d+: ")
TRUE_OR_FALSE = re.compile(r".*?true or false, question: (.*)\n\nAnswer format: true/false", re.S)


def text(files: Files) -> str:
    """tinyshakespeare, wikitext2_*: the file, unchanged."""
    return files.only().decode()


def unchanged(files: Files) -> Records:
    """gsm8k_*, mt_bench_*, lambada_test: the records of a file of JSON lines."""
    return _lines(files.only())


def bible(files: Files) -> Records:
    """kjv: one record a book, in the order of the file, its verses joined by line ends."""
    verses: dict[str, list[str]] = {}
    for verse in _lines(files.one("*/data/kjv.jsonl")):
        verses.setdefault(verse["book"], []).append(verse["text"])
    return [{"title": book, "text": "\n".join(texts)} for book, texts in verses.items()]


def alpaca_shards(files: Files) -> Records:
    """alpaca_cleaned: shards in the order of their numbers, without doubles and the held out."""
    kept: dict[tuple[str, str], dict[str, Any]] = {}
    for name in sorted(files.matching("*/alpaca_data/file_*.json"), key=_shard_number):
        for record in json.loads(files[name]):
            asked = (record["instruction"], record["input"])
            held_out = _residue("alpaca" + "\x1f".join(asked), 25) == 0
            if record["output"].strip() and not held_out:
                kept.setdefault(asked, {field: record[field] for field in ALPACA_FIELDS})
    return list(kept.values())


def squad_articles(files: Files) -> Records:
    """squad_docs: one record per paragraph of a file in SQuAD's own form."""
    return list(_paragraphs(files.only()))


def squad_single(files: Files) -> Records:
    """squad_single: flat records whose context is neither in squad_docs nor in xquad_en."""
    others = [*_paragraphs(files["squad_docs.json"]), *_paragraphs(files["xquad.en.json"])]
    taken = {record["context"] for record in others}
    records: Records = json.loads(files["squad_single.json"])
    return [
        {field: record[field] for field in ("context", "question", "answer")}
        for record in records
        if record["context"] not in taken and _residue("squad" + record["context"], 5)
    ]


def pubmedqa(files: Files) -> Records:
    """pubmedqa_pqal: labelled questions, those of the ground truth as the test split."""
    truth = json.loads(files["test_ground_truth.json"])
    found = json.loads(files["ori_pqal.json"])
    return [
        {
            "pmid": pmid,
            "split": "test" if pmid in truth else "train",
            "question": record["QUESTION"],
            "contexts": record["CONTEXTS"],
            "long_answer": record["LONG_ANSWER"],
            "final_decision": record["final_decision"],
        }
        for pmid, record in found.items()
    ]


def agieval(files: Files) -> Records:
    """agieval_en: the English tasks one after the other, each record with its task."""
    return [{"task": t, **r} for t in AGIEVAL_TASKS for r in _lines(files[f"{t}.jsonl"])]


def mmlu(files: Files) -> Records:
    """mmlu: all subjects' five shots, then all subjects' tests, from CSV without a head."""
    return [
        {
            "subject": name.rsplit("/", 1)[1].removesuffix(f"_{split}.csv"),
            "split": split,
            "question": question,
            "choices": choices,
            "answer": "ABCD".index(answer),
        }
        for split in ("dev", "test")
        for name in files.matching(f"*/data/mmlu/{split}/*_{split}.csv")
        for question, *choices, answer in csv.reader(io.StringIO(files[name].decode(), newline=""))
    ]


def winogrande(files: Files) -> Records:
    """winogrande_val: the sentence and its two options, out of a prompt."""
    records = []
    for record in json.loads(files.only()):
        sentence, first, second = _parsed(WINOGRANDE, record)
        answer = int(record["answer"].removeprefix("option"))
        records.append(
            {"sentence": sentence, "option1": first, "option2": second, "answer": answer}
        )
    return records


def split_choices(files: Files) -> Records:
    """arc_easy: split, question, choices and the right one's index, out of prompts of two files."""
    return [
        {"split": split, **_choice(record)}
        for split in ("train", "test")
        for record in json.loads(files[f"{split}.json"])
    ]


def true_or_false(files: Files) -> Records:
    """boolq_val_noctx: question and truth value, out of a prompt."""
    truth = {"true": True, "false": False}
    return [
        {"question": _parsed(TRUE_OR_FALSE, record)[0], "answer": truth[record["answer"]]}
        for record in json.loads(files.only())
    ]


def piqa(files: Files) -> Records:
    """piqa_val: records and labels, joined by line."""
    labels = files["valid-labels.lst"].decode().split()
    return [
        {
            "goal": record["goal"],
            "sol1": record["sol1"],
            "sol2": record["sol2"],
            "answer": int(label),
        }
        for record, label in zip(_lines(files["valid.jsonl"]), labels, strict=True)
    ]


def _lines(data: bytes) -> Records:
    return [json.loads(line) for line in data.decode().split("\n") if line.strip()]


def _shard_number(name: str) -> int:
    return int(name.rsplit("file_", 1)[1].split("-")[0])


def _residue(marked: str, modulus: int) -> int:
    return int(hashlib.sha256(marked.encode()).hexdigest(), 16) % modulus


def _paragraphs(data: bytes) -> Iterator[dict[str, Any]]:
    for article in json.loads(data)["data"]:
        for index, paragraph in enumerate(article["paragraphs"]):
            context = paragraph["context"]
            asked = [_asked(qa) for qa in paragraph["qas"]]
            yield {"title": article["title"], "paragraph": index, "context": context, "qas": asked}


def _asked(qa: dict[str, Any]) -> dict[str, Any]:
    answers = [answer["text"] for answer in qa["answers"]]
    starts = [answer["answer_start"] for answer in qa["answers"]]
    return {
        "id": qa["id"], "question": qa["question"], "answers": answers, "answer_starts": starts,
    }  # fmt: skip


def _choice(record: dict[str, Any]) -> dict[str, Any]:
    question, listed = _parsed(CHOOSE, record)
    answer = int(record["answer"].removeprefix("answer")) - 1
    return {"question": question, "choices": CHOICE.split(listed)[1:], "answer": answer}


def _parsed(form: re.Pattern[str], record: dict[str, Any]) -> tuple[str, ...]:
    if not (found := form.match(record["instruction"])):
        raise ValueError(f"no prompt of the known form: {record['instruction'][:60]!r}")
    return tuple(part.strip() for part in found.groups())
