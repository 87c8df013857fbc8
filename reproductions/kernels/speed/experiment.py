"""Time of every kernel beside plain torch, torch.compile and libraries, all in turn."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc, seed, seeds_of
from harness.declare.experiment import Device
from harness.declare.seeds import FIRST_SEED
from reproductions.kernels.cases import CASES, KERNELS, Precision, case_of

EAGER, COMPILED, TRITON, CUDA = "eager", "torch.compile", "Triton", "CUDA C++"
"""Implementations that most kernels have."""
COMPILE_S = 8.0
"""What torch.compile takes for one call, before its cache is warm."""
BUDGET_S: dict[Profile, float] = {"smoke": 0.0, "cpu": 0.3, "gpu": 0.2}
NUM_CALLS = 60
"""Calls of all implementations together, where one outlasts its budget: some to warm up, some that
are timed, and some in float64."""
CORE_RATE = 2.5e9
"""Bytes a second that one core reads and writes while it computes."""


class Race(Params):
    """All implementations of a kernel that a device runs, in turn."""

    kernel: str = doc("Kernel, by its task.")
    case: str = doc("Sizes, by their name.")
    precision: Precision = doc("Type of values, activations and gradients.")
    device: Device = doc("cpu: one thread; cuda: one GPU.")
    compiled: bool = doc("Whether torch.compile takes part.")
    budget_s: float = doc("Seconds of samples per implementation.")
    seed: int = seed("One process on one machine.", default=0)


def grid(profile: Profile, *, kernel: str) -> Iterator[Race]:
    """Yield every case and type of a kernel; on a CPU products are in float32 alone.

    On a GPU torch.compile takes part at large sizes alone: a call takes longest to compile.
    """
    if profile == "paper":
        return
    budget_s = BUDGET_S[profile]
    for case in CASES:
        if case.kernel != kernel or profile not in case.profiles:
            continue
        for precision in case.precisions:
            if profile != "gpu" and precision != "float32" and case.work(precision).flops:
                continue
            for number in seeds_of(profile):
                yield Race(
                    kernel=kernel, case=case.name, precision=precision,
                    device="cuda" if profile == "gpu" else "cpu",
                    compiled=profile != "smoke" and profile == case.profiles[0],
                    budget_s=budget_s, seed=number,
                )  # fmt: skip


COPIES = 8
"""Inputs that exist at once: two to take turns, float64 ones, and what a call makes."""


def needs(race: Race) -> Needs:
    """Return room for inputs, and nothing beside it."""
    work = case_of(race.kernel, race.case).work(race.precision)
    room = COPIES * work.bytes + 2**30
    if race.device == "cuda":
        return Needs(device="cuda", gpu_bytes=room, packages=("triton",), exclusive=True)
    return Needs(memory_bytes=room, exclusive=True)


def estimate(race: Race) -> Estimate:
    """Return warm-up, samples, calls that outlast them, and what compilation takes.

    The first seed compiles what the others find compiled.
    """
    compiles = race.compiled and race.seed in (0, FIRST_SEED)
    seconds = 0.3 + 8 * race.budget_s + (COMPILE_S if compiles else 0.0)
    if race.device == "cpu":
        num_bytes = case_of(race.kernel, race.case).work(race.precision).bytes
        seconds += NUM_CALLS * num_bytes / CORE_RATE
    return Estimate(seconds=seconds, memory_bytes=needs(race).memory_bytes)


RACES = {
    kernel: Experiment(
        f"kernels/{kernel}",
        version=1,
        params=Race,
        grid=partial(grid, kernel=kernel),
        run="trial:speed_rows",
        needs=needs,
        estimate=estimate,
        address=("case", "precision", "seed"),
    )
    for kernel in KERNELS
}
"""By kernel."""
