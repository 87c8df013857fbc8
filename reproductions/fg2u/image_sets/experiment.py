"""Sets of images of Table 1: condensed from noise, or going on from a first phase's.

Beside them what needs no condensing (noise, random real images, the whole set), and how well
every method's gradient points along the exact one on condensed images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from harness.declare import FRESH_SEED, Estimate, Experiment, Needs, Profile, Use, doc, seeds_of
from reproductions.fg2u.image_sets.cells import Cell, cells_of, paper_cell
from reproductions.fg2u.image_sets.params import (
    NUM_DIRECTIONS,
    Condensation,
    Method,
    images_of,
    taken_by,
)

if TYPE_CHECKING:
    from reproductions.fg2u import Estimator

NUM_TWICE = 5
"""Seeds of second phases with twice the steps, which no claim is about."""
MORE_AND_LESS = (8, 128)
"""Other numbers of directions, on the first cell of `cpu`."""
FIRST: Method = "hessian-free"
"""The paper's first phase."""
BIASED: tuple[Method, ...] = ("trgu", "hessian-free", "neumann")
METHODS: tuple[Method, ...] = ("trgu", "hessian-free", "neumann", "fg2u", "rgu")
"""In the order of Table 1."""
KEPT = (2, 5, 10)
"""Last steps of TRGU whose gradients are set against the exact one."""
HELD_BYTES = 80
"""Of a graph of a step, or of a direction's tangents, per entry of the net's first layer."""
MOST_BYTES = 72 * 2**30
WEEK_S = 7 * 24 * 3600.0
START_S = 0.4
GRADIENT_S = {"cpu": (2.5e-3, 4.5e-8), "cuda": (3e-3, 5e-11), "mlp": (5e-4, 1.5e-10)}
"""Of a gradient: whatever its size, and per entry of its first layer; of an MLP on a CPU."""
TANGENTS_S = {"cpu": (1.2e-2, 5.5e-8), "cuda": (5e-2, 2e-10), "mlp": (6e-3, 1.5e-10)}
"""Of a step with tangents: of each chunk, and per entry and direction."""


class Continuation(Condensation):
    """A set of images that a first phase, by Hessian-free, has condensed from noise."""

    first_steps: int = doc("Outer steps of that phase.")
    first_lr: float = doc("Its first step size.")
    times: int = doc("How many times the steps that every method is given.")

    def first(self) -> Condensation:
        """Return the first phase."""
        return replace(taken_by(images_of(self), FIRST), steps=self.first_steps, lr=self.first_lr)


class Alignment(Condensation):
    """Gradients of every method on a set of condensed images, beside the exact one."""

    num_draws: int = doc("Nets and batches over which cosines are averaged.")


def one_phase(
    cell: Cell, method: Method, *, seed: int, num_directions: int = NUM_DIRECTIONS
) -> Condensation:
    """Return a method that starts from noise, for all the steps of the cell's first phase."""
    return taken_by(cell.by(method, seed=seed), method, num_directions)


def second_phase(cell: Cell, method: Method, *, seed: int, times: int = 1) -> Continuation:
    """Return a method that goes on from the first phase's images, for `times` the cell's steps."""
    lr = dict(cell.second_rates).get(method, cell.second_lr)
    own = replace(one_phase(cell, method, seed=seed), steps=times * cell.second_steps, lr=lr)
    first_lr = cell.by(FIRST, seed=seed).lr
    before = {"first_steps": cell.first.steps, "first_lr": first_lr, "times": times}
    return Continuation.from_json(own.to_json() | before)


def without_descent(cell: Cell, method: Literal["noise", "real"], *, seed: int) -> Condensation:
    """Return images as they are drawn."""
    return replace(one_phase(cell, method, seed=seed), steps=0, lr=0.0)


def longer(cell: Cell, method: Method, *, seed: int) -> Condensation:
    """Return a method that starts from noise and takes about as long as (FG)2U."""
    usual = one_phase(cell, method, seed=seed)
    lr = dict(cell.longer_rates).get(method, usual.lr)
    return replace(usual, steps=cell.longer * usual.steps, lr=lr)


