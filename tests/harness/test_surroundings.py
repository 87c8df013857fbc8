"""Settings of other programs and an interrupt at any time: one sentence, the right exit code."""

from __future__ import annotations

import signal
import subprocess

import pytest

from tests.harness.toy_paper import ToyPaper

SLOW_IMPORT = """
import pathlib, time
pathlib.Path("importing").touch()
time.sleep(60)
"""


@pytest.mark.parametrize("module", ["typer", "pandas"])
def test_an_interrupt_during_imports_is_one_sentence(toy: ToyPaper, module: str) -> None:
    """Of what every verb imports, and of what one verb does, later."""
    (toy.packages / f"{module}.py").write_text(SLOW_IMPORT)
    run = subprocess.Popen(
        toy.command("check", "toylab"),
        cwd=toy.root,
        env=toy.environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # A job in the background of a shell has interrupts switched off.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (toy.root / "importing").exists():
        assert run.poll() is None, run.communicate()
    run.send_signal(signal.SIGINT)
    out, err = run.communicate(timeout=60)
    assert (run.returncode, out, err) == (130, "", "repro: interrupted\n")
