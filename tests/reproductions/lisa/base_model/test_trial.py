"""Which texts the in-house model is trained on, and which are held out."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from harness.data.codec import Content
from reproductions.lisa.base_model.experiment import TRAINED
from reproductions.lisa.base_model.trial import HELD_OUT_EACH, texts_of

POINT = replace(TRAINED["cpu"], data="some", text_chars=4)


def split(records: list[dict[str, str]]) -> tuple[list[str], list[str]]:
    content = Content("some", "made", "", records)
    context: Any = SimpleNamespace(dataset=lambda name: content)
    return texts_of(POINT, context)


def test_texts_with_splits_keep_them_and_others_are_held_out_by_number() -> None:
    records = [{"text": f"{number:04d} and more"} for number in range(1, 2 * HELD_OUT_EACH + 2)]
    train, held_out = split(records)
    assert held_out == [f"{HELD_OUT_EACH:04d}", f"{2 * HELD_OUT_EACH:04d}"]
    assert len(train) == len(records) - 2
    told = [{"text": "one", "split": "train"}, {"text": "other", "split": "valid"}]
    assert split(told) == (["one"], ["othe"])
