"""Table 1: test accuracy of data condensation by method."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import (
    CPU,
    CPU_UP,
    PAPER,
    Criterion,
    Scope,
    Task,
    at_least,
    claims,
    monotone,
    more_than,
    ordering,
    ours,
)
from reproductions.fg2u.image_sets import quantities as q
from reproductions.fg2u.image_sets.cells import ALL_CELLS, GPU, Dataset
from reproductions.fg2u.image_sets.cells import CPU as CPU_CELLS
from reproductions.fg2u.image_sets.experiment import (
    FIRST,
    KEPT,
    MORE_AND_LESS,
    alignments,
    continuations,
    runs,
)
from reproductions.fg2u.image_sets.layouts import DATASETS, LAYOUTS, METHOD_NAMES
from reproductions.fg2u.image_sets.table import (
    FIRST_PHASE,
    SETS,
    fg2u_name,
    label,
    twice,
)

Declared = tuple[str, Scope, Criterion, str]
BIASED = ("trgu", "hessian-free", "neumann")
RUN_CELLS = tuple((cell.setting.dataset, cell.setting.ipc) for cell in CPU_CELLS)
"""Cells that are run at `cpu` too."""
GPU_CELLS = tuple((cell.setting.dataset, cell.setting.ipc) for cell in GPU)
HERE = ours(
    "DEV-31",
    profiles=CPU_UP,
    elsewhere="a few steps on digits show the path, not what a method comes to",
)
AT_CPU = HERE.at(
    *CPU, elsewhere="only the cells of `cpu` have this control; a few steps at `smoke` show nothing"
)
ONLY_PAPER = HERE.at(
    *PAPER,
    elsewhere="this cell is declared in the paper's own setting alone: fewer steps than fit here"
    " would say nothing of it",
)
FIRST_CELL = RUN_CELLS[0]
BY_DIRECTIONS = tuple(
    label(*FIRST_CELL, fg2u_name(count)) for count in (MORE_AND_LESS[0], 32, MORE_AND_LESS[1])
)
NAMES = [f"over {METHOD_NAMES[name]}" for name in BIASED]


NOT_ON_GPU = HERE.at(
    "cpu",
    "paper",
    elsewhere="a few steps at `smoke` show nothing, and `gpu` has the first cell of CIFAR-10 alone",
)


def scope_of(cell: tuple[Dataset, int]) -> Scope:
    """Return where claims on a cell are decided."""
    if cell not in RUN_CELLS:
        return ONLY_PAPER
    return HERE if cell in GPU_CELLS else NOT_ON_GPU


def words_of(dataset: Dataset, ipc: int) -> str:
    """Return a cell in words."""
    return f"On {DATASETS[dataset]} with {ipc} image{'s' if ipc > 1 else ''} per class"


def order_of(dataset: Dataset, ipc: int) -> Iterator[Declared]:
    """Yield what Table 1 says of a cell."""
    ours_, biased = (label(dataset, ipc, "fg2u"), tuple(label(dataset, ipc, n) for n in BIASED))
    exact = (ours_, label(dataset, ipc, "rgu"))
    yield (
        f"fg2u_above_biased_{dataset}_{ipc}",
        scope_of((dataset, ipc)),
        more_than(partial(q.gains, of=ours_, over=biased), 0, "accuracy")
        .naming(*NAMES)
        .measuring("test accuracy by images of (FG)²U less that by images of the other method")
        .beside_derived(partial(q.least_margin, dataset=dataset, ipc=ipc)),
        f"{words_of(dataset, ipc)} the images of (FG)²U train nets to a higher test accuracy than"
        " those of TRGU, Hessian-free and Neumann, at equal outer steps.",
    )
    yield (
        f"rgu_no_worse_{dataset}_{ipc}",
        scope_of((dataset, ipc)),
        ordering(partial(q.accuracies, labels=exact), "accuracy")
        .naming("RGU over (FG)²U")
        .measuring("test accuracy by images of RGU less that by images of (FG)²U")
        .beside_derived(partial(q.margin, dataset=dataset, ipc=ipc, of="rgu", over="fg2u")),
        f"{words_of(dataset, ipc)} the images of exact gradients (RGU) train nets to no lower test"
        " accuracy than those of (FG)²U, at equal outer steps.",
    )


def two_phases(dataset: Dataset, ipc: int) -> Declared:
    """Return whether a second phase gains over the first."""
    own, before = label(dataset, ipc, "fg2u"), label(dataset, ipc, FIRST_PHASE)
    return (
        f"second_phase_gains_{dataset}_{ipc}",
        scope_of((dataset, ipc)),
        more_than(partial(q.gains, of=own, over=(before,)), 0, "accuracy")
        .measuring("test accuracy with the second phase less that without")
        .beside_derived(partial(q.margin, dataset=dataset, ipc=ipc, of="fg2u", over=FIRST)),
        f"{words_of(dataset, ipc)} Hessian-free and then (FG)²U give images that train nets to a"
        " higher test accuracy than those of the Hessian-free phase alone.",
    )


def second_phase_at_equal_steps(dataset: Dataset, ipc: int) -> Declared:
    """Return whether a second phase brings more than its outer steps do."""
    own, equal = label(dataset, ipc, "fg2u"), label(dataset, ipc, FIRST)
    return (
        f"second_phase_gains_at_equal_steps_{dataset}_{ipc}",
        scope_of((dataset, ipc)).asked_by_us(),
        more_than(partial(q.gains, of=own, over=(equal,)), 0, "accuracy").measuring(
            "test accuracy with the second phase less that by Hessian-free alone"
        ),
        f"{words_of(dataset, ipc)} Hessian-free and then (FG)²U give images that train nets to a"
        " higher test accuracy than Hessian-free alone with the same number of outer steps.",
    )


def against_no_condensing(dataset: Dataset, ipc: int) -> Iterator[Declared]:
    """Yield by how much a cell's images are better than what they start from, and real ones."""
    condensed = tuple(label(dataset, ipc, name) for name in ("fg2u", "rgu"))
    real, noise = (label(dataset, ipc, name) for name in ("real", "noise"))
    if dataset == "mnist":
        yield (
            f"far_above_noise_{dataset}_{ipc}",
            scope_of((dataset, ipc)).asked_by_us(),
            at_least(partial(q.gains_of, of=condensed, over=noise), 0.30, "accuracy").naming(
                "(FG)²U", "RGU"
            ),
            f"{words_of(dataset, ipc)} the images of (FG)²U and of RGU are at least 30 points above"
            " noise images.",
        )
    yield (
        f"no_worse_than_real_{dataset}_{ipc}",
        scope_of((dataset, ipc)).asked_by_us(),
        at_least(partial(q.gains_of, of=condensed, over=real), 0, "accuracy")
        .naming("(FG)²U", "RGU")
        .measuring("test accuracy by condensed images less that by real ones"),
        f"{words_of(dataset, ipc)} the images of (FG)²U and of RGU train nets to no lower a test"
        " accuracy than random real images.",
    )


