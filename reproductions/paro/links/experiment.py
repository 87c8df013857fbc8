"""Messages and all-gathers of gloo ranks on shaped links.

B is 100 Mbit/s and B' 1000 on every grid but smoke's: on two cores eight ranks move some 10 Gbit/s
between them in all, so that a wider ratio, such as the paper's 25, would be the machine's and not
ours for eight ranks. A block of 1 MiB per rank makes the smallest all-gather one of 4 MiB, which a
flat ring takes a quarter of a second for: a hundred times what a barrier of the ranks takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Literal

from harness.declare import (
    FRESH_SEED,
    PILOT_SEEDS,
    Estimate,
    Experiment,
    Needs,
    Params,
    Profile,
    doc,
    measured,
    seed,
    seeds_of,
)
from reproductions.paro.method.cluster import Cluster, Nic

NICS: dict[Nic, str] = {"shared": "one link per group", "rail": "one link per rank"}
"""As tables and figures call them."""
Scope = Literal["within", "between"]
Rings = Literal["one", "all"]
"""How many groups, or columns of ranks of several groups, send at once."""
Via = Literal["ring", "gloo"]
"""ring: the engine's wire, every rank sends and receives. gloo: its own send and recv, one way."""
Algorithm = Literal["flat", "two-layer", "gloo"]
ALGORITHMS: dict[Algorithm, str] = {
    "flat": "one ring", "two-layer": "PaRO-CC", "gloo": "gloo's own",
}  # fmt: skip
"""The same of what gathers."""
LAYOUTS = ((2, 2), (3, 2), (4, 2), (2, 4))
"""Groups, and ranks in each."""
INTER_MBIT, INTRA_MBIT = 100.0, 1000.0
BLOCKS = 2
"""How often a trial of all-gathers starts over with known bytes, as `pilot_rings` says."""
PILOT_BLOCKS, PILOTS = 3, 3
"""Blocks and seeds of the pilot."""
START_S = 6.0
"""Import of torch, links, and ranks that meet."""


class Bed(Params):
    """A testbed, and how often each thing on it is timed."""

    num_groups: int = doc("Groups, g.")
    ranks_per_group: int = doc("Ranks per group, m.")
    nic: Nic = doc("shared: one link per group; rail: one per rank.")
    inter_mbit: float = doc("B, Mbit/s that a link between groups is given.")
    intra_mbit: float = doc("B', Mbit/s that a rank is given within its group.")
    num_samples: int = doc("Timed repetitions, after one that is not.")
    seed: int = seed("One process on one machine.", default=0)

    def cluster(self) -> Cluster:
        """Return the testbed's ranks and links."""
        return Cluster(
            num_gpus=self.num_groups * self.ranks_per_group, group_size=self.ranks_per_group,
            nic=self.nic, inter_gbit_per_s=self.inter_mbit / 1e3,
            intra_gbit_per_s=self.intra_mbit / 1e3,
        )  # fmt: skip


class Messages(Bed):
    """Messages of several sizes, within groups and between."""

    least_bytes: int = doc("Smallest message.")
    most_bytes: int = doc("Largest message; sizes between are four times each other.")


