"""From a race to rows: one per implementation, and ceilings that are measured beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, cycle

import torch
from torch import Tensor

from harness.declare import Row, RunContext
from harness.errors import EnvError, HarnessError, RunError
from harness.measure.live_bytes import peak_of
from harness.measure.timing import Timing, measure_interleaved
from reproductions.kernels.cases import Case, Work, case_of
from reproductions.kernels.precision import share_of_allowed
from reproductions.kernels.speed.contest import (
    Bound,
    Contender,
    Contest,
    Inputs,
    Outputs,
    Setting,
    tensors_of,
    widened,
)
from reproductions.kernels.speed.experiment import Race
from reproductions.kernels.speed.heads import cross_entropy
from reproductions.kernels.speed.steps import adamw, sharded, tangent_step
from reproductions.kernels.speed.streams import rademacher, rearrange, sign_ops

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}
MAKERS: Mapping[str, Callable[[Case, Setting], Contest]] = {
    "masked_adamw": partial(adamw, masked=True),
    "rademacher": rademacher,
    "tangent_step": tangent_step,
    "sign_ops": sign_ops,
    "layer_adamw": partial(adamw, masked=False),
    "linear_cross_entropy": cross_entropy,
}
"""By kernel, who takes turns."""
NUM_INPUTS = 2
"""Inputs that take turns: what a call left in a cache is not what the next one reads."""
WARMUP_S = 0.1
MIN_SAMPLES = 3
FLOOR_SLACK = {"cuda": 0.9, "cpu": 0.7}
"""A time below this share of the floor is refused. Neither a copy nor a square product is the last
a machine can do: what only reads, or lies in a cache, may be somewhat faster, most so on a CPU."""
PRODUCT_SIZE = {"cuda": 4096, "cpu": 256}
COPY, IN_PLACE, PRODUCT = "a copy", "a multiple in place", "a square product"
"""Ceilings: the first two read and write as many bytes as the call. A CPU's copy reads what it is
going to write over too, which nothing in place does."""


def speed_rows(race: Race, ctx: RunContext) -> list[Row]:
    """Time all implementations in turn, then hold their outputs against float64.

    Both of what was timed and of a call that is bound anew, whose peak of memory is measured.
    """
    case = case_of(race.kernel, race.case)
    setting = Setting(DTYPES[race.precision], torch.device(race.device))
    contest = contest_of(case, setting)
    generator = torch.Generator().manual_seed(ctx.seed("inputs"))
    inputs = [contest.draw(generator) for _ in range(NUM_INPUTS)]
    if race.compiled:
        # A worker's earlier trials count towards a limit, beyond which nothing is compiled.
        torch._dynamo.reset()
    calls: dict[str, Bound] = {}
    absent: list[Row] = []
    for name, contender in taking_part(contest, race).items():
        try:
            calls[name] = in_turn(contender, inputs)
        except Exception as error:
            if not may_be_absent(contender, error):
                raise
            absent.append(absence(name, contender, error))
    times = _times(calls, race, setting, case.work(race.precision))
    fresh = contest.draw(generator)
    rows = [
        {
            "implementation": name,
            **_speed(name, times, case.work(race.precision), race),
            **_outputs(contest, name, fresh, setting, as_timed(contest, call, inputs, fresh)),
            "missing": "",
        }
        for name, call in calls.items()
    ]
    return rows + absent


def may_be_absent(contender: Contender, error: Exception) -> bool:
    """Say whether the others take turns without one that raised.

    What a kernel of ours raises must not keep others from being timed, at this case and, where
    errors of several trials are equal, at all. Memory that does not suffice is a trial's result.
    """
    if contender.ours:
        return not isinstance(error, torch.OutOfMemoryError)
    return isinstance(error, HarnessError | RuntimeError | ImportError)


def absence(name: str, contender: Contender, error: Exception) -> Row:
    """Return the row of one that raised: of a kernel of ours its outputs do not agree.

    A compiler that is not there is a lack of the machine, and no fault of a kernel.
    """
    lines = str(error).strip().splitlines() or [""]
    # Triton quotes the kernel before it says what is wrong.
    why = f"{type(error).__name__}: {lines[-1 if contender.ours else 0][:200]}"
    at_fault = contender.ours and not isinstance(error, EnvError)
    return {"implementation": name, "missing": why, **({"agrees": False} if at_fault else {})}


def contest_of(case: Case, setting: Setting) -> Contest:
    """Return who takes turns at a case."""
    if case.kernel == "shard_pack":
        return (sharded if case.call == "step" else rearrange)(case, setting)
    return MAKERS[case.kernel](case, setting)


def taking_part(contest: Contest, race: Race) -> dict[str, Contender]:
    """Return who runs on the device, what torch.compile makes where that is asked for."""
    return {
        name: contender
        for name, contender in contest.contenders.items()
        if (race.compiled or not contender.compiles)
        and (race.device == "cuda" or not contender.ours)
    }


def in_turn(contender: Contender, inputs: Sequence[Inputs]) -> Bound:
    """Bind all inputs, call once with each, and return what calls with the next at every call."""
    bound = [contender.bind(given) for given in inputs]
    for call in bound:
        call()
    turns = cycle(bound)
    return lambda: next(turns)()


def as_timed(
    contest: Contest, call: Bound, inputs: Sequence[Inputs], fresh: Inputs
) -> Iterator[Outputs]:
    """Yield what one more call with each of the inputs leaves that were timed.

    They hold fresh numbers then: others may have been worked on in place at every call.
    """
    for given in inputs:
        for old, new in zip(tensors_of(contest, given), tensors_of(contest, fresh), strict=True):
            old.copy_(new)
    for _ in inputs:
        yield call()


def _times(
    calls: Mapping[str, Bound], race: Race, setting: Setting, work: Work
) -> dict[str, Timing]:
    """Time all calls and the ceilings in turn."""
    half = torch.ones(max(work.bytes // 8, 1), device=setting.device)
    size = PRODUCT_SIZE[race.device]
    # Of ones a card that is held to a power makes a product faster than of what calls are given.
    square = setting.normal(size, size, generator=torch.Generator().manual_seed(0))
    target = torch.empty_like(half)
    ceilings: dict[str, Callable[[], object]] = {
        COPY: lambda: target.copy_(half),
        IN_PLACE: lambda: target.mul_(1.0),
        PRODUCT: lambda: square @ square,
    }
    work_of = {**calls, **ceilings}
    timings = measure_interleaved(
        list(work_of.values()), device=race.device, warmup_s=WARMUP_S if race.budget_s else 0.0,
        min_samples=MIN_SAMPLES, budget_s=race.budget_s,
    )  # fmt: skip
    return dict(zip(work_of, timings, strict=True))


def _speed(name: str, times: Mapping[str, Timing], work: Work, race: Race) -> Row:
    """Return a time, its floor by the ceilings beside it. Raises RunError for one below it."""
    time, product_flops = times[name], 2 * PRODUCT_SIZE[race.device] ** 3
    by_bytes = min(times[COPY].median_ms, times[IN_PLACE].median_ms)
    by_flops = work.flops / product_flops * times[PRODUCT].median_ms
    floor_ms = max(by_bytes, by_flops)
    if time.median_ms < FLOOR_SLACK[race.device] * floor_ms:
        raise RunError(
            f"{race.kernel}, {race.case}: {name} took {1e3 * time.median_ms:.3g} us, and"
            f" {1e3 * floor_ms:.3g} us is the least that its bytes and products take: what"
            " was timed is not the work"
        )
    return {
        "bytes": work.bytes,
        "flops": work.flops,
        "median_us": 1e3 * time.median_ms,
        "p20_us": 1e3 * time.p20_ms,
        "p80_us": 1e3 * time.p80_ms,
        "num_samples": len(time.samples_ms),
        "copy_us": 1e3 * times[COPY].median_ms,
        "floor_us": 1e3 * floor_ms,
        "share_of_ceiling": floor_ms / time.median_ms,
        "product_gflop_per_s": product_flops / (1e6 * times[PRODUCT].median_ms),
        "load_average": time.load_average,
    }


def _outputs(
    contest: Contest, name: str, inputs: Inputs, setting: Setting, timed: Iterator[Outputs]
) -> Row:
    """Return whether a call's outputs are those of float64, and its peak of memory.

    timed: outputs of what was timed, for the same inputs; the peak is that of a call bound anew.
    """
    contender = contest.contenders[name]
    call = contender.bind(contest.change(inputs, Tensor.clone))
    # What a compiled graph allocates on a CPU, nothing sees.
    seen = setting.device.type == "cuda" or not contender.compiles
    found, peak_bytes = peak_of(call, measured=seen, device=setting.device)
    if not contender.compared:
        return {"peak_bytes": peak_bytes}
    wanted = contest.reference(contest.change(inputs, widened))()
    share = partial(share_of_allowed, dtype=setting.dtype, length=contest.length)
    # Norms, which come after what is wanted, are `on_device`'s.
    worst = max(
        share(*pair)
        for each in chain([found], timed)
        for pair in zip(each[: len(wanted)], wanted, strict=True)
    )
    return {"peak_bytes": peak_bytes, "error": worst, "agrees": worst <= 1.0}
