"""A judge on this machine that answers by a script: ratings, errors, half replies, silence."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email.message import Message
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from reproductions.lisa.mt_bench.judge import JudgeSettings

MODEL = "scripted-1"
Action = Callable[[BaseHTTPRequestHandler], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as it came."""

    path: str
    headers: Message
    body: dict[str, Any]

    @property
    def prompt(self) -> str:
        return str(self.body["messages"][-1]["content"])


@dataclass(slots=True)
class ScriptedJudge:
    """What it does next, and what it was asked; after its script it does `then`."""

    url: str = ""
    script: list[Action] = field(default_factory=list)
    then: Action = field(default_factory=lambda: says("It will do. [[5]]"))
    asked: list[Asked] = field(default_factory=list)


@contextmanager
def scripted_judge() -> Iterator[ScriptedJudge]:
    """Serve on a free port; silent replies end with it."""
    judge = ScriptedJudge()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            data = self.rfile.read(int(self.headers["Content-Length"]))
            judge.asked.append(Asked(self.path, self.headers, json.loads(data)))
            action = judge.script.pop(0) if judge.script else judge.then
            action(self)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.block_on_close = False
    judge.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield judge
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def settings(url: str, *, model: str = "grader") -> JudgeSettings:
    """Return settings of an impatient client."""
    return JudgeSettings(url=url, model=model, timeout_s=5.0, max_retries=1)


def send(
    handler: BaseHTTPRequestHandler, code: int, data: bytes, *, length: int | None = None
) -> None:
    """Write a reply whose header may promise more bytes than come."""
    handler.send_response(code)
    # An error that may pass is tried again at once.
    handler.send_header("Retry-After-Ms", "10")
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data) if length is None else length))
    handler.end_headers()
    handler.wfile.write(data)


def completion(content: object) -> bytes:
    message = {"role": "assistant", "content": content}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    body = {"id": "1", "object": "chat.completion", "model": MODEL, "choices": [choice]}
    return json.dumps(body).encode()


def says(content: object) -> Action:
    """Answer as a judge does."""
    return lambda handler: send(handler, 200, completion(content))


def body(data: bytes) -> Action:
    """Answer 200 with some bytes."""
    return lambda handler: send(handler, 200, data)


def status(code: int, text: str = "no") -> Action:
    """Answer with an error."""
    data = json.dumps({"error": {"message": text}}).encode()
    return lambda handler: send(handler, code, data)


def cut(handler: BaseHTTPRequestHandler) -> None:
    """Promise a whole reply, send half of it and hang up."""
    data = completion("Good. [[9]]")
    send(handler, 200, data[: len(data) // 2], length=len(data))


def hangs_up(handler: BaseHTTPRequestHandler) -> None:
    """Close the connection without a word."""
    handler.close_connection = True


def silent(handler: BaseHTTPRequestHandler) -> None:
    """Keep the connection open and say nothing."""
    time.sleep(600.0)
