"""A small checkout with committed results, which every attack gets a copy of."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import stat
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from harness.declare.reference import COLUMNS as REFERENCE_COLUMNS
from tests.attack.case import PASSWORD, SECRET
from tests.checkout import ROOT
from tests.harness.staged_folder import make_folder
from tests.harness.toy_paper import make_toy_paper

FIGURE = """
from harness.declare import Cell, Layout, Line, Task, at_least, by_theory, claims
from toylab.squares.tab01 import growth, task as numbers

task = Task(
    "toylab/fig01",
    reads=numbers.reads,
    table=numbers.table,
    claims=claims(
        "nowhere",
        ("rises", by_theory(), at_least(growth, 1.0, "1"), "Squares rise."),
    ),
    layout=Layout(
        rows=tuple(Line(f"x = {x}", where={"x": x}, paper={"x": str(x)}) for x in range(4)),
        columns=(Line("square", paper={"series": "squares"}),),
        cell=Cell("square"),
    ),
    figure="figures:picture",
    caption="Squares.",
    alt="A curve that rises.",
)
"""
PICTURE = """
from harness.publish.figures import PALETTE, plot_ours, plot_paper


def picture(ctx):
    figure, (ax,) = ctx.subplots()
    plot_ours(ax, ctx.table, x="x", y="square", label="ours", color=PALETTE[0])
    plot_paper(ax, ctx.reference, label="paper", color=PALETTE[0])
    return figure
"""
DEVIATIONS = """
[[deviation]]
id = "DEV-01"
what = "size"
paper = "large"
ours = "small"
effect = "none"
tasks = ["*"]
profiles = ["cpu"]
"""
REFERENCE = (
    ("fig01", "squares", "x", "1", "square", "1.0", "", "", "exact", "final", "Table 1"),
    ("fig01", "squares", "x", "2", "square", "4.1", "", "0.1", "digitised", "final", "plot"),
)
TASKS = ("toylab/tab01", "toylab/fig01")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout's root, and the folder of packages that holds its paper."""

    folder: Path

    @property
    def root(self) -> Path:
        return self.folder / "root"

    @property
    def packages(self) -> Path:
        return self.folder / "packages"

    @property
    def paper(self) -> Path:
        """The paper's own folder."""
        return self.packages / "toylab"

    @property
    def data(self) -> Path:
        """A folder of data sets, with a catalogue of its own."""
        return self.folder / "data"

    @property
    def archive(self) -> Path:
        """Exported records."""
        return self.folder / "carried.tar.gz"

    def results(self, ending: str) -> list[Path]:
        """Return result files that end so, in their order."""
        return sorted(
            path for path in (self.root / "results").rglob(f"*{ending}") if path.is_file()
        )

    def copy(self, folder: Path) -> Checkout:
        """Return the same checkout in another place."""
        shutil.copytree(self.folder, folder, symlinks=True)
        return Checkout(folder)


def environment(checkout: Checkout) -> dict[str, str]:
    """Return the variables by which a fresh process works on a checkout."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("REPRO_")}
    return {
        **inherited,
        "REPRO_ROOT": str(checkout.root),
        "PYTHONPATH": f"{checkout.packages}{os.pathsep}{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "OMP_NUM_THREADS": "1",
    }


def make_checkout(folder: Path) -> Checkout:
    """Write the paper, run it at cpu and smoke, export its records, pack data, commit it all."""
    folder.mkdir(parents=True)
    toy = make_toy_paper(folder)
    toy.add_task("fig01", FIGURE)
    # Every process counts its calls where an attack tells it to.
    (folder / "packages" / "sitecustomize.py").write_text(
        "from tests.attack.hook import install\n\ninstall()\n"
    )
    toy.add_file("squares/figures.py", PICTURE)
    toy.add_file("deviations.toml", DEVIATIONS)
    lines = [",".join(row) for row in (REFERENCE_COLUMNS, *REFERENCE)]
    toy.add_file("reference/squares.csv", "\n".join(lines) + "\n")
    checkout = Checkout(folder)
    for profile in ("cpu", "smoke"):
        call(checkout, "run", "toylab", "--profile", profile, "--executor", "inline")
    call(checkout, "records", "export", str(checkout.archive), "toylab", "--profile", "cpu")
    with contextlib.redirect_stdout(io.StringIO()):
        make_folder(checkout.data, checkout.data / "catalogue.toml")
    shutil.rmtree(checkout.root / "runs" / "locks", ignore_errors=True)
    (checkout.root / ".gitignore").write_text((ROOT / ".gitignore").read_text())
    git = ("git", "-C", str(checkout.root), "-c", "user.name=a", "-c", "user.email=a@b")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "results")):
        subprocess.run([*git, *words], check=True, capture_output=True)
    return checkout


def call(checkout: Checkout, *words: str) -> subprocess.CompletedProcess[str]:
    """Run `repro` on a checkout in a fresh process, which must succeed."""
    done = subprocess.run(
        [sys.executable, "-m", "harness.cli", *words],
        env=environment(checkout), capture_output=True, text=True, check=False, cwd=checkout.root,
    )  # fmt: skip
    if done.returncode:
        raise RuntimeError(f"repro {' '.join(words)} on an untouched checkout: {done.stderr}")
    return done


def snapshot(checkout: Checkout) -> dict[str, str]:
    """Return a digest of every file of a checkout, its paper and its data, by path."""
    found = {}
    for path in sorted(checkout.folder.rglob("*")):
        name = str(path.relative_to(checkout.folder))
        if ".git/" not in name and "__pycache__" not in name:
            found[name] = _digest(path)
    return found


def _digest(path: Path) -> str:
    mode = path.lstat().st_mode
    if stat.S_ISLNK(mode):
        return f"link to {path.readlink()}"
    if stat.S_ISREG(mode):
        return f"{stat.S_IMODE(mode):o} {hashlib.sha256(path.read_bytes()).hexdigest()}"
    return f"kind {stat.S_IFMT(mode):o}"


def leaks(checkout: Checkout) -> tuple[str, ...]:
    """Return which files of a checkout hold a secret."""
    words = (SECRET.encode(), PASSWORD.encode())
    return tuple(
        str(path.relative_to(checkout.folder))
        for path in checkout.root.rglob("*")
        if path.is_file() and not path.is_symlink() and any(w in path.read_bytes() for w in words)
    )