class Gathers(Bed):
    """All-gathers of one size by several algorithms, in turn."""

    block_bytes: int = doc("What each rank has of the whole.")
    num_blocks: int = doc(
        "Blocks of the trial: in each known bytes are timed anew, then every algorithm.",
        default=1, added=True,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """Messages of one size, timed together."""

    scope: Scope
    rings: Rings
    via: Via
    message_bytes: int
    num_messages: int
    """One after another in a sample, so that waiting for its start is a small part of it."""


def cases_of(messages: Messages) -> list[Case]:
    """Return what a trial times; a sample has at least two of the largest messages' bytes."""
    sizes, size = [], messages.least_bytes
    while size <= messages.most_bytes:
        sizes.append(size)
        size *= 4
    found = product(("within", "between"), ("one", "all"), ("ring", "gloo"), sizes)
    return [
        Case(scope=scope, rings=rings, via=via, message_bytes=size,  # type: ignore[arg-type]
             num_messages=max(2, min(64, messages.most_bytes // size)))
        for scope, rings, via, size in found
    ]  # fmt: skip


def message_grid(profile: Profile) -> Iterator[Messages]:
    """Yield two groups of two, by a shared link and by one each."""
    if profile == "smoke":
        yield Messages(
            num_groups=2, ranks_per_group=2, nic="shared", inter_mbit=200.0, intra_mbit=2000.0,
            num_samples=1, least_bytes=2**12, most_bytes=2**14,
        )  # fmt: skip
    elif profile == "cpu":
        for nic, number in product(NICS, seeds_of(profile, first=FRESH_SEED)):
            yield Messages(
                num_groups=2, ranks_per_group=2, nic=nic, inter_mbit=INTER_MBIT,
                intra_mbit=INTRA_MBIT, num_samples=3, seed=number, least_bytes=2**10,
                most_bytes=2**22,
            )  # fmt: skip


SMALL_GATHERS = Gathers(
    num_groups=2, ranks_per_group=2, nic="shared", inter_mbit=200.0, intra_mbit=2000.0,
    num_samples=1, block_bytes=2**14,
)  # fmt: skip
"""Those of smoke."""


def gathers_of(seeds: Iterable[int], num_blocks: int) -> Iterator[Gathers]:
    """Yield four, six and eight ranks, in two to four groups."""
    for (num_groups, ranks), nic, number in product(LAYOUTS, NICS, seeds):
        yield Gathers(
            num_groups=num_groups, ranks_per_group=ranks, nic=nic, inter_mbit=INTER_MBIT,
            intra_mbit=INTRA_MBIT, num_samples=5, seed=number, block_bytes=2**20,
            num_blocks=num_blocks,
        )  # fmt: skip


def gather_grid(profile: Profile) -> Iterator[Gathers]:
    """Yield every layout of ranks, as often as claims need it."""
    if profile == "smoke":
        yield SMALL_GATHERS
    elif profile == "cpu":
        yield from gathers_of(seeds_of(profile, first=FRESH_SEED), BLOCKS)


def pilot_grid(profile: Profile) -> Iterator[Gathers]:
    """Yield the same layouts in several blocks, at seeds that no claim is judged on."""
    if profile == "smoke":
        yield replace(SMALL_GATHERS, num_blocks=2, seed=PILOT_SEEDS[0])
    elif profile == "cpu":
        yield from gathers_of(PILOT_SEEDS[:PILOTS], PILOT_BLOCKS)


def message_estimate(messages: Messages) -> Estimate:
    """Return a start, and what links take for all bytes: some thirty of the largest messages."""
    bits = 300 * messages.most_bytes * (messages.num_samples + 1)
    seconds = START_S + bits / (messages.inter_mbit * 1e6)
    return Estimate(seconds=seconds, memory_bytes=2**30)


def gather_estimate(gathers: Gathers) -> Estimate:
    """Return a start, and what links take for a flat ring by each algorithm."""
    num_ranks = gathers.num_groups * gathers.ranks_per_group
    ring_s = (num_ranks - 1) * 8 * gathers.block_bytes / (gathers.inter_mbit * 1e6)
    per_block_s = ring_s * len(ALGORITHMS) * (gathers.num_samples + 1)
    seconds = START_S + 0.3 * num_ranks + gathers.num_blocks * per_block_s
    return Estimate(seconds=seconds, memory_bytes=2**31)


TIMES = (
    measured(
        "median_ms", float, "Time, from the first rank's start to the last one's end. Null where a"
        " token bucket does not slow it.", nullable=True,
    ),
    measured("p20_ms", float, "A fifth of the samples took less.", nullable=True),
    measured("p80_ms", float, "A fifth of the samples took more.", nullable=True),
)  # fmt: skip
ABOUT = (
    measured(
        "testbed", str, "namespaces: links are interfaces that send at their rate. token bucket:"
        " there can be none; the engine's own messages between groups wait.",
    ),
    measured("others_cores", float, "Cores that others kept busy meanwhile.", nullable=True),
)  # fmt: skip
"""Columns that both tables have."""
NEEDS = Needs(memory_bytes=2**31, exclusive=True)
STANDS_IN = {"A100 GPUs": "gloo ranks on slowed links"}
SHOWN = ("num_groups", "ranks_per_group", "nic", "seed")
_timed = partial(
    Experiment,
    version=1,
    needs=NEEDS,
    address=SHOWN,
    stands_in=lambda bed: STANDS_IN,
)
_gathered = partial(_timed, params=Gathers, estimate=gather_estimate)
"""What the run and its pilot share."""
bandwidths = _timed(
    "paro/link_bandwidths",
    params=Messages,
    grid=message_grid,
    run="trial:message_rows",
    estimate=message_estimate,
)
gather_times = _gathered("paro/gather_times", grid=gather_grid, run="trial:gather_rows")
gather_pilots = _gathered("paro/gather_pilots", grid=pilot_grid, run="trial:block_rows")
