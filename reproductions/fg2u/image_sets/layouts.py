"""How Table 1 is printed, and what stands beside it: our controls, gradients, memory and time."""

from __future__ import annotations

from dataclasses import replace

from harness.declare import Cell, Layout, Line
from reproductions.fg2u.image_sets.cells import ALL_CELLS, CPU, FEW_STEPS
from reproductions.fg2u.image_sets.experiment import FIRST, KEPT, METHODS, MORE_AND_LESS
from reproductions.fg2u.image_sets.table import ACCURACY, COSINE, FIRST_PHASE, fg2u_name, twice

DATASETS = {"mnist": "MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}
METHOD_NAMES = {
    "trgu": "TRGU",
    "hessian-free": "Hessian-Free",
    "neumann": "Neumann",
    "fg2u": "(FG)²U",
    "rgu": "RGU",
}
PERCENT = Cell("test_accuracy", unit="%", scale=0.01)


def cell_line(dataset: str, ipc: int, y_name: str) -> Line:
    """Return the row of a cell of Table 1, with what the paper prints of it."""
    return Line(
        f"{ipc} per class",
        group=DATASETS[dataset],
        where={"dataset": dataset, "ipc": ipc},
        paper={"series": dataset, "x": str(ipc), "y_name": y_name},
    )


METHOD_LINES = tuple(
    Line(head, where={"name": name}, paper={"series": name}) for name, head in METHOD_NAMES.items()
)
RATIO = Line(
    "ratio to the whole set",
    where={"name": "rgu"},
    cell=Cell("ratio", unit="%", scale=0.01, digits=3, seeded=False),
    paper={"y_name": "condensed_ratio"},
)
TABLE_1 = Layout(
    rows=tuple(cell_line(*cell, "test_accuracy") for cell in ALL_CELLS),
    columns=(RATIO, *METHOD_LINES),
    cell=PERCENT,
    where={"part": ACCURACY},
    title="Test accuracy",
    notes=(
        "With 10 and 50 images per class all our methods go on from the images of one Hessian-free"
        " phase; the paper names two phases for (FG)²U alone.",
        "The paper says neither how many runs a number is over nor how the other methods were set.",
        f"At `gpu` MNIST has {FEW_STEPS} outer steps and one seed; the paper has 10,000 steps.",
    ),
)
SPREADS = Layout(
    rows=tuple(cell_line(*cell, "test_accuracy_plus_minus") for cell in ALL_CELLS),
    columns=METHOD_LINES,
    cell=Cell("accuracy_sd", unit="%", scale=0.01),
    where={"part": ACCURACY},
    title="Spread of the test accuracy",
    notes=(
        "Ours: standard deviation over the nets of an evaluation, mean over seeds. The paper does"
        " not say what its plus-minus is.",
    ),
)
WHOLE = Layout(
    rows=tuple(
        Line(head, where={"dataset": name}, paper={"series": name, "y_name": "test_accuracy"})
        for name, head in DATASETS.items()
    ),
    columns=(Line("Whole set", where={"name": "whole"}, paper={"series": "whole"}),),
    cell=PERCENT,
    where={"part": ACCURACY},
    title="Trained on the whole set",
    notes=("One net per seed, by the SGD of the inner steps; the paper prints no recipe.",),
)
CPU_ROWS = tuple(
    replace(
        cell_line(cell.first.dataset, cell.first.ipc, "test_accuracy"),
        paper={},
    )
    for cell in CPU
)
CONTROLS = Layout(
    rows=CPU_ROWS,
    columns=tuple(
        Line(head, group=group, where={"name": name})
        for group, name, head in (
            ("without condensing", "noise", "noise"),
            ("without condensing", "real", "random real images"),
            ("(FG)²U by directions", fg2u_name(MORE_AND_LESS[0]), f"b = {MORE_AND_LESS[0]}"),
            ("(FG)²U by directions", "fg2u", "b = 32"),
            ("(FG)²U by directions", fg2u_name(MORE_AND_LESS[1]), f"b = {MORE_AND_LESS[1]}"),
            ("second phase", FIRST_PHASE, "before it"),
            ("second phase", twice(FIRST), "Hessian-Free, twice the steps"),
            ("second phase", twice("fg2u"), "(FG)²U, twice the steps"),
        )
    ),
    cell=PERCENT,
    where={"part": ACCURACY},
    title="Controls of ours",
)
PEAK = Cell("peak_bytes", unit="MB", scale=1e6, digits=1, seeded=False)
COSTS = Layout(
    rows=CPU_ROWS,
    columns=tuple(
        Line(METHOD_NAMES[name], group=group, where={"name": name}, cell=cell)
        for group, cell in (
            ("peak of one gradient", PEAK),
            ("all gradients", Cell("estimates_s", unit="s", digits=0)),
        )
        for name in METHODS
    ),
    where={"part": ACCURACY},
    title="Memory and time",
    notes=(
        "Live tensors, counted. (FG)²U takes all directions at a time.",
    ),
)  # fmt: skip
GRADIENTS = Layout(
    rows=tuple(
        Line(head, where={"name": name})
        for name, head in (
            *((f"trgu {keep}", f"TRGU, the last {keep} steps") for keep in KEPT),
            ("hessian-free", "Hessian-Free"),
            ("neumann", "Neumann"),
            ("fg2u", "(FG)²U, b = 32"),
        )
    ),
    columns=(
        Line("cosine", cell=Cell("cosine", digits=3)),
        Line("norm ratio", cell=Cell("norm_ratio", digits=3)),
        Line("directions for this cosine", cell=Cell("equal_directions", digits=0)),
    ),
    where={"part": COSINE},
    title="Gradients against the exact one, on (FG)²U's images of MNIST, 1 per class",
    notes=("Directions for this cosine: how many (FG)²U is expected to need to match it.",),
)
LAYOUTS = (TABLE_1, SPREADS, WHOLE, CONTROLS, COSTS, GRADIENTS)
