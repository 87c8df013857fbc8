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
id = "tab01"
title = "Squares"
status = "task"
file = "tasks/tab01_squares.py"
"""

EXPERIMENT = """
import json
import os
import sys
import time

from harness.declare.old import old_task
from harness.declare.task import Experiment, Needs


def log(event, params):
    if path := os.environ.get("TOY_LOG"):
        line = json.dumps({"event": event, "t": time.time(), "pid": os.getpid(), **params})
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        # A kill between two pages may leave half a line: the next one must not be glued to it.
        os.write(handle, ("\\n" + line + "\\n").encode())
        os.close(handle)


def run(params, ctx):
    log("start", params)
    while "TOY_GATE" in os.environ and not os.path.exists(os.environ["TOY_GATE"]):
        time.sleep(0.01)
    time.sleep(params["ms"] / 1000)
    match params["mode"]:
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
    log("end", params)
    return [{"square": float(params["x"] ** 2 + ctx.seed("noise") % 7)}]


def grid():
    for seed in range(3):
        for x in range(int(os.environ.get("TOY_COUNT", "4"))):
            yield {"x": x, "ms": int(os.environ.get("TOY_MS", "0")), "mode": "ok", "seed": seed}
    for mode in os.environ.get("TOY_MODES", "").split():
        yield {"x": 100, "ms": 0, "mode": mode, "seed": 0}


def needs(params):
    return Needs(packages=tuple(os.environ.get("TOY_NEEDS", "").split()))


experiment = Experiment(
    id="toylab/squares", version=1, run=run, grid={"smoke": grid, "cpu": grid}, needs=needs,
    timeout_s=float(os.environ.get("TOY_TIMEOUT", "60")),
)
"""

TASK = """
from harness.declare.old import flat_claim
from harness.declare.claims import Claim
from harness.declare.task import Column, Columns, Task
from toylab.experiments.squares import experiment


def growth(table):
    return float(table["square"].max() - table["square"].min())


task = old_task(
    id="toylab/tab01", title="Squares grow", reads=(experiment,),
    columns=Columns((
        Column(name="x", type="int", role="param", doc="the number"),
        Column(name="mode", type="str", role="param", doc="ok, or the fault it shows"),
        Column(name="seed", type="int", role="seed", doc="the seed"),
        Column(name="square", type="float", role="value", doc="its square", nullable=True),
    )),
    claims=(flat_claim(
        id="grows", statement="Squares grow.", where="nowhere", form="at_least",
        grade="empirical", quantity=growth, threshold=1.0, threshold_from="theory",
        profiles=("smoke", "cpu"),
    ),),
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
    root.mkdir()
    files = {
        "toylab/__init__.py": "",
        "toylab/paper.toml": PAPER_TOML,
        "toylab/experiments/__init__.py": "",
        "toylab/experiments/squares.py": EXPERIMENT,
        "toylab/tasks/__init__.py": "",
        "toylab/tasks/tab01_squares.py": TASK,
        "toylab-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: toylab\nVersion: 1.0\n",
        "toylab-1.0.dist-info/entry_points.txt": "[paper_reproductions.papers]\ntoylab = toylab\n",
    }
    for name, text in files.items():
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return ToyPaper(root, packages)
