"""Carry out, on the card at hand, what has no result at `gpu` yet, and export what came of it.

    python -m tools.gpu_run --budget 8m --out FOLDER [--from FOLDER]

`make gpu` calls it. First come kernels, whose trials are short, then papers in the order of their
tasks; each asks for one trial at a time, as two would take each other's memory. FOLDER of `--from`
is what `make gpu-pack` made: wheels that are missing here go into an environment that sees what
is installed, so that the torch of this machine stays, and data are read from it. Archives in it
are imported first. Whatever ends the run, all results at `gpu` are exported, and the next call goes
on from there. Nothing but Python is needed to start it.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, distribution
from importlib.util import find_spec
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ARCHIVE = "gpu.tar.gz"
WHEELS, DATA = "wheels", "data"
"""Below the folder that is carried."""
NEEDED = ("torch", "pebble", "pydantic", "pandera", "typer")
"""Without these `repro` does not start, or runs nothing."""
UNITS_S = {"s": 1, "m": 60, "h": 3600}
EXPORT_S = 30.0
"""What is kept back of the budget for tables and the export."""
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run and export; return what `repro run` exits with, the first that is not 0."""
    asked = parsed(arguments)
    python = Path(sys.executable)
    env = {**os.environ, "OMP_WAIT_POLICY": "passive"}
    env["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), env.get("PYTHONPATH", "")]))
    if asked.carried is not None:
        python = environment(asked.carried / WHEELS, asked.venv)
        if (asked.carried / DATA).is_dir():
            env["REPRO_DATA"] = str(asked.carried / DATA)
        for archive in sorted(asked.carried.glob("*.tar.gz")):
            called(python, env, "records", "import", str(archive))
    deadline = time.monotonic() + asked.budget - EXPORT_S
    code = 0
    try:
        for selectors in asked.order:
            left = max(int(deadline - time.monotonic()), 1)
            words = ("run", *selectors, "--profile", "gpu", "--jobs", "1")
            code = called(python, env, *words, "--time-budget", f"{left}s") or code
    except KeyboardInterrupt:
        code = INTERRUPTED
    asked.out.mkdir(parents=True, exist_ok=True)
    words = ("records", "export", str(asked.out / ARCHIVE), "--profile", "gpu", "--force")
    exported = called(python, env, *words)
    return code or exported


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--budget", type=seconds, default=seconds("8m"), help="90s, 8m, 1h")
    parser.add_argument("--out", type=Path, required=True, help="where the archive goes")
    parser.add_argument("--from", dest="carried", type=Path, help="what `make gpu-pack` made")
    parser.add_argument("--venv", type=Path, default=ROOT / ".venv-gpu")
    parser.add_argument(
        "--order", type=lambda text: [part.split() for part in text.split(",")],
        default=[["kernels"], []], help="selectors, groups by commas; an empty one is everything",
    )  # fmt: skip
    asked = parser.parse_args(arguments)
    if asked.carried is not None and not asked.carried.is_dir():
        parser.error(f"--from {asked.carried}: no such folder, make it with `make gpu-pack`")
    lacking = [name for name in NEEDED if asked.carried is None and find_spec(name) is None]
    if lacking:
        parser.error(
            f"{sys.executable} has no {', '.join(lacking)}: name a Python that has"
            " (make gpu PYTHON=.venv/bin/python), or bring wheels (FROM=, made by make gpu-pack)"
        )
    return asked


def seconds(text: str) -> float:
    """Return a time such as 90s, 8m or 1h30m in seconds."""
    parts = re.findall(r"(\d+)([smh])", text)
    if not parts or "".join(map("".join, parts)) != text:
        raise argparse.ArgumentTypeError(f"{text!r}: write 90s, 8m or 1h30m")
    return float(sum(int(number) * UNITS_S[unit] for number, unit in parts))


def environment(wheels: Path, venv: Path) -> Path:
    """Return a Python that has what is installed here, and of the wheels what is not."""
    missing = [str(wheel) for wheel in sorted(wheels.glob("*.whl")) if not is_installed(wheel)]
    if not missing:
        return Path(sys.executable)
    python = venv / "bin" / "python"
    if not python.exists():
        # It sees what this machine's Python has, which need not be that of a venv itself.
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(venv)], check=True)
        seen = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
        (own,) = venv.glob("lib/python*/site-packages")
        (own / "of_this_machine.pth").write_text("\n".join(seen) + "\n")
    subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-index",
         "--no-deps", *missing],
        check=True,
    )  # fmt: skip
    return python


def is_installed(wheel: Path) -> bool:
    """Say whether some version of what a wheel holds is installed."""
    try:
        distribution(wheel.name.split("-")[0])
    except PackageNotFoundError:
        return False
    return True


def called(python: Path, env: dict[str, str], *words: str) -> int:
    """Call `repro`, and return its exit code."""
    command = [str(python), "-m", "harness.cli", *words]
    process = subprocess.Popen(command, env=env)
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            # The terminal has told it too: it ends by itself, its records whole.
            process.wait()
            raise


if __name__ == "__main__":
    sys.exit(main())
