"""Sets of images of Table 1: condensed from noise, or going on from a first phase's.

Beside them what needs no condensing (noise, random real images, the whole set), and how well
every method's gradient points along the exact one on condensed images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any, Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, Use, doc, seed
from reproductions.fg2u.image_sets.cells import Cell, Dataset, Method, cells_of, paper_cell

if TYPE_CHECKING:
    from reproductions.fg2u import Estimator

NUM_SEEDS: dict[str, int] = {"smoke": 1, "cpu": 5, "gpu": 3, "paper": 3}
NUM_DIRECTIONS = 32
"""The paper's b."""
MORE_AND_LESS = (8, 128)
"""Other numbers of directions, on the first cell of `cpu`."""
FIRST: Method = "hessian-free"
"""The paper's first phase."""
TERMS = 20
"""Terms of Neumann's series, as the released code of online adaptation has them."""
METHODS: tuple[Method, ...] = ("trgu", "hessian-free", "neumann", "fg2u", "rgu")
"""In the order of Table 1."""
KEPT = (2, 5, 10)
"""Last steps of TRGU whose gradients are set against the exact one."""
HELD_BYTES = 80
"""Of a graph of a step, or of a direction's tangents, per entry of the net's first layer."""
MOST_BYTES = 72 * 2**30
WEEK_S = 7 * 24 * 3600.0
START_S = 0.4
CALL_S = {"cpu": 2.5e-3, "cuda": 3e-3}
"""Of a gradient, whatever its size."""
FLOAT_S = {"cpu": 4.5e-8, "cuda": 5e-11}
"""Of a gradient, per entry of its first layer."""
TANGENT_CALL_S = {"cpu": 1.2e-2, "cuda": 5e-2}
TANGENT_FLOAT_S = {"cpu": 5.5e-8, "cuda": 2e-10}
"""The same of a step with tangents, per entry and direction."""


class Condensation(Params):
    """A set of images, and the nets that it trains."""

    dataset: Dataset = doc("Data set of the paper.")
    data: str = doc("Data set that was read for it.")
    image_size: int = doc("Pixels per side.")
    ipc: int = doc("Images per class; 0 for the whole training set.")
    width: int = doc("Channels of every block of the ConvNet.")
    num_blocks: int = doc("Its blocks; the paper has three.")
    device: Literal["cpu", "cuda"] = doc("Where it runs.")
    method: Method = doc("How gradients are taken, or what stands there without any.")
    num_directions: int = doc("Random directions per gradient, b; 0 without.")
    at_once: int = doc("Directions that are carried at a time, at most.")
    keep: int = doc("Last inner steps that TRGU walks back; 0 without.")
    terms: int = doc("Terms of Neumann's series beyond the first; 0 without.")
    depth: int = doc("Inner steps T that gradients are taken through.")
    inner_batch: int = doc("Images per inner step; 0 for all of them.")
    inner_lr: float = doc("First inner step size, which falls to 0 along a cosine.")
    steps: int = doc("Outer steps; of a net's training on the whole set, its steps.")
    accumulate: int = doc("Batches, each with a net, whose mean gradient is an outer step's.")
    lr: float = doc("First step size of the outer Adam, which falls to 0 along a line.")
    batch_size: int = doc("Real images that judge a net; of the whole set's training, per step.")
    num_nets: int = doc("Fresh nets of the evaluation.")
    test_steps: int = doc("Inner steps that they are trained for.")
    seed: int = seed("One set of images: noise, initial weights, batches, directions.")

    @property
    def num_classes(self) -> int:
        return 100 if self.dataset == "cifar100" else 10

    @property
    def channels(self) -> int:
        return 1 if self.data in ("digits", "mnist") else 3

    @property
    def num_images(self) -> int:
        return self.ipc * self.num_classes


class Continuation(Condensation):
    """A set of images that a first phase, by Hessian-free, has condensed from noise."""

    first_steps: int = doc("Outer steps of that phase.")
    first_lr: float = doc("Its first step size.")
    times: int = doc("How many times the steps that every method is given.")

    def first(self) -> Condensation:
        """Return the first phase."""
        own = {field.name: getattr(self, field.name) for field in Condensation.fields()}
        own |= numbers_of(FIRST, depth=self.depth)
        return Condensation(**(own | {"steps": self.first_steps, "lr": self.first_lr}))


class Alignment(Condensation):
    """Gradients of every method on a set of condensed images, beside the exact one."""

    num_draws: int = doc("Nets and batches over which cosines are averaged.")

    def images(self) -> Condensation:
        """Return the set."""
        return Condensation(**{f.name: getattr(self, f.name) for f in Condensation.fields()})


