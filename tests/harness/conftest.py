from __future__ import annotations

import importlib
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.cli import main
from harness.publish import verdicts
from harness.store import code
from harness.store.trial import cached_grid
from tests.harness.small_disk import SmallDisk, mounted
from tests.harness.toy_paper import ToyPaper, make_toy_paper


@dataclass(frozen=True, slots=True)
class Done:
    """What a call of `repro` came to."""

    code: int
    out: str
    err: str


Cli = Callable[..., Done]


@pytest.fixture(autouse=True)
def forget_grids() -> None:
    """Grids of experiments made for tests depend on the environment, which tests change."""
    cached_grid.cache_clear()


@pytest.fixture
def nothing_outside(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Keep a test away from this machine's data and cache."""
    monkeypatch.delenv("REPRO_DATA", raising=False)
    monkeypatch.delenv("REPRO_CATALOGUE", raising=False)
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def toy(tmp_path: Path) -> ToyPaper:
    """Return a toy paper in a checkout of its own."""
    return make_toy_paper(tmp_path)


@pytest.fixture
def cli(toy: ToyPaper, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Cli:
    """Return `repro` on the toy paper, called in this process: no start-up to wait for."""

    def call(*words: str, **env: str) -> Done:
        signals = (signal.SIGINT, signal.SIGTERM)
        handlers = [signal.getsignal(number) for number in signals]
        capsys.readouterr()
        with monkeypatch.context() as patch:
            for name, value in toy.environment(**env).items():
                patch.setenv(name, value)
            patch.setattr(sys, "argv", ["repro", *words])
            patch.syspath_prepend(str(toy.packages))
            # A source that is edited within a second must not be hidden by its old bytecode.
            patch.setattr(sys, "dont_write_bytecode", True)
            forget_toylab()
            try:
                main()
                code = 0
            except SystemExit as end:
                code = int(end.code or 0)
            finally:
                forget_toylab()
                for number, handler in zip(signals, handlers, strict=True):
                    signal.signal(number, handler)
        out, err = capsys.readouterr()
        return Done(code, out, err)

    return call


def forget_toylab() -> None:
    """Make the next import read the toy paper's files as they are now."""
    for name in [name for name in sys.modules if name.startswith(("toylab", "twolab"))]:
        del sys.modules[name]
    for read in (code._digest_of, code._imports, code._file_digest, code._parsed):
        read.cache_clear()
    verdicts._code_of.cache_clear()
    importlib.invalidate_caches()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[SmallDisk]:
    """Return a file system of one megabyte."""
    with mounted(tmp_path / "disk") as disk:
        yield disk
