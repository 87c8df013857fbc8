"""A small staged folder of all kinds, made for real, and a local stand-in for a hub repository."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from harness.errors import HarnessError
from tools import make_catalogue
from tools.make_catalogue import MANIFEST_COLUMNS

TEXT = "To be, or not to be\nthat is the question \u2014 isn't it?\n"
RECORDS = [{"question": "1 + 1", "answer": "2"}, {"question": "\u2028", "answer": ""}]
FILES = {
    "verse": "text/verse.txt.gz",
    "sums": "eval/sums.jsonl.gz",
    "pixels": "images/pixels.npz",
    "weights": "models/weights.safetensors",
    "weights.config": "models/weights.config.json",
}


def make_folder(root: Path, catalogue: Path) -> None:
    """Write the files, their manifest, and the catalogue made from it."""
    for path in FILES.values():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / FILES["verse"]).write_bytes(gzip.compress(TEXT.encode()))
    lines = "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS)
    (root / FILES["sums"]).write_bytes(gzip.compress(lines.encode()))
    np.savez(root / FILES["pixels"], x=np.arange(24, dtype=np.uint8).reshape(2, 3, 4))
    save_file({"w": np.ones((3, 2), np.float32)}, root / FILES["weights"])
    (root / FILES["weights.config"]).write_text('{"dim": 64}')
    write_manifest(root)
    assert make_catalogue.main([str(root), "--out", str(catalogue), "--no-base"]) == 0


def write_manifest(root: Path) -> None:
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(MANIFEST_COLUMNS)
    for name, path in FILES.items():
        data = (root / path).read_bytes()
        sha256 = hashlib.sha256(data).hexdigest()
        writer.writerow(
            [name, path, "a test", "us", "CC0", 2, len(data), sha256, 'by "hand" \\x1f']
        )
    (root / "MANIFEST.csv").write_text(text.getvalue(), encoding="utf-8")


def local_repo(root: Path, train: list[str], validation: list[str] | None = None) -> Path:
    """Write a folder that `datasets` reads as a repository with two splits."""
    root.mkdir(parents=True, exist_ok=True)
    for split, items in (("train", train), ("validation", validation or ["v"])):
        lines = "".join(json.dumps({"text": item, "other": 1}) + "\n" for item in items)
        (root / f"{split}.jsonl").write_text(lines, encoding="utf-8")
    return root


def local_image_repo(
    root: Path, train: list[tuple[bytes, int]], test: list[tuple[bytes, int]]
) -> Path:
    """Write parquet files of encoded images `img` and classes `label`, as the hub stores them."""
    import datasets

    root.mkdir(parents=True, exist_ok=True)
    columns = datasets.Features({"img": datasets.Image(), "label": datasets.Value("int64")})
    for split, items in (("train", train), ("test", test)):
        rows = {
            "img": [{"bytes": data, "path": None} for data, _ in items],
            "label": [label for _, label in items],
        }
        datasets.Dataset.from_dict(rows, features=columns).to_parquet(root / f"{split}.parquet")
    return root


def one_sentence(error: pytest.ExceptionInfo[HarnessError]) -> str:
    """Return what an error says, once it is seen to be a sentence without its stop."""
    message = str(error.value)
    assert "\n" not in message and not message.endswith(".")
    return message
