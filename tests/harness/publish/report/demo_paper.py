"""A made-up paper with stored results, for tests of the report: no number here is real."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure

from harness.declare.experiment import Experiment
from harness.declare.old import flat_claim, old_task
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.reference import COLUMNS, load_reference
from harness.declare.table import Column, Table
from harness.declare.task import Task
from harness.publish.evidence import seals_of
from harness.publish.figures import PALETTE, FigureContext, draw, plot_ours, plot_paper
from harness.registry import BrokenTask, Library, PaperFolder
from harness.run.trial import Trial, grid_of
from harness.store.atomic import write_bytes
from harness.store.record import Provenance, Record
from harness.store.result import build_result, figure_path, write_result
from harness.store.store import RecordStore
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
[[item]]
id = "fig02"
title = "Loss against density"
status = "task"
file = "tasks/fig02_loss.py"
[[item]]
id = "fig10"
title = '''HOSTILE'''
status = "task"
file = "tasks/fig10_hostile.py"
[[item]]
id = "fig11"
title = "A broken task"
status = "task"
file = "tasks/fig11_broken.py"
[[item]]
id = "fig12"
title = "A diagram"
status = "without_data"
reason = "It shows no measurement."
[[item]]
id = "tab01"
title = "Later"
status = "planned"
reason = "It needs eight GPUs."
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
    ("fig02", "sp", "", "", "note", "as stated", "", "", "exact", "final", "section 4"),
]


def gap(table: pd.DataFrame) -> float:
    means = table.groupby("density")["loss"].mean()
    return float(means[0.5] - means[1.0])


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


COLUMN = Table(
    (
        Column(name="scheme", type="str", role="param", doc="The scheme."),
        Column(name="density", type="float", role="param", doc="Fraction kept."),
        Column(name="seed", type="int", role="seed", doc="The seed."),
        Column(name="loss", type="float", role="value", doc="Train loss.", nullable=True),
    )
)

LOSSES = {1.0: (2.0, 2.1, 2.2), 0.5: (3.0, 3.2, 3.1)}
FAILED_SEED = 9


def grid() -> Iterator[dict[str, Scalar]]:
    for density, losses in LOSSES.items():
        for seed in range(len(losses)):
            yield {"scheme": "sp", "density": density, "seed": seed}


def smoke_grid() -> Iterator[dict[str, Scalar]]:
    yield from grid()
    yield {"scheme": "sp", "density": 1.0, "seed": FAILED_SEED}


SWEEP = Experiment(
    id="demo/sweep",
    version=1,
    run=lambda params, ctx: [],
    grid={"smoke": smoke_grid, "cpu": grid},
)

CLAIMS = (
    flat_claim(
        id="grows",
        statement="Loss grows as density falls.",
        where="Figure 2",
        form="at_least",
        grade="empirical",
        quantity=gap,
        threshold=0.5,
        threshold_from="theory",
        profiles=("cpu", "gpu", "paper"),
        unit="nats",
        paper_value=gap_in_paper,
    ),
    flat_claim(
        id="shrinks",
        statement="Loss shrinks as density falls.",
        where="Figure 2",
        form="at_most",
        grade="empirical",
        quantity=gap,
        threshold=-0.5,
        threshold_from="theory",
        profiles=("cpu", "gpu", "paper"),
        unit="nats",
    ),
    flat_claim(
        id="rows",
        statement="The table has six rows.",
        where="nowhere",
        form="equal",
        grade="exact",
        quantity=rows,
        threshold=6.0,
        threshold_from="theory",
        profiles=("smoke", "cpu", "gpu", "paper"),
        deterministic=True,
    ),
)

TASK = old_task(
    id="demo/fig02",
    title="Loss against density",
    reads=(SWEEP,),
    columns=COLUMN,
    claims=CLAIMS,
    figure=picture,
    caption="Mean over seeds; bars show the standard error.",
    alt="A line that falls as density grows.",
)
HOSTILE_TASK = old_task(id="demo/fig10", title=HOSTILE, reads=(SWEEP,), columns=COLUMN)


def demo_table() -> pd.DataFrame:
    points = [("sp", d, seed, loss) for d, all3 in LOSSES.items() for seed, loss in enumerate(all3)]
    return pd.DataFrame(points, columns=["scheme", "density", "seed", "loss"])


def demo_record(trial: Trial, seals: dict[str, dict[str, Any]]) -> Record:
    """Return a trial's record; that of one seed failed."""
    density, seed = float(trial.params["density"]), int(trial.params["seed"])
    failed = seed == FAILED_SEED
    return Record(
        key=trial.key,
        experiment=SWEEP.id,
        version=1,
        profile=trial.profile,
        device="cpu",
        params=dict(trial.params),
        upstream=[],
        status="failed" if failed else "done",
        error="no <GPU>" if failed else "",
        rows=[] if failed else [{"loss": LOSSES[density][seed]}],
        seals=seals,
        provenance=Provenance(
            commit="0123456789abcdef",
            dirty=True,
            machine={"cpu": "A processor", "num_cores": 2, "memory_bytes": 2**33, "gpus": []},
            versions={"torch": "2.13.0"},
            data={"grammar-text": {"variant": "bundled", "sha256": "f" * 64}},
            code="c" * 16,
            overrides={},
            wall_s=12.5,
            started_at="2025-01-01T00:00:00+00:00",
        ),
    )


