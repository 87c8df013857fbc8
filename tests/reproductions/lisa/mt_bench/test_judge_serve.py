"""The client against transformers' own server, with a tiny model that grades."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests
import torch
from transformers import LlamaConfig, LlamaForCausalLM

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
    program = Path(sys.executable).with_name("transformers")
    command = [program, "serve", folder, "--host", "127.0.0.1", "--port", str(port)]
    env = {**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(home), "OMP_NUM_THREADS": "1"}
    log = home / "serve.log"
    home.mkdir()
    with log.open("wb") as stream:
        server = subprocess.Popen(
            [*map(str, command), "--device", "cpu"], env=env, stdout=stream, stderr=stream
        )
    try:
        _wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(STOP_S)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def _wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and server.poll() is None:
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