def gradients() -> Iterator[Declared]:
    """Yield how gradients are to point."""
    kept = tuple(f"trgu {keep}" for keep in KEPT)
    few = ("hessian-free", f"trgu {KEPT[1]}")
    where = "On MNIST with 1 image per class"
    yield (
        "longer_truncation_points_better",
        AT_CPU.asked_by_us(),
        ordering(partial(q.cosines, names=kept), "cosine").naming("5 over 2", "10 over 5"),
        f"{where} the cosine of TRGU with the exact gradient grows with the steps that it walks"
        " back, 2, 5 and 10 of 20.",
    )
    yield (
        "hessian_free_points_worse",
        AT_CPU.asked_by_us(),
        ordering(partial(q.cosines, names=few), "cosine", strict=True)
        .naming("TRGU of 5 steps")
        .measuring("cosine of TRGU less that of Hessian-free"),
        f"{where} Hessian-free points worse than TRGU that walks back 5 of 20 steps.",
    )


TWICE = (label("mnist", 10, "fg2u"), label("mnist", 10, twice("fg2u")))
task = Task(
    "fg2u/tab01",
    reads=(runs, continuations, alignments),
    table=SETS,
    claims=claims("Table 1", *(claim for cell in ALL_CELLS for claim in order_of(*cell)))
    + claims(
        "Table 1 and section 3.3, where Hessian-free is the first phase of 10 and 50 images",
        *(two_phases(*cell) for cell in ALL_CELLS if cell[1] > 1),
    )
    + claims(
        "the text on Table 1, which says so without a number",
        (
            "more_directions_do_better",
            AT_CPU,
            monotone(partial(q.accuracies, labels=BY_DIRECTIONS), "accuracy", slack=0.01).naming(
                "b from 8 to 32", "b from 32 to 128"
            ),
            "On MNIST with 1 image per class the test accuracy of (FG)²U's images grows with the"
            " number of directions, 8, 32 and 128, to a point.",
        ),
    )
    + claims(
        "ours, beside Table 1",
        *(claim for cell in RUN_CELLS for claim in against_no_condensing(*cell)),
        *(second_phase_at_equal_steps(*cell) for cell in ALL_CELLS if cell[1] > 1),
        (
            "twice_the_steps_gain",
            AT_CPU.asked_by_us(),
            more_than(partial(q.gains, of=TWICE[1], over=TWICE[:1]), 0, "accuracy").measuring(
                "test accuracy after twice the outer steps less that after the first number of them"
            ),
            "On MNIST with 10 images per class a second phase of (FG)²U gains by twice the outer"
            " steps.",
        ),
        *gradients(),
    ),
    layout=LAYOUTS,
    figure="figures:set_panels",
    caption="Above: test accuracy of fresh nets that are trained on condensed images, on images"
    " that are drawn from the training set, and on noise; means over seeds, bars: standard error;"
    " hollow: the paper's, in its own setting. Below: the images of the first seed, the first of"
    " each of ten classes. With 10 images per class all methods go on from the images of one"
    " Hessian-free phase, for equal outer steps.",
    alt="A panel per data set and number of images with a dot per method for its test accuracy,"
    " ours and the paper's; below each a grid of images, a line per method and a column per"
    " class.",
)