def demo_seals() -> dict[str, dict[str, Any]]:
    """Return seals by which one claim is sealed, one changed, and one late."""
    seals = seals_of([TASK, HOSTILE_TASK])
    seals["demo/fig02:grows"]["band"]["threshold"] = 0.9
    del seals["demo/fig02:shrinks"]
    return seals


def store(workspace: Workspace, task: Task, profile: Profile, folder: Path) -> None:
    """Store records, table, verdicts and figure as a run does."""
    records = RecordStore(workspace)
    trials = grid_of(SWEEP, profile)
    for trial in trials:
        records.write(demo_record(trial, demo_seals()))
    if workspace.is_committed(profile):
        records.pack(SWEEP.id, profile, trials)
    result = build_result(task, profile, records.read)
    assert result is not None
    write_result(workspace, task, result)
    if task.figure is not None:
        reference = load_reference(folder, task.id.split("/")[1])
        image = draw(task, table=result.table, reference=reference, profile=profile)
        write_bytes(figure_path(workspace, task, profile), image)


def make_demo(root: Path) -> tuple[Workspace, Library]:
    """Return a checkout with one made-up paper and its stored results."""
    folder = root / "reproductions" / "demo"
    (folder / "reference").mkdir(parents=True)
    (folder / "paper.toml").write_text(PAPER_TOML.replace("HOSTILE", HOSTILE))
    (folder / "deviations.toml").write_text(DEVIATIONS_TOML)
    lines = [",".join(row) for row in (COLUMNS, *REFERENCE)]
    (folder / "reference" / "demo.csv").write_text("\n".join(lines) + "\n")
    (folder / "README.md").write_text(
        "# Demo\n\nBefore.\n\n<!-- verdicts:begin -->\nold\n<!-- verdicts:end -->\n\nAfter.\n"
    )
    library = Library()
    library.papers.add("demo", PaperFolder("demo", "demo", folder))
    for task, file in ((TASK, "tasks/fig02_loss.py"), (HOSTILE_TASK, "tasks/fig10_hostile.py")):
        library.tasks.add(task.id, task)
        library.files[task.id] = file
    library.broken["demo/fig11"] = BrokenTask(
        "demo/fig11", "tasks/fig11_broken.py", "ImportError: no module called 'absent'"
    )
    workspace = Workspace(root)
    for profile in ("smoke", "cpu"):
        store(workspace, TASK, profile, folder)
    store(workspace, HOSTILE_TASK, "cpu", folder)
    return workspace, library
