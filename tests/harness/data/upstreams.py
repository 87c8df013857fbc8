"""Writes upstream files, in their own formats, that hold what the staged data sets were made of.

Each writer is the inverse of a rule, with what the rule must leave out put in: held-out records,
doubles, images of other positions. That shows that a rule reads the format; that the real
upstream has this format only a run on it can show.
"""

from __future__ import annotations

import gzip
import io
import json
import struct
import tarfile
import zipfile
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
import torch
from PIL import Image

from harness.data.load import load
from harness.data.rules.models import CONFIG, _layout
from harness.data.rules.records import AGIEVAL_TASKS

Names = Sequence[str]
Written = dict[str, bytes]
LETTERS = "ABCD"


def json_lines(records: Sequence[dict[str, Any]]) -> bytes:
    # With escapes, and so other bytes than ours: as gsm8k is stored upstream.
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def zipped(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in members.items():
            archive.writestr(f"repository-0123abc/{name}", data)
    return buffer.getvalue()


def text(value: str, names: Names) -> Written:
    return {names[0]: value.encode()}


def unchanged(value: list[dict[str, Any]], names: Names) -> Written:
    return {names[0]: json_lines(value)}


def alpaca_shards(value: list[dict[str, Any]], names: Names) -> Written:
    # sha256("alpaca" + "held out 4" + "\x1f") is a multiple of 25, so that it is held out.
    others = [
        {"instruction": "held out 4", "input": "", "output": "o"},
        value[0] | {"output": "a double"},
        {"instruction": "asks for nothing", "input": "", "output": ""},
    ]
    records = [value[0], *others, *value[1:]]
    shards = range(0, len(records), 25)
    members = {
        f"alpaca_data/file_{start}-{start + 24}.json": json.dumps(records[start : start + 25])
        for start in sorted(shards, key=str)
    }
    return {names[0]: zipped({name: data.encode() for name, data in members.items()})}


def squad_articles(value: list[dict[str, Any]], names: Names) -> Written:
    return {names[0]: _squad(value)}


def _squad(value: list[dict[str, Any]]) -> bytes:
    articles: list[dict[str, Any]] = []
    for record in value:
        if record["paragraph"] == 0:
            articles.append({"title": record["title"], "paragraphs": []})
        qas = [
            {
                "answers": [
                    {"answer_start": start, "text": answer}
                    for answer, start in zip(qa["answers"], qa["answer_starts"], strict=True)
                ],
                "question": qa["question"],
                "id": qa["id"],
            }
            for qa in record["qas"]
        ]
        articles[-1]["paragraphs"].append({"context": record["context"], "qas": qas})
    return json.dumps({"data": articles, "version": "1.1"}).encode()


def squad_single(value: list[dict[str, Any]], names: Names) -> Written:
    docs = load("squad_docs").records
    taken = [{"context": r["context"], "question": "?", "answer": "!"} for r in docs[:2]]
    # sha256("squad" + "held out 3") is a multiple of 5.
    held_out = {"context": "held out 3", "question": "?", "answer": "!"}
    flat = json.dumps([*taken, held_out, *value]).encode()
    last = max(place for place, record in enumerate(docs) if record["paragraph"] == 0)
    return dict(zip(names, (flat, _squad(docs[:last]), _squad(docs[last:])), strict=True))


def pubmedqa(value: list[dict[str, Any]], names: Names) -> Written:
    found = {
        r["pmid"]: {
            "QUESTION": r["question"],
            "CONTEXTS": r["contexts"],
            "MESHES": [],
            "final_decision": r["final_decision"],
            "LONG_ANSWER": r["long_answer"],
        }
        for r in value
    }
    truth = {r["pmid"]: r["final_decision"] for r in value if r["split"] == "test"}
    return dict(zip(names, (json.dumps(found).encode(), json.dumps(truth).encode()), strict=True))


def agieval(value: list[dict[str, Any]], names: Names) -> Written:
    by_task: dict[str, list[dict[str, Any]]] = {task: [] for task in AGIEVAL_TASKS}
    for record in value:
        by_task[record["task"]].append({k: v for k, v in record.items() if k != "task"})
    return {name: json_lines(by_task[name.removesuffix(".jsonl")]) for name in names}


def mmlu(value: list[dict[str, Any]], names: Names) -> Written:
    import csv

    tables: dict[str, io.StringIO] = {}
    for r in value:
        name = f"data/mmlu/{r['split']}/{r['subject']}_{r['split']}.csv"
        row = (r["question"], *r["choices"], LETTERS[r["answer"]])
        csv.writer(tables.setdefault(name, io.StringIO())).writerow(row)
    return {names[0]: zipped({n: t.getvalue().encode() for n, t in reversed(tables.items())})}


def _prompt(instruction: str, answer: str) -> dict[str, str]:
    output = f"the correct answer is {answer}"
    return {"instruction": instruction, "input": "", "output": output, "answer": answer}


def winogrande(value: list[dict[str, Any]], names: Names) -> Written:
    ask = "Please choose the correct answer to fill in the blank to complete the given sentence: "
    prompts = [
        _prompt(
            f"{ask}{r['sentence']}\n\nOption1: {r['option1']} Option2: {r['option2']}"
            " Answer format: option1/option2",
            f"option{r['answer']}",
        )
        for r in value
    ]
    return {names[0]: json.dumps(prompts).encode()}


def split_choices(value: list[dict[str, Any]], names: Names) -> Written:
    splits = ("train", "test")
    parts = [_choices([r for r in value if r["split"] == split]) for split in splits]
    return dict(zip(names, parts, strict=True))


def _choices(value: list[dict[str, Any]]) -> bytes:
    prompts = []
    for r in value:
        listed = " ".join(f"Answer{i}: {each}" for i, each in enumerate(r["choices"], 1))
        form = "/".join(f"answer{i}" for i, _ in enumerate(r["choices"], 1))
        ask = f"Please choose the correct answer to the question: {r['question']}"
        instruction = f"{ask}\n\n{listed}\n\nAnswer format: {form}"
        prompts.append(_prompt(instruction, f"answer{r['answer'] + 1}"))
    return json.dumps(prompts).encode()


def true_or_false(value: list[dict[str, Any]], names: Names) -> Written:
    ask = "Please answer the following question with true or false, question: "
    prompts = [
        _prompt(f"{ask}{r['question']}\n\nAnswer format: true/false", str(r["answer"]).lower())
        for r in value
    ]
    return {names[0]: json.dumps(prompts).encode()}


def piqa(value: list[dict[str, Any]], names: Names) -> Written:
    records = [{key: r[key] for key in ("goal", "sol1", "sol2")} for r in value]
    labels = "".join(f"{r['answer']}\n" for r in value)
    return dict(zip(names, (json_lines(records), labels.encode()), strict=True))


def mnist(value: dict[str, Any], names: Names) -> Written:
    more = {"x_test": np.zeros((5000, 28, 28), np.uint8), "y_test": np.zeros(5000, np.uint8)}
    arrays = [
        np.concatenate([value[key], more[key]]) if key in more else value[key]
        for key in ("x_train", "y_train", "x_test", "y_test")
    ]
    return {name: idx(array) for name, array in zip(names, arrays, strict=True)}


def idx(array: np.ndarray[Any, Any]) -> bytes:
    head = bytes([0, 0, 8, array.ndim]) + struct.pack(f">{array.ndim}i", *array.shape)
    return gzip.compress(head + array.tobytes(), compresslevel=1)


def cifar10_first(value: dict[str, Any], names: Names) -> Written:
    images: dict[str, list[Any]] = {str(each): [] for each in value["classes"]}
    for image, label in zip(value["x_test"], value["y_test"], strict=True):
        # Every second one is left out.
        images[str(value["classes"][label])] += [image, np.zeros_like(image)]
    return {names[0]: _cifar10_binary(), names[1]: zipped(_pngs("test", images))}


def cifar10_more(value: dict[str, Any], names: Names) -> Written:
    return {names[0]: _cifar10_binary()}


@cache
def _cifar10_binary() -> bytes:
    """Return all 50000 rows: those that are known, and others where no class is still wanted."""
    parts = [load(name).arrays for name in ("cifar10_10k_5k", "cifar10_more_10k")]
    index = np.concatenate([part["train_index"] for part in parts])
    labels = np.concatenate([part["y_train"] for part in parts])
    images = np.concatenate([part["x_train"] for part in parts])
    complete_from = sorted((index[labels == label].max(), label) for label in range(10))
    rows = np.zeros((50_000, 3073), np.uint8)
    rows[:, 0] = complete_from[0][1]
    rows[index, 0] = labels
    rows[index, 1:] = images.transpose(0, 3, 1, 2).reshape(-1, 3072)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz", compresslevel=1) as archive:
        members = {f"data_batch_{i + 1}.bin": rows[i * 10_000 : (i + 1) * 10_000] for i in range(5)}
        classes = "\n".join(map(str, parts[0]["classes"])) + "\n\n"
        plain = {name: part.tobytes() for name, part in members.items()}
        for name, data in {"batches.meta.txt": classes.encode(), **plain}.items():
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def cifar100(value: dict[str, Any], names: Names) -> Written:
    members: dict[str, bytes] = {}
    for split in ("train", "test"):
        images: dict[str, list[Any]] = {str(each): [] for each in value["classes"]}
        pairs = zip(value[f"x_{split}"], value[f"y_{split}"], strict=True)
        for image, label in pairs:
            images[str(value["classes"][label])].append(image)
        for found in images.values():
            found.append(np.zeros((32, 32, 3), np.uint8))  # beyond the first ones
        members |= _pngs(split, images)
    return {names[0]: zipped(members)}


def _pngs(split: str, images: dict[str, list[Any]]) -> dict[str, bytes]:
    return {
        f"{split}/{name}/{name}_s_{position:06}.png": _png(image)
        for name, found in images.items()
        for position, image in enumerate(found)
    }


def _png(image: np.ndarray[Any, Any]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(image).save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def resnet(value: dict[str, Any], names: Names) -> Written:
    state = {f"module.{name}": torch.from_numpy(array.copy()) for name, array in value.items()}
    buffer = io.BytesIO()
    # As torch stored it when these were trained.
    torch.save(
        {"state_dict": state, "best_prec1": 91.7}, buffer, _use_new_zipfile_serialization=False
    )
    return {names[0]: buffer.getvalue()}


def llama2c_config(value: dict[str, Any], names: Names) -> Written:
    return {names[0]: struct.pack("<7i", *(value[key] for key in CONFIG)) + b"weights"}


def llama2c_weights(value: dict[str, Any], names: Names) -> Written:
    config = load(f"{MODEL_OF[names[0]]}.config").value
    parts = [struct.pack("<7i", *(config[key] for key in CONFIG))]
    parts += [value[name].tobytes() for name, _ in _layout(config)]
    size = config["dim"] // config["n_heads"]
    frequencies = 1.0 / 10000.0 ** (torch.arange(0, size, 2).float() / size)
    angles = torch.outer(torch.arange(config["max_seq_len"]).float(), frequencies)
    parts += [angles.cos().numpy().tobytes(), angles.sin().numpy().tobytes()]
    return {names[0]: b"".join(parts)}


MODEL_OF = {"stories260K.bin": "stories260k", "model5000.bin": "babyllama_tok105"}


def llama2c_tokenizer(value: dict[str, Any], names: Names) -> Written:
    parts = [struct.pack("<i", value["max_token_length"])]
    for piece, score in value["pieces"]:
        parts.append(struct.pack("<fi", score, len(piece.encode())) + piece.encode())
    return {names[0]: b"".join(parts)}


def sentencepiece_tokenizer(value: dict[str, Any], names: Names) -> Written:
    data = b""
    for number, (piece, score) in enumerate(value["pieces"]):
        inner = b"\x0a" + bytes([len(piece.encode())]) + piece.encode()
        inner += b"\x15" + struct.pack("<f", score)
        inner += b"\x18\x03" if number in (1, 2) else b""  # control pieces have a type
        data += b"\x0a" + bytes([len(inner)]) + inner
    # What the trainer was told, of more than 127 bytes.
    return {names[0]: data + b"\x12\x80\x01" + bytes(128)}


WRITERS: dict[str, Callable[[Any, Names], Written]] = {
    each.__name__: each
    for each in (
        text, unchanged, alpaca_shards, squad_articles, squad_single, pubmedqa, agieval, mmlu,
        winogrande, split_choices, true_or_false, piqa, mnist, cifar10_first, cifar10_more,
        cifar100, resnet,
        llama2c_config, llama2c_weights, llama2c_tokenizer, sentencepiece_tokenizer,
    )
}  # fmt: skip
