"""A made-up paper with stored results, for tests of the report: no number here is real."""

import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

import pandas as pd
from matplotlib.figure import Figure

from harness.declare.claims import claims
from harness.declare.criterion import at_least, at_most, equal
from harness.declare.experiment import Experiment, Needs, Row, RunContext, Status
from harness.declare.layout import Cell, Layout, Line
from harness.declare.papers import load_paper
from harness.declare.params import Params, doc, seed
from harness.declare.profiles import Profile
from harness.declare.reference import COLUMNS as REFERENCE_COLUMNS
from harness.declare.scope import CHECK, by_theory
from harness.declare.table import Table, value
from harness.declare.task import Task
from harness.publish.figures import PALETTE, FigureContext, plot_ours, plot_paper
from harness.publish.refresh import refresh_task
from harness.registry import BrokenTask, Library, PaperFolder
from harness.store.record import Record, make_record
from harness.store.registered import registrations
from harness.store.store import RecordStore
from harness.store.trial import Trial, grid_of
from harness.store.workspace import Workspace

HOSTILE = "<script>document.title='taken'</script> & \"quotes\" | `code`"

PAPER_TOML = """
id = "demo"
title = "A demonstration, made up for tests"
authors = ["A. Author", "B. Author"]
venue = "NeurIPS 2024"
arxiv = "2405.00000"
openreview = ""
code = ""
item = [
  { id = "fig02", title = "Loss against density", file = "loss/fig02.py" },
  { id = "fig10", title = '''HOSTILE''', file = "loss/fig10.py" },
  { id = "fig11", title = "A broken task", file = "loss/fig11.py" },
  { id = "fig12", title = "A diagram", reason = "No measurement." },
]
headline = ["fig02:grows", "fig02:scales"]
says = "Loss grows."
found = '''
It grows: by {fig02:grows}, not {fig02:scales}; it falls by {-fig02:grows}.

So it does twice.'''
limits = "Anything."

"""

DEVIATIONS_TOML = """
[[deviation]]
id = "DEV-01"
what = "width"
paper = "uses 4096"
ours = "uses 256"
effect = "more noise between seeds"
tasks = ["*"]
profiles = ["cpu"]
"""

REFERENCE = [
    ("fig02", "sp", "density", "1", "loss", "2.10", "nats", "0.01", "exact", "final", "Table 9"),
    ("fig02", "sp", "density", "0.5", "loss", "3.1", "nats", "", "early_version", "v1", "plot"),
    ("fig02", "sp", "density", "0.125", "loss", "4.0", "nats", "", "digitised", "final", "plot"),
    ("fig10", "sp", "density", "1", "loss", "2.50", "nats", "", "digitised", "final", "plot"),
    ("fig10", "sp", "density", "0.25", "loss", "5.00", "nats", "", "exact", "final", "Table 9"),
    ("fig02", "sp", "", "", "note", "as stated", "", "", "exact", "final", "section 4"),
]


def gap(table: pd.DataFrame) -> float:
    means = table.groupby("density")["loss"].mean()
    return float(means[0.5] - means[1.0])


def highest(table: pd.DataFrame) -> float:
    return float(table["loss"].max())


def rows(table: pd.DataFrame) -> float:
    return float(len(table))


def gap_in_paper(reference: pd.DataFrame) -> float:
    return 1.0


def picture(ctx: FigureContext) -> Figure:
    figure, (ax,) = ctx.subplots()
    plot_ours(ax, ctx.table, x="density", y="loss", label="SP", color=PALETTE[0])
    plot_paper(ax, ctx.reference, label="SP", color=PALETTE[0])
    ax.set_xlabel("density")
    ax.set_ylabel("loss (nats)")
    ax.legend()
    return figure


class Loss(Params):
    scheme: str = doc("The scheme.")
    density: float = doc("Fraction kept.")
    seed: int = seed("The seed.")


COLUMNS = Table.of(Loss, value("loss", float, "Train loss.", nullable=True))
LOSSES = {1.0: (2.0, 2.1, 2.2, 2.0, 2.2), 0.5: (3.0, 3.2, 3.1, 3.25, 2.95)}
FAILED_SEED = 9


def grid(profile: Profile) -> Iterator[Loss]:
    if profile not in ("smoke", "cpu"):
        return
    for density, losses in LOSSES.items():
        for number in range(len(losses)):
            yield Loss(scheme="sp", density=density, seed=number)
    if profile == "smoke":
        yield Loss(scheme="sp", density=1.0, seed=FAILED_SEED)


def train(point: Loss, ctx: RunContext) -> Sequence[Row]:
    return [{"loss": LOSSES[point.density][point.seed]}]


SWEEP = Experiment(
    "demo/sweep", version=1, params=Loss, grid=grid, run="demo_paper:train",
    needs=Needs(data=("grammar-text",)),
)  # fmt: skip