def numbers_of(method: Method, *, depth: int, num_directions: int = NUM_DIRECTIONS) -> Any:
    """Return the fields that a method sets; 0 for what means nothing to it."""
    return {
        "method": method,
        "num_directions": num_directions if method == "fg2u" else 0,
        # A quarter of the unroll, as the released configuration of CaMeLS has it.
        "keep": max(1, depth // 4) if method == "trgu" else 0,
        "terms": TERMS if method == "neumann" else 0,
    }


def one_phase(
    cell: Cell, method: Method, *, seed: int, num_directions: int = NUM_DIRECTIONS
) -> Condensation:
    """Return a method that starts from noise, for all the steps of the cell's first phase."""
    numbers = numbers_of(method, depth=cell.setting.depth, num_directions=num_directions)
    own = {"steps": cell.steps, "lr": cell.lr, "seed": seed}
    return Condensation(**asdict(cell.setting), **numbers, **own)


def second_phase(cell: Cell, method: Method, *, seed: int, times: int = 1) -> Continuation:
    """Return a method that goes on from the first phase's images, for `times` the cell's steps."""
    numbers = numbers_of(method, depth=cell.setting.depth)
    own = {"steps": times * cell.second_steps, "lr": cell.second_lr, "seed": seed}
    before = {"first_steps": cell.steps, "first_lr": cell.lr, "times": times}
    return Continuation(**asdict(cell.setting), **numbers, **own, **before)


def without_descent(cell: Cell, method: Literal["noise", "real"], *, seed: int) -> Condensation:
    """Return images as they are drawn."""
    return replace(one_phase(cell, method, seed=seed), steps=0, lr=0.0)


def whole_set(cell: Cell, *, seed: int) -> Condensation:
    """Return the training of one net on the whole set."""
    setting = replace(
        cell.setting, ipc=0, depth=0, inner_batch=0, batch_size=cell.whole.batch_size,
        inner_lr=cell.whole.lr, num_nets=1, test_steps=0,
    )  # fmt: skip
    own = {"steps": cell.whole.steps, "lr": 0.0, "seed": seed}
    return Condensation(**asdict(setting), **numbers_of("whole", depth=0), **own)


def seeds_of(profile: Profile) -> range:
    """Return a profile's seeds."""
    return range(NUM_SEEDS[profile])


def grid(profile: Profile) -> Iterator[Condensation]:
    """Yield what starts from noise or needs no descent, cell by cell."""
    whole: set[str] = set()
    for place, cell in enumerate(cells_of(profile)):
        new = cell.setting.dataset not in whole and bool(cell.whole.steps)
        whole.add(cell.setting.dataset)
        for number in seeds_of(profile):
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
    if is_first and profile == "cpu":
        for num_directions in MORE_AND_LESS:
            yield one_phase(cell, "fg2u", num_directions=num_directions, seed=number)


def continued_grid(profile: Profile) -> Iterator[Continuation]:
    """Yield second phases by every method, and two that are given twice the steps."""
    for cell in cells_of(profile):
        if not cell.second_steps:
            continue
        for number in seeds_of(profile):
            for method in ("fg2u",) if profile == "smoke" else METHODS:
                yield second_phase(cell, method, seed=number)
            for method in (FIRST, "fg2u") if profile == "cpu" else ():
                yield second_phase(cell, method, seed=number, times=2)


def alignment_grid(profile: Profile) -> Iterator[Alignment]:
    """Yield the (FG)2U images of the first cell, at `smoke` and `cpu`."""
    num_draws = {"smoke": 1, "cpu": 10}.get(profile)
    if num_draws:
        cell = cells_of(profile)[0]
        for number in seeds_of(profile):
            own = one_phase(cell, "fg2u", seed=number)
            yield Alignment(**own.to_json(), num_draws=num_draws)


def estimator(params: Condensation) -> Estimator:
    """Return a method with its numbers."""
    from reproductions.fg2u import Fg2uAdjoint, hypergradient

    if params.method == "fg2u":
        chunk = min(params.at_once, params.num_directions)
        return Fg2uAdjoint(num_directions=params.num_directions, chunk=chunk)
    if params.method == "rgu" and params.device == "cuda":
        # The same gradient, of states alone: a hundred graphs of a thousand images fit nowhere.
        return hypergradient("rgu-mixflow")
    # The inner step size ends at 0: what scales the series is the first one.
    options: dict[str, dict[str, Any]] = {
        "trgu": {"keep": params.keep},
        "neumann": {"terms": params.terms, "alpha": params.inner_lr},
        "hessian-free": {"alpha": params.inner_lr},
    }
    return hypergradient(params.method, **options.get(params.method, {}))


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
    share = params.width * params.image_size**2 * num_images
    return CALL_S[params.device] + FLOAT_S[params.device] * share


def directions_s(params: Condensation, num_images: int) -> float:
    """Return the seconds of an inner step with all its tangents."""
    share = params.width * params.image_size**2 * num_images
    chunks = -(-params.num_directions // params.at_once)
    return chunks * TANGENT_CALL_S[params.device] + (
        TANGENT_FLOAT_S[params.device] * share * params.num_directions
    )


def alignment_estimate(params: Alignment) -> Estimate:
    """Return the time of a few gradients of each method."""
    several = (replace(params.images(), **numbers_of(each, depth=params.depth)) for each in METHODS)
    one = sum(map(estimate_s, several))
    return Estimate(seconds=START_S + 1.5 * params.num_draws * one, memory_bytes=2**31)


def stands_in(params: Condensation) -> dict[str, str]:
    """Return what was read in the place of a data set of Table 1, and by what net."""
    name = {"mnist": "MNIST", "cifar10": "CIFAR-10", "cifar100": "CIFAR-100"}[params.dataset]
    size = f"{params.image_size} x {params.image_size}"
    part = {"digits": "digits", "cifar10_10k_5k": "10,000 images of CIFAR-10"}.get(params.data, "")
    papers = paper_cell(params.dataset, 1).setting
    if params.image_size != papers.image_size:
        part = f"{part or name} {'of' if params.data == 'digits' else 'at'} {size}"
    if (params.num_blocks, params.width) != (papers.num_blocks, papers.width):
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
    uses=(Use(experiment=runs, params=Alignment.images),),
    estimate=alignment_estimate,
    address=("dataset", "ipc", "seed"),
    stands_in=stands_in,
)