def whole_set(cell: Cell, *, seed: int) -> Condensation:
    """Return the training of one net on the whole set."""
    return replace(
        one_phase(cell, "whole", seed=seed), ipc=0, depth=0, inner_batch=0, batch_size=128,
        inner_lr=0.01, steps=cell.whole_steps, lr=0.0, num_nets=1, test_steps=0,
    )  # fmt: skip


def seeds_for(cell: Cell, profile: Profile) -> tuple[int, ...]:
    """Return a cell's seeds at a profile."""
    return seeds_of(profile, cell.num_seeds, first=FRESH_SEED)


def grid(profile: Profile) -> Iterator[Condensation]:
    """Yield what starts from noise or needs no descent, cell by cell."""
    whole: set[str] = set()
    for place, cell in enumerate(cells_of(profile)):
        new = cell.first.dataset not in whole and bool(cell.whole_steps)
        whole.add(cell.first.dataset)
        for number in seeds_for(cell, profile):
            yield from _from_noise(cell, profile, number, is_first=place == 0)
            if new:
                yield whole_set(cell, seed=number)


def _from_noise(
    cell: Cell, profile: Profile, number: int, *, is_first: bool
) -> Iterator[Condensation]:
    if profile == "smoke":
        yield one_phase(cell, FIRST if cell.second_steps else "fg2u", seed=number)
        return
    yield without_descent(cell, "noise", seed=number)
    yield without_descent(cell, "real", seed=number)
    for method in (FIRST,) if cell.second_steps else METHODS:
        yield one_phase(cell, method, seed=number)
    for method in BIASED if cell.longer else ():
        yield longer(cell, method, seed=number)
    if is_first and profile == "cpu":
        for num_directions in MORE_AND_LESS:
            other = one_phase(cell, "fg2u", num_directions=num_directions, seed=number)
            yield replace(other, at_once=num_directions)


def continued_grid(profile: Profile) -> Iterator[Continuation]:
    """Yield second phases by every method, and two that are given twice the steps."""
    for cell in cells_of(profile):
        if not cell.second_steps:
            continue
        for place, number in enumerate(seeds_for(cell, profile)):
            for method in ("fg2u",) if profile == "smoke" else METHODS:
                yield second_phase(cell, method, seed=number)
            for method in (FIRST, "fg2u") if profile == "cpu" and place < NUM_TWICE else ():
                yield second_phase(cell, method, seed=number, times=2)


def alignment_grid(profile: Profile) -> Iterator[Alignment]:
    """Yield the (FG)2U images of the first cell, at `smoke` and `cpu`."""
    num_draws = {"smoke": 1, "cpu": 10}.get(profile)
    if num_draws:
        cell = cells_of(profile)[0]
        for number in seeds_for(cell, profile):
            own = one_phase(cell, "fg2u", seed=number)
            yield Alignment.from_json(own.to_json() | {"num_draws": num_draws})


def estimator(params: Condensation) -> Estimator:
    """Return a method with its numbers."""
    from reproductions.fg2u import Fg2uAdjoint
    from reproductions.fg2u.method.methods import fitted

    if params.method == "fg2u":
        chunk = min(params.at_once, params.num_directions)
        return Fg2uAdjoint(num_directions=params.num_directions, chunk=chunk)
    if params.method == "rgu" and params.device == "cuda":
        # The same gradient, of states alone: a hundred graphs of a thousand images fit nowhere.
        return fitted("rgu-mixflow")
    # The inner step size ends at 0: what scales the series is the first one.
    return fitted(params.method, keep=params.keep, terms=params.terms, alpha=params.inner_lr)


def needs(params: Condensation) -> Needs:
    """Return data and device, with room for the graphs or the tangents that a method holds."""
    if params.device == "cpu":
        return Needs(data=(params.data,), memory_bytes=2**31)
    entries = params.width * params.image_size**2 * (params.inner_batch or params.num_images)
    held = 1 + params.keep + min(params.at_once, params.num_directions)
    # Beyond a large GPU's memory it is for the run to say.
    gpu_bytes = min(4 * 2**30 + HELD_BYTES * entries * held, MOST_BYTES)
    return Needs(data=(params.data,), device="cuda", gpu_bytes=gpu_bytes)