TASK = Task(
    "demo/fig02",
    reads=(SWEEP,),
    table=COLUMNS,
    claims=claims(
        "Figure 2",
        (
            "grows",
            by_theory(),
            at_least(gap, 0.5, "nats", paper_value=gap_in_paper),
            "Loss grows as density falls.",
        ),
        (
            "shrinks",
            by_theory().controlled("nets learn", at_most(highest, 9.0, "nats")),
            at_most(gap, -0.5, "nats"),
            "Loss shrinks as density falls.",
        ),
        ("doubles", by_theory(), at_least(gap, 1.2, "nats"), "Loss grows by 1.2 nats."),
        ("stays", by_theory().asked_by_us(), at_most(gap, 0.5, "nats"), "Ours: loss stays."),
        ("scales", by_theory(profiles=("paper",)), at_least(gap, 1.0, "nats"), "So do 7B nets."),
        ("rows", CHECK, equal(rows, 10, ""), "The table has ten rows."),
    ),
    figure="demo_paper:picture",
    caption="Mean over seeds; bars show the standard error.",
    alt="A line that falls as density grows.",
)
HOSTILE_LAYOUT = Layout(
    rows=tuple(
        Line(f"{density:g}", group=HOSTILE, where={"density": density}, paper={"x": f"{density:g}"})
        for density in LOSSES
    ),
    columns=(Line("SP & more", where={"scheme": "sp"}, paper={"series": "sp"}),),
    cell=Cell("loss", unit="nats"),
    title="Loss",
)
HOSTILE_TASK = Task("demo/fig10", reads=(SWEEP,), table=COLUMNS, layout=HOSTILE_LAYOUT)


def demo_table() -> pd.DataFrame:
    points = [("sp", d, seed, y) for d, losses in LOSSES.items() for seed, y in enumerate(losses)]
    return pd.DataFrame(points, columns=["scheme", "density", "seed", "loss"])


def demo_record(trial: Trial, registered: dict[str, str]) -> Record:
    """Return a trial's record; that of one seed failed."""
    density, number = float(trial.params["density"]), int(trial.params["seed"])
    failed = number == FAILED_SEED
    facts = {
        "commit": "0123456789abcdef",
        "dirty": True,
        "code": "c" * 16,
        "machine": {"cpu": "A processor", "num_cores": 2, "memory_bytes": 2**33, "gpus": []},
        "versions": {"torch": "2.13.0"},
        "overrides": {},
        "registered": registered,
    }
    return make_record(
        trial, facts,
        status=Status.FAILED if failed else Status.DONE,
        error="no <GPU>" if failed else "",
        rows=[] if failed else [{"loss": LOSSES[density][number]}],
        started_at="2025-01-01T00:00:00+00:00",
        wall_s=12.5,
        data={n: {"variant": "bundled", "sha256": h} for n, h in trial.data.items()},
    )  # fmt: skip


def registered(profile: Profile) -> dict[str, str]:
    """Return what claims asked before the run; one of them came later."""
    asked = registrations([TASK, HOSTILE_TASK], profile)
    del asked["demo/fig02:shrinks"]
    return asked


def store(workspace: Workspace, library: Library, task: Task, profile: Profile) -> None:
    """Store records, table and figure as a run does."""
    records, asked = RecordStore(workspace), registered(profile)
    for trial in grid_of(SWEEP, profile):
        records.write(demo_record(trial, asked), replace=True)
    refresh_task(workspace, library, task, profile)


def demo_library(folder: Path) -> Library:
    """Return what is declared of the made-up paper, whose files lie in a folder."""
    library = Library()
    library.papers["demo"] = PaperFolder("demo", "demo", folder)
    for task in (TASK, HOSTILE_TASK):
        library.tasks[task.id] = task
        library.files[task.id] = f"loss/{task.word}.py"
        titles = {item.id: item.title for item in load_paper(folder).items}
        library.titles[task.id] = titles[task.word]
    library.broken["demo/fig11"] = BrokenTask(
        "demo/fig11", "loss/fig11.py", "ImportError: no module called 'absent'"
    )
    return library


def make_demo(root: Path) -> tuple[Workspace, Library]:
    """Return a checkout with one made-up paper and its stored results."""
    folder = root / "reproductions" / "demo"
    (folder / "reference").mkdir(parents=True)
    (folder / "loss").mkdir()
    (folder / "loss" / "fig02.py").write_text("# Its task is in this module, below.\n")
    (folder / "paper.toml").write_text(PAPER_TOML.replace("HOSTILE", HOSTILE))
    (folder / "deviations.toml").write_text(DEVIATIONS_TOML)
    lines = [",".join(row) for row in (REFERENCE_COLUMNS, *REFERENCE)]
    (folder / "reference" / "demo.csv").write_text("\n".join(lines) + "\n")
    (folder / "README.md").write_text(
        "# Demo\n\nBefore.\n\n<!-- verdicts:begin -->\nold\n<!-- verdicts:end -->\n\nAfter.\n"
    )
    library = demo_library(folder)
    workspace = Workspace(root)
    for profile in ("smoke", "cpu"):
        store(workspace, library, TASK, profile)
    store(workspace, library, HOSTILE_TASK, "cpu")
    return workspace, library


def copy_demo(demo: tuple[Workspace, Library], root: Path) -> tuple[Workspace, Library]:
    """Return a copy that a test may change: to draw its figures anew takes seconds."""
    shutil.copytree(demo[0].root, root, dirs_exist_ok=True)
    return Workspace(root), demo_library(root / "reproductions" / "demo")
