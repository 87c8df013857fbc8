"""Attacks by the judge: whatever it sends, a trial that asks it ends, and keeps no key."""

from __future__ import annotations

import contextlib
import gzip
import json
import random
import socketserver
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.attack.case import SECRET, Case
from tests.attack.checkout import JUDGED, Checkout
from tests.attack.damage import HOSTILE_VALUES, NESTED
from tests.attack.files import WRITTEN_BY_RUN

Dice = random.Random
WORDS = ("run", JUDGED, "--profile", "smoke", "--executor", "inline")


def completion(text: Any, **more: Any) -> bytes:
    """Return a chat completion's body."""
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    whole = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
    }
    return json.dumps({**whole, **more}).encode()


def answer(body: bytes, *, status: str = "200 OK", **headers: str) -> bytes:
    """Return a whole answer; headers are named as in Python, with `_` for `-`."""
    told = {
        "Content-Type": "application/json",
        "Content-Length": str(len(body)),
        "Connection": "close",
    }
    told |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + body


def _odd_value(dice: Dice) -> bytes:
    value = dice.choice(HOSTILE_VALUES)
    name = dice.choice(("choices", "model", "usage", "id", "created"))
    return answer(dice.choice((completion(value), completion("a", **{name: value}))))


def _error(dice: Dice) -> bytes:
    status = dice.choice(
        ("400 A", "401 B", "403 C", "404 D", "429 E", "500 F", "503 G", "302 H", "999 I")
    )
    waits = ("0", "-1", "nan", "9" * 400, "Fri, 31 Dec 99999999999 23:59:59 GMT", "\x01")
    body = dice.choice(
        (b"", b"<html>", json.dumps({"error": {"message": f"bad {SECRET}"}}).encode())
    )
    place = f"http://127.0.0.1:9/{SECRET}"
    return answer(body, status=status, Retry_After=dice.choice(waits), Location=place)


REPLIES: dict[str, Callable[[Dice], bytes]] = {
    "the key in a rating": lambda dice: answer(completion(f"[[7]] {SECRET} \x1b[31m")),
    "an odd value": _odd_value,
    "an error": _error,
    "a torn body": lambda dice: answer(completion("[[7]]"))[: dice.randrange(1, 250)],
    "noise": lambda dice: dice.randbytes(dice.choice((1, 100, 10_000))),
    "deep nesting": lambda dice: answer(b"[" * NESTED * dice.choice((1, 10))),
    "a long number": lambda dice: answer(b'{"choices": ' + b"9" * 6_000 + b"}"),
    "another type": lambda dice: answer(b"\x89PNG" * 9, Content_Type="image/png"),
    "packed zeros": lambda dice: answer(gzip.compress(bytes(2**26)), Content_Encoding="gzip"),
    "many bytes": lambda dice: answer(b" " * 2**25 + completion("[[7]]")),
    "a wrong length": lambda dice: answer(
        completion("a"), Content_Length=dice.choice(("-1", "x", "9" * 30))
    ),
    "many headers": lambda dice: answer(b"", **{f"X_{n}": "y" * 500 for n in range(500)}),
    "silence": lambda dice: b"",
}


ANSWERED = ("the key in a rating",)
EITHER = ("an odd value", "a wrong length")
"""What may be an answer; a trial that asks for any other reply fails."""


def _codes(kind: str) -> tuple[int, ...]:
    return (0,) if kind in ANSWERED else (0, 3) if kind in EITHER else (3,)


def replies(checkout: Checkout, dice: Dice) -> Case:
    """Let a trial of the checkout's paper ask a hostile judge, which it starts itself."""
    kind = dice.choice((*REPLIES, "a drip"))
    env = {
        "ATTACK_REPLY": kind,
        "ATTACK_SEED": str(dice.randrange(10**9)),
        "REPRO_JUDGE_KEY": SECRET,
    }
    return Case(
        kind="judge's reply",
        done=kind,
        words=WORDS,
        env=env,
        codes=_codes(kind),
        writes=WRITTEN_BY_RUN,
    )


def ask(kind: str, seed: str, folder: Path) -> str:
    """Start a judge that sends one kind of reply, ask it, and return what it said; in the trial."""
    from reproductions.lisa.mt_bench.judge import Judge, JudgeSettings

    with _server(kind, Dice(seed)) as port:
        settings = JudgeSettings(
            url=f"http://127.0.0.1:{port}/v1", model="m", key=SECRET, timeout_s=2.0, max_retries=1
        )
        with Judge(settings, pace_file=folder / "judge.pace") as judge:
            return judge.ask([{"role": "user", "content": "Grade this."}]).text


@contextlib.contextmanager
def _server(kind: str, dice: Dice) -> Iterator[int]:
    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            self.request.settimeout(5.0)
            with contextlib.suppress(OSError):
                self.request.recv(2**16)
                if kind == "a drip":
                    for byte in answer(completion("[[7]]")):
                        self.request.sendall(bytes([byte]))
                        time.sleep(0.3)
                else:
                    self.request.sendall(REPLIES[kind](dice))

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield int(server.server_address[1])
        server.shutdown()