def estimate(params: Condensation) -> Estimate:
    """Return what was measured of the parts of a trial, added up."""
    inner = params.inner_batch or params.num_images
    tests = params.num_nets * params.test_steps * gradient_s(params, inner)
    if params.method == "whole":
        work = params.steps * gradient_s(params, params.batch_size)
    else:
        work = params.steps * params.accumulate * estimate_s(params)
    return Estimate(seconds=START_S + work + tests, memory_bytes=2**31)


def estimate_s(params: Condensation) -> float:
    """Return the seconds of one estimate."""
    inner = params.inner_batch or params.num_images
    outer, step = gradient_s(params, params.batch_size), gradient_s(params, inner)
    match params.method:
        case "fg2u":
            return outer + params.depth * directions_s(params, inner)
        case "rgu" | "trgu":
            kept = params.keep or params.depth
            return outer + (params.depth + 2 * kept) * step
        case _:
            return outer + (params.depth + 2 * params.terms) * step


def gradient_s(params: Condensation, num_images: int) -> float:
    """Return the seconds of one gradient by the weights."""
    call_s, entry_s = GRADIENT_S[_speed(params)]
    return call_s + entry_s * params.width * params.image_size**2 * num_images


def directions_s(params: Condensation, num_images: int) -> float:
    """Return the seconds of an inner step with all its tangents."""
    chunk_s, entry_s = TANGENTS_S[_speed(params)]
    entries = params.width * params.image_size**2 * num_images
    chunks = -(-params.num_directions // params.at_once)
    return chunks * chunk_s + entry_s * entries * params.num_directions


def _speed(params: Condensation) -> str:
    return "mlp" if params.net == "mlp" else params.device


def alignment_estimate(params: Alignment) -> Estimate:
    """Return the time of a few gradients of each method."""
    one = sum(estimate_s(taken_by(params, each)) for each in METHODS)
    return Estimate(seconds=START_S + 1.5 * params.num_draws * one, memory_bytes=2**31)


def stands_in(params: Condensation) -> dict[str, str]:
    """Return what was read in the place of a data set of Table 1, and by what net."""
    name = {"mnist": "MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}[params.dataset]
    size = f"{params.image_size} x {params.image_size}"
    part = {"digits": "digits", "cifar10_10k_5k": "10,000 images of CIFAR-10"}.get(params.data, "")
    papers = paper_cell(params.dataset, 1).first
    if params.image_size != papers.image_size:
        part = f"{part or name} {'of' if params.data == 'digits' else 'at'} {size}"
    if params.net == "mlp":
        part = f"{part or name} by an MLP of {params.num_blocks} layer of {params.width} units"
    elif (params.num_blocks, params.width) != (papers.num_blocks, papers.width):
        part = f"{part or name} by nets of {params.num_blocks} blocks of width {params.width}"
    return {name: part} if part else {}


runs = Experiment(
    "fg2u/image_sets",
    version=1,
    params=Condensation,
    grid=grid,
    run="trial:condensed_rows",
    needs=needs,
    estimate=estimate,
    dry_run="dry:dry_run",
    timeout_s=WEEK_S,
    address=("dataset", "ipc", "method", "num_directions", "seed"),
    stands_in=stands_in,
)
continuations = Experiment(
    "fg2u/image_sets_continued",
    version=1,
    params=Continuation,
    grid=continued_grid,
    run="trial:continued_rows",
    needs=needs,
    uses=(Use(experiment=runs, params=Continuation.first),),
    estimate=estimate,
    dry_run="dry:dry_run",
    timeout_s=WEEK_S,
    address=("dataset", "ipc", "method", "steps", "seed"),
    stands_in=stands_in,
)
alignments = Experiment(
    "fg2u/alignments",
    version=1,
    params=Alignment,
    grid=alignment_grid,
    run="trial:alignment_rows",
    needs=needs,
    uses=(Use(experiment=runs, params=images_of),),
    estimate=alignment_estimate,
    address=("dataset", "ipc", "seed"),
    stands_in=stands_in,
)
