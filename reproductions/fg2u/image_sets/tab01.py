"""Table 1: test accuracy of data condensation by method."""

from __future__ import annotations

from dataclasses import dataclass
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
    ours,
)
from reproductions.fg2u.image_sets import quantities as q
from reproductions.fg2u.image_sets.cells import ALL_CELLS
from reproductions.fg2u.image_sets.experiment import (
    BIASED,
    FIRST,
    MORE_AND_LESS,
    alignments,
    continuations,
    runs,
)
from reproductions.fg2u.image_sets.layouts import DATASETS, LAYOUTS, METHOD_NAMES
from reproductions.fg2u.image_sets.params import Dataset
from reproductions.fg2u.image_sets.table import FIRST_PHASE, SETS, fg2u_name, in_equal_time, label

Declared = tuple[str, Scope, Criterion, str]
HERE = ours("DEV-31", profiles=CPU_UP, elsewhere="a few steps on digits show nothing")
NOT_ON_GPU = HERE.at("cpu", "paper", elsewhere="`gpu` has few outer steps on MNIST")


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Cells of Table 1 that the same profiles run."""

    word: str
    cells: tuple[tuple[Dataset, int], ...]
    uncontrolled: Scope
    place: str
    """The end of a sentence on them."""
    least: float = 0.0
    """Accuracy that exact gradients reach where the setting can tell methods apart: what they
    reached in pilots, less five points."""
    above_real: float = 0.0
    """How far they then lie above random real images."""

    @property
    def scope(self) -> Scope:
        """Where its claims are decided: exact gradients must learn more than real images hold.

        How far biased methods are behind them is no part of it, as claims are about that.
        """
        pairs = [(label(*cell, "rgu"), label(*cell, "real")) for cell in self.cells]
        reached = f"reach {100 * self.least:.0f} % and " if self.least else ""
        return self.uncontrolled.controlled(
            f"exact gradients {reached}are at least {100 * self.above_real:.0f} points above random"
            f" real images {self.place}",
            at_least(
                partial(q.leads, pairs=pairs, least=self.least, by=self.above_real), 0, "accuracy"
            ),
        )

    @property
    def several(self) -> tuple[tuple[Dataset, int], ...]:
        """Cells with a second phase."""
        return tuple(cell for cell in self.cells if cell[1] > 1)

    @property
    def later(self) -> Scope:
        """Where claims on a second phase are decided: one of exact gradients must gain."""
        pairs = [(label(*cell, "rgu"), label(*cell, FIRST_PHASE)) for cell in self.several]
        return self.uncontrolled.controlled(
            f"a second phase of exact gradients gains a point over the first {self.place}",
            at_least(partial(q.gains, pairs=pairs), 0.01, "accuracy"),
        )


MNIST = Part(
    word="mnist",
    cells=(("mnist", 1),),
    uncontrolled=NOT_ON_GPU,
    place="on MNIST with one image per class",
    least=0.8,
    above_real=0.2,
)
MNIST_10 = Part(
    word="mnist_10",
    cells=(("mnist", 10),),
    uncontrolled=NOT_ON_GPU,
    place="on MNIST with ten images per class",
    least=0.82,
    above_real=0.1,
)
CIFAR10 = Part(
    word="cifar10",
    cells=(("cifar10", 1),),
    uncontrolled=HERE.at(
        *PAPER,
        elsewhere="in a few hundred steps exact gradients hardly rise above random real images",
    ),
    place="on CIFAR-10",
    above_real=0.1,
)
NAMED = (MNIST, MNIST_10, CIFAR10)
REST = Part(
    word="other_cells",
    cells=tuple(cell for cell in ALL_CELLS if cell not in [c for p in NAMED for c in p.cells]),
    uncontrolled=HERE.at(*PAPER, elsewhere="these cells run only in the paper's own setting"),
    place="in the other cells of Table 1",
)
PARTS = (*NAMED, REST)
BY_DIRECTIONS = tuple(
    label("mnist", 1, fg2u_name(count)) for count in (MORE_AND_LESS[0], 32, MORE_AND_LESS[1])
)


def named(cell: tuple[Dataset, int], end: str = "") -> str:
    """Return a cell in words."""
    return f"{DATASETS[cell[0]]}, {cell[1]} per class{end}"


def above_biased(part: Part) -> Declared:
    """Return the claim that (FG)2U is above every biased method."""
    pairs = [(cell, name) for cell in part.cells for name in BIASED]
    return (
        f"fg2u_above_biased_{part.word}",
        part.scope,
        more_than(
            partial(q.gains, pairs=[(label(*c, "fg2u"), label(*c, name)) for c, name in pairs]),
            0,
            "accuracy",
        )
        .naming(*(named(cell, f", over {METHOD_NAMES[name]}") for cell, name in pairs))
        .measuring("accuracy by (FG)²U less that by the other")
        .beside_derived(partial(q.least_margin, cells=part.cells, of="fg2u", over=BIASED)),
        "Images condensed by (FG)²U train better nets than those of TRGU, Hessian-free and"
        f" Neumann {part.place}.",
    )


def above_biased_in_equal_time(part: Part) -> Declared:
    """Return our question whether (FG)2U is above biased methods that run for as long."""
    pairs = [(cell, name) for cell in part.cells for name in BIASED]
    labels = [(label(*c, "fg2u"), label(*c, in_equal_time(name))) for c, name in pairs]
    return (
        f"fg2u_above_biased_in_equal_time_{part.word}",
        part.scope.at(*CPU, elsewhere="only `cpu` runs the others for as long").asked_by_us(),
        more_than(partial(q.gains, pairs=labels), 0, "accuracy")
        .naming(*(f"over {METHOD_NAMES[name]}" for _, name in pairs))
        .measuring("accuracy by (FG)²U less that by the other"),
        "In equal time (FG)²U condenses images that train better nets than those of TRGU,"
        f" Hessian-free and Neumann {part.place}.",
    )


def exact_no_worse(part: Part) -> Declared:
    """Return the claim that exact gradients are no worse than (FG)2U."""
    return (
        f"rgu_no_worse_{part.word}",
        part.scope,
        at_least(
            partial(q.gains, pairs=[(label(*c, "rgu"), label(*c, "fg2u")) for c in part.cells]),
            0,
            "accuracy",
        )
        .naming(*map(named, part.cells))
        .measuring("accuracy by RGU less that by (FG)²U")
        .beside_derived(partial(q.least_margin, cells=part.cells, of="rgu", over=("fg2u",))),
        "Images condensed by exact gradients train nets at least as good as (FG)²U's"
        f" {part.place}.",
    )


def second_phase(part: Part) -> Declared:
    """Return the claim that a second phase of (FG)2U gains over the first."""
    pairs = [(label(*c, "fg2u"), label(*c, FIRST_PHASE)) for c in part.several]
    return (
        f"second_phase_gains_{part.word}",
        part.later,
        more_than(partial(q.gains, pairs=pairs), 0, "accuracy")
        .naming(*map(named, part.several))
        .measuring("accuracy after the second phase less that before")
        .beside_derived(partial(q.least_margin, cells=part.several, of="fg2u", over=(FIRST,))),
        f"A second phase of (FG)²U improves the images that Hessian-free condensed {part.place}.",
    )


def against_real(part: Part) -> Declared:
    """Return our question whether condensing by (FG)2U pays at all."""
    pairs = [(label(*c, "fg2u"), label(*c, "real")) for c in part.cells]
    return (
        f"no_worse_than_real_{part.word}",
        part.scope.asked_by_us(),
        at_least(partial(q.gains, pairs=pairs), 0, "accuracy")
        .naming(*map(named, part.cells))
        .measuring("accuracy by (FG)²U's images less that by real ones"),
        f"Images condensed by (FG)²U train nets at least as good as random real images"
        f" {part.place}.",
    )


task = Task(
    "fg2u/tab01",
    reads=(runs, continuations, alignments),
    table=SETS,
    claims=claims("Table 1", *map(above_biased, PARTS), *map(exact_no_worse, PARTS))
    + claims("Table 1 and section 3.3", second_phase(MNIST_10), second_phase(REST))
    + claims(
        "the text on Table 1",
        (
            "more_directions_do_better",
            MNIST.scope.at(*CPU, elsewhere="only `cpu` runs other numbers of directions"),
            monotone(partial(q.accuracies, labels=BY_DIRECTIONS), "accuracy", slack=0.01).naming(
                "b from 8 to 32", "b from 32 to 128"
            ),
            "The more directions (FG)²U has, the better its images of MNIST.",
        ),
    )
    + claims(
        "ours, beside Table 1",
        above_biased_in_equal_time(MNIST),
        *map(against_real, (MNIST, MNIST_10)),
        (
            "second_phase_beats_more_steps",
            MNIST_10.later.asked_by_us(),
            more_than(
                partial(q.gains, pairs=[(label("mnist", 10, "fg2u"), label("mnist", 10, FIRST))]),
                0,
                "accuracy",
            ).measuring("accuracy by two phases less that by Hessian-free alone"),
            "A second phase of (FG)²U improves images of MNIST more than as many further steps of"
            " Hessian-free.",
        ),
    ),
    layout=LAYOUTS,
    figure="figures:set_panels",
    caption="Above: test accuracy of fresh nets trained on condensed images, on random real images"
    " and on noise; means over seeds, bars: standard error; hollow: the paper's. Below: condensed"
    " images of the first seed, one for each of ten classes. With 10 images per class every method"
    " goes on from the images of one Hessian-free phase, for equal outer steps.",
    alt="A panel per data set and number of images with a dot per method for its test accuracy,"
    " ours and the paper's; below each a grid of images, a line per method and a column per"
    " class.",
)
