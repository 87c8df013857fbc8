"""The paper's own command: the memory of fine-tuning a model."""

from __future__ import annotations

import json
import socket
from pathlib import Path

import pytest
from transformers import BartConfig
from typer.testing import CliRunner

from reproductions.lisa.__main__ import app
from tests.reproductions.lisa.models.test_step_memory import SMALL


def test_the_command_reads_a_config_and_prints_rows(tmp_path: Path) -> None:
    SMALL.config().save_pretrained(tmp_path)
    words = [str(tmp_path), "--seq-len", "16", "--gamma", "1", "--rank", "4"]
    done = CliRunner().invoke(app, [*words, "--json"])
    assert done.exit_code == 0, done.output
    rows = json.loads(done.stdout)
    names = ["full", "LoRA r=4", "LISA E+H+1L", "LISA 1L, E and H frozen"]
    assert [row["method"] for row in rows] == names
    assert rows[0]["num_trainable"] == SMALL.num_params
    wrong = CliRunner().invoke(app, [*words, "--gamma", "9"])
    assert wrong.exit_code == 2
    assert "gamma=9: the model has 4 blocks" in wrong.stderr


def test_a_model_whose_decoder_alone_is_a_causal_one_is_refused(tmp_path: Path) -> None:
    """Its whole has other blocks, and half as many parameters again."""
    BartConfig(architectures=["BartForConditionalGeneration"]).save_pretrained(tmp_path)
    done = CliRunner().invoke(app, [str(tmp_path)])
    assert (done.exit_code, done.stdout) == (2, "")
    told = " ".join(done.stderr.split())
    assert "BartForConditionalGeneration" in told and "is no causal language model" in told


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nosuch"], "'nosuch' is no folder, no file, no hub id (OWNER/NAME) and no shape of ours"),
        (["llama2-7b"], "did you mean 'llama-2-7b"),
        (["some/model", "--dtype", "int8"], "a dtype of float32, bfloat16"),
        (["some/model", "--rank", "0"], "need rank >= 1"),
    ],
    ids=lambda value: " ".join(value)[:30] if isinstance(value, list) else "",
)
def test_a_wrong_argument_is_told_before_a_hub_is_asked(
    words: list[str], told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def connect(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "getaddrinfo", connect)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 2
    assert told in done.stderr


def test_a_table_is_printed_for_readers(tmp_path: Path) -> None:
    SMALL.config().save_pretrained(tmp_path)
    shown = CliRunner().invoke(app, [str(tmp_path), "--seq-len", "16", "--gamma", "1"]).stdout
    heads, *lines = shown.splitlines()
    assert heads.split()[:3] == ["method", "trainable", "weights"]
    assert [line.split("  ")[0] for line in lines[:3]] == ["full", "LoRA r=128", "LISA E+H+1L"]
    assert f"{SMALL.num_params:,}" in lines[0]
    assert "A sum of tensors" in " ".join(shown.split())
