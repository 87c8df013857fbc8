"""A small paper in a package of its own, found by a real entry point.

Its trials log start and end to TOY_LOG, so that a test can count how often one really ran.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

PAPER_TOML = """
id = "toylab"
title = "A toy"
authors = ["Nobody"]
venue = "None"
arxiv = ""
openreview = ""
code = ""

[[item]]
title = "Squares grow"
file = "squares/tab01.py"
"""

EXPERIMENT = """
import os

from harness.declare import Experiment, Needs, Params, doc, seed


class Square(Params):
    x: int = doc("The number.")
    ms: int = doc("How long it takes, in milliseconds.")
    mode: str = doc("ok, or the fault it shows.")
    seed: int = seed("The noise.")


def grid(profile):
    if profile not in ("smoke", "cpu"):
        return
    ms = int(os.environ.get("TOY_MS", "0"))
    for seed in range(int(os.environ.get("TOY_SEEDS", "3"))):
        for x in range(int(os.environ.get("TOY_COUNT", "4"))):
            yield Square(x=x, ms=ms, mode="ok", seed=seed)
    for mode in os.environ.get("TOY_MODES", "").split():
        yield Square(x=100, ms=0, mode=mode, seed=0)


def needs(point):
    return Needs(packages=tuple(os.environ.get("TOY_NEEDS", "").split()))


experiment = Experiment(
    "toylab/squares", version=1, params=Square, grid=grid, run="trial:run", needs=needs,
    timeout_s=float(os.environ.get("TOY_TIMEOUT", "60")),
)
"""

TRIAL = """
import json
import os
import sys
import time


def log(event, params):
    if path := os.environ.get("TOY_LOG"):
        line = json.dumps({"event": event, "t": time.time(), "pid": os.getpid(), **params})
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        # A kill between two pages may leave half a line: the next one must not be glued to it.
        os.write(handle, ("\\n" + line + "\\n").encode())
        os.close(handle)


def run(point, ctx):
    log("start", point.to_json())
    while "TOY_GATE" in os.environ and not os.path.exists(os.environ["TOY_GATE"]):
        time.sleep(0.01)
    # How slow is not in the key: what an interrupted run left need not be waited for again.
    seconds = point.ms / 1000 * float(os.environ.get("TOY_SLOWNESS", "1"))
    time.sleep(seconds)
    match point.mode:
        case "raise":
            raise ValueError("this trial is broken")
        case "exit":
            sys.exit(5)
        case "die":
            os.kill(os.getpid(), 9)
        case "hang":
            time.sleep(600)
        case "nan":
            return [{"square": float("nan")}]
        case "memory":
            raise MemoryError("too big")
    log("end", point.to_json())
    return [{"square": float(point.x ** 2 + ctx.seed("noise") % 7)}]
"""

TASK = """
from harness.declare import CHECK, SMOKE_AND_CPU, Table, Task, at_least, by_theory, claims
from harness.declare import columns_of, measured, value, within
from toylab.squares.experiment import Square, experiment


def growth(table):
    return float(table["square"].max() - table["square"].min())


task = Task(
    "toylab/tab01",
    reads=(experiment,),
    table=Table.of(
        columns_of(Square, "x", "mode", "seed"),
        value("square", float, "Its square.", nullable=True),
    ),
    claims=claims(
        "nowhere",
        (
            "grows",
            by_theory(profiles=SMOKE_AND_CPU),
            at_least(growth, 1.0, "1"),
            "Squares grow.",
        ),
    ),
)
"""


@dataclass(slots=True)
class ToyPaper:
    """The toy paper's package, a checkout root, and how to call `repro` on them."""

    root: Path
    packages: Path
    env: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.packages / "toylab"

    @property
    def experiment(self) -> Path:
        """The file with parameters, grid and experiment."""
        return self.folder / "squares" / "experiment.py"

    @property
    def trial(self) -> Path:
        """The file with the function that a trial runs."""
        return self.folder / "squares" / "trial.py"

    @property
    def task(self) -> Path:
        """The file with the task and its claim."""
        return self.folder / "squares" / "tab01.py"

    def add_task(self, word: str, text: str, file: str = "") -> None:
        """Write a task's file, `squares/<word>.py` unless told, and list it in paper.toml."""
        file = file or f"squares/{word}.py"
        self.add_file(file, text)
        with (self.folder / "paper.toml").open("a") as paper:
            paper.write(f'\n[[item]]\nid = "{word}"\ntitle = "T"\nfile = "{file}"\n')

    def add_file(self, file: str, text: str) -> None:
        """Write a file of the paper, its folder too; paper.toml does not hear of it."""
        path = self.folder / file
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)

    @property
    def log(self) -> Path:
        return self.root / "toy.log"

    def environment(self, **more: str) -> dict[str, str]:
        env = {**os.environ, "REPRO_ROOT": str(self.root), "TOY_LOG": str(self.log)}
        # A source that is edited within a second must not be hidden by its old bytecode.
        env["PYTHONDONTWRITEBYTECODE"] = "1"
        env["PYTHONPATH"] = f"{self.packages}{os.pathsep}{env.get('PYTHONPATH', '')}"
        return {**env, **self.env, **more}

    def command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "harness.cli", *words]

    def repro(self, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
        """Run `repro` to its end."""
        return subprocess.run(
            self.command(*words),
            env=self.environment(**env),
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )

    def start(self, *words: str, **env: str) -> subprocess.Popen[str]:
        """Start `repro` in a process group of its own."""
        return subprocess.Popen(
            self.command(*words),
            env=self.environment(**env),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def rows(self, *words: str, **env: str) -> list[dict[str, Any]]:
        """Return the JSON rows of a reading verb."""
        done = self.repro(*words, "--json", **env)
        return list(json.loads(done.stdout))

    def csv(self, profile: str = "smoke") -> Path:
        folder = self.root / "runs" / "output" / "smoke" if profile == "smoke" else self.root
        return folder / "results" / "toylab" / f"tab01.{profile}.csv"

    def records(self) -> list[Path]:
        return sorted((self.root / "runs" / "records").rglob("*.json"))

    def events(self, event: str = "start") -> list[dict[str, Any]]:
        """Return what trials logged: parameters, `t` and `pid`, in the order of the log."""
        if not self.log.exists():
            return []
        lines = []
        for text in self.log.read_text().splitlines():
            # Half a line is one that is being written, or whose writer was killed.
            with contextlib.suppress(ValueError):
                lines.append(json.loads(text))
        return [line for line in lines if line["event"] == event]

    def starts(self) -> list[tuple[int, str, int]]:
        """Return x, mode and seed of every trial that really started, with repetitions."""
        return [(line["x"], line["mode"], line["seed"]) for line in self.events()]


def make_toy_paper(folder: Path) -> ToyPaper:
    """Write the package, its entry point, and an empty checkout below `folder`."""
    packages, root = folder / "packages", folder / "root"
    (root / "results").mkdir(parents=True)
    files = {
        "toylab/__init__.py": "",
        "toylab/paper.toml": PAPER_TOML,
        "toylab/squares/__init__.py": "",
        "toylab/squares/experiment.py": EXPERIMENT,
        "toylab/squares/trial.py": TRIAL,
        "toylab/squares/tab01.py": TASK,
        "toylab-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toylab\nVersion: 1.0\n",
        "toylab-1.0.dist-info/entry_points.txt": "[paper_reproductions.papers]\ntoylab = toylab\n",
    }
    for name, text in files.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ToyPaper(root, packages)
