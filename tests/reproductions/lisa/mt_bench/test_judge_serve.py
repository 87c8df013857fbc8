"""The client against transformers' own server, with a tiny model that grades."""

from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing import get_context
from multiprocessing.context import ForkProcess
from pathlib import Path

import pytest
import requests
import torch
from huggingface_hub import constants
from transformers import LlamaConfig, LlamaForCausalLM
from transformers.cli.transformers import main

from harness.errors import RunError
from reproductions.lisa.models.tokenizer import as_tensor, from_tensor, learn_tokenizer
from reproductions.lisa.mt_bench.answers import MADE_UP
from reproductions.lisa.mt_bench.grading import Grades, messages_for
from reproductions.lisa.mt_bench.judge import Judge, JudgeSettings

GRADE = "[[7]]"
TEMPLATE = (
    "{% for message in messages %}{{ message['role'] }}: {{ message['content'] }}\n{% endfor %}"
    "{% if add_generation_prompt %}assistant:{% endif %}"
)
START_S, STOP_S = 90.0, 10.0


def save_grader(folder: Path) -> None:
    """Save a LLaMA made by hand that answers everything with `GRADE`, and then ends.

    Its blocks add nothing, so what it says next depends on the last token alone: every token has
    the first coordinate, from which the head reads the grade; the grade has the second, from
    which it reads the end.
    """
    tokenizer = from_tensor(as_tensor(learn_tokenizer(["a judge grades"], vocab_size=260)))
    tokenizer.add_tokens([GRADE])
    tokenizer.chat_template = TEMPLATE
    grade = tokenizer.convert_tokens_to_ids(GRADE)
    config = LlamaConfig(
        vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
        num_attention_heads=1, max_position_embeddings=4096, tie_word_embeddings=False,
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
    )  # fmt: skip
    model = LlamaForCausalLM(config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.fill_(1.0 if "norm" in name else 0.0)
        model.model.embed_tokens.weight[:, 0] = 1.0
        model.model.embed_tokens.weight[grade] = torch.eye(8)[1]
        model.lm_head.weight[grade, 0] = 1.0
        model.lm_head.weight[tokenizer.eos_token_id, 1] = 1.0
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


@contextmanager
def serving(folder: Path, home: Path) -> Iterator[str]:
    """Run `transformers serve` on a free port, without a network; yield its base URL."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    words = ["transformers", "serve", str(folder), "--host", "127.0.0.1", "--port", str(port)]
    log = home / "serve.log"
    home.mkdir()
    # Forked: what is loaded here need not be loaded anew.
    server = get_context("fork").Process(target=serve, args=([*words, "--device", "cpu"], log))
    server.start()
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.join(STOP_S)
        server.kill()
        server.join()


def serve(words: list[str], log: Path) -> None:
    """Be the command, which asks no network and uses one thread."""
    with log.open("wb") as stream:
        for ours in (1, 2):
            os.dup2(stream.fileno(), ours)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w", 1)
    constants.HF_HUB_OFFLINE, sys.argv = True, words
    torch.set_num_threads(1)
    main()


def _wait_for(url: str, server: ForkProcess, log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.is_alive():
        try:
            if requests.get(url, timeout=5.0).status_code == 200:
                return
        except requests.ConnectionError:
            time.sleep(0.1)
    pytest.fail(f"transformers serve did not start:\n{log.read_text(encoding='utf-8')}")


@pytest.mark.slow
def test_answers_are_graded_by_transformers_own_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    folder = tmp_path / "grader"
    save_grader(folder)
    with serving(folder, tmp_path / "home") as url:
        settings = JudgeSettings(url=url, model=str(folder), max_retries=1)
        with Judge(settings, pace_file=tmp_path / "pace") as judge:
            grades = Grades(judge, tmp_path / "kept.jsonl")
            for question in MADE_UP:
                for answers in (["one"], ["one", "two"]):
                    found = grades.grade(messages_for(question, answers))
                    assert (found.text, found.rating) == (GRADE, 7.0)
                    assert str(folder) in found.judge
        other = JudgeSettings(url=url, model="another", max_retries=1)
        with (
            Judge(other, pace_file=tmp_path / "pace") as judge,
            pytest.raises(RunError, match="pinned"),
        ):
            judge.ask(messages_for(MADE_UP[0], ["one"]))
