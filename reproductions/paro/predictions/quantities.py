"""What is asked of predictions: scopes and claims of several tasks, and what claims measure.

Nothing of it is drawn.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise

from harness.declare import (
    CHECK,
    CPU,
    Criterion,
    Frame,
    MissingRows,
    Scalar,
    Scope,
    at_least,
    by_theory,
    more_than,
    ours,
    pick,
)
from reproductions.paro.models.paper_inputs import ACCUMULATION
from reproductions.paro.predictions.experiment import GPUS, MICRO_BATCH, ONE_RING, QUOTED, SHARED

ELSEWHERE = "the formulas are the same at every scale"
FORMULA = by_theory(profiles=CPU, elsewhere=ELSEWHERE, deterministic=True)
"""What the paper says of its results or its guideline, and its formulas may deny."""
NEAR = ours("DEV-22", profiles=CPU, elsewhere=ELSEWHERE, deterministic=True).asked_by_us()
SET = CHECK.at(*CPU, elsewhere=ELSEWHERE)
"""What the paper says of speeds, and no model, trainable share, number of micro-batches or cluster
can deny: a ring waits for its slowest hop, so that Z >= X + Y. A test asks random ones."""

SPEED_ORDERS = (("GGG", "IGG", "IIG"), ("IGG", "NIG"), ("NGG", "NIG"))
"""From slower to faster (section 4.5)."""
Where = dict[str, Scalar]


def _by_setting(table: Frame, column: str, *names: str) -> Frame:
    """Return a column by setting, with a column of each strategy named.

    Raises MissingRows where one has no row.
    """
    setting = ["model", "trainable", "num_gpus", "micro_batch", "accumulation", "nic", "world"]
    found = table.pivot(index=setting, columns="strategy", values=column).astype(float)
    if lacking := sorted({*names} - {*found.columns}):
        raise MissingRows(f"no row of {', '.join(lacking)}")
    return found[list(names)]


def _of(table: Frame, name: str, column: str, where: Where) -> float:
    rows = pick(table, strategy=name, **where)
    if len(rows) != 1:
        raise MissingRows(f"{len(rows)} rows of {name} where {where}: need one")
    return float(rows[column].iloc[0])


def speed_ratio(table: Frame, *, one: str, over: str, where: Where) -> float:
    """Return the speed of a strategy over another's, by communication alone."""
    return _of(table, over, "comm_s", where) / _of(table, one, "comm_s", where)


def speed_ratios(
    table: Frame, *, pairs: Sequence[tuple[str, str, str]], where: Where
) -> list[float]:
    """Return the speed ratio of every (model, strategy, baseline)."""
    return [
        speed_ratio(table, one=one, over=over, where={**where, "model": model})
        for model, one, over in pairs
    ]


def steps_per_s(table: Frame, *, names: Sequence[str], where: Where) -> list[float]:
    """Return 1/T of some strategies."""
    return [1.0 / _of(table, name, "comm_s", where) for name in names]


def named_among_best(table: Frame, *, named: Sequence[str], where: Where) -> int:
    """Return how many of the named strategies are among as many that rank first."""
    rows = pick(table, **where).dropna(subset=["rank"])
    if rows.empty:
        raise MissingRows(f"no strategy has a rank where {where}")
    best = set(rows.loc[rows["rank"] <= len(named), "strategy"])
    return len(best & set(named))


def named_when_shared(table: Frame, *, named: Mapping[str, Sequence[str]]) -> list[float]:
    """Return which share of the named ones are the best with a shared link, by what trains."""
    return [
        named_among_best(table, named=names, where={**SHARED, "trainable": share}) / len(names)
        for share, names in named.items()
    ]


def rank_of(table: Frame, *, name: str, where: Where) -> float:
    """Return a strategy's place among those that fit."""
    return _of(table, name, "rank", where)


def unlike_fits(table: Frame, *, fitting: Sequence[str], among: Sequence[str], where: Where) -> int:
    """Return of how many strategies it is otherwise whether they fit."""
    rows = pick(table, **where)
    rows = rows[rows["strategy"].isin(among)]
    if len(rows) < len(among):
        raise MissingRows(f"only {len(rows)} of {len(among)} strategies have a row")
    return int((rows["strategy"].isin(fitting) != rows["fits"].astype(bool)).sum())


def least_speed_ratio(table: Frame, *, where: Where) -> float:
    """Return the least ratio of speeds in the paper's orders, over numbers of GPUs."""
    names = {name for order in SPEED_ORDERS for name in order}
    comm = _by_setting(pick(table, accumulation=ACCUMULATION, **where), "comm_s", *names)
    ratios = [comm[a] / comm[b] for order in SPEED_ORDERS for a, b in pairwise(order)]
    return float(min(ratio.min() for ratio in ratios))


def speedup_gaps(table: Frame, *, ways: Sequence[tuple[str, str]]) -> list[float]:
    """Return by how much NIG's speed-up ratio is above ZeRO's, and IIG's above NIG's.

    The ratio is from the fewest to the most GPUs; ZeRO is the better of ZeRO-2 and 3.
    ways: how collectives of all GPUs are sent, those of ZeRO and those of PaRO, one after another.
    """
    most: Where = {"num_gpus": GPUS[-1], "accumulation": ACCUMULATION, "nic": "rail"}

    def ratio(name: str, world: str) -> float:
        return _of(table, name, "speedup_ratio", {**most, "world": world})

    found = []
    for zero, paro in ways:
        best, nig = max(ratio("NGG", zero), ratio("GGG", zero)), ratio("NIG", paro)
        found += [nig - best, ratio("IIG", paro) - nig]
    return found


def wrong_signs(table: Frame) -> int:
    """Return in how many settings IIG against NIG is not as the sign of Z - 2 s Y - X says.

    Counts also 1 for each sign that never occurs, for then the sign says nothing.
    """
    flat = pick(table, world="flat")
    comm = _by_setting(flat, "comm_s", "IIG", "NIG")
    sync_p = _by_setting(flat, "sync_p_s", "IIG")
    gradient = _by_setting(flat, "gradient_s", "IIG", "NGG")
    times = comm.index.get_level_values("accumulation")
    margin = gradient["NGG"] - 2 * times * gradient["IIG"] - sync_p["IIG"]
    faster = comm["IIG"] < comm["NIG"]
    unseen = 2 - faster.nunique()
    return int((faster != (margin > 0)).sum()) + int(unseen)


def accumulation_gains(
    table: Frame, *, faster: Sequence[str], helped: str, splits: Sequence[tuple[int, int]]
) -> list[float]:
    """Return what more micro-batches give some strategies, and larger ones another over IIG."""
    return [least_rise(table, names=faster), helped_more(table, one=helped, splits=splits)]


def least_rise(table: Frame, *, names: Sequence[str]) -> float:
    """Return by which factor samples per second rise at least with the next accumulation."""
    rows = pick(table, micro_batch=MICRO_BATCH, **ONE_RING)
    samples = _by_setting(rows, "samples_per_s_at_most", *names).sort_index(level="accumulation")
    return float((samples / samples.shift()).min().min())


def helped_more(
    table: Frame, *, one: str, splits: Sequence[tuple[int, int]], than: str = "IIG"
) -> float:
    """Return how much more a larger micro-batch helps one strategy, at one batch per GPU.

    It is a ratio of speed-ups, the least over neighbours of `splits`: (micro-batch, accumulation)
    in any order.
    """
    ahead = []
    for batch, times in sorted(splits):
        where: Where = {**ONE_RING, "micro_batch": batch, "accumulation": times}
        own, other = (_of(table, n, "samples_per_s_at_most", where) for n in (one, than))
        ahead.append(own / other)
    return min(after / before for before, after in pairwise(ahead))


def best_over_best(table: Frame, *, one: str, over: str) -> float:
    """Return the largest samples per second of a strategy over those of another."""
    rows = pick(table, **ONE_RING)
    best = rows.groupby("strategy")["samples_per_s_at_most"].max()
    if not {one, over} <= set(best.index):
        raise MissingRows(f"no rows of {one} and {over}")
    return float(best[one] / best[over])


def attained(table: Frame, *, where: Where) -> float:
    """Return by how much the formulas miss a quoted ratio at the time found for it (largest).

    Not a number where no time gives it.
    """
    rows = pick(table, **where)
    return float((rows["ratio_at_compute"] / rows["quoted_ratio"] - 1).abs().max(skipna=False))


SEVERAL = [
    key
    for key, count in Counter((gain.model, gain.trainable) for gain in QUOTED).items()
    if count > 1
]
"""Model and trainable share of which more gains than one are quoted."""


def compute_apart(table: Frame, *, assemblies: Sequence[str]) -> list[float]:
    """Return by which factor the times of computation that quoted gains need lie apart.

    A number for each of `SEVERAL`, assembly by assembly; not a number where no time gives a gain.
    """
    found = []
    for assembly in assemblies:
        rows = pick(table, reading="more", world="flat", assembly=assembly)
        times = rows.set_index(["model", "trainable"])["compute_s"].astype(float)
        if lacking := [key for key in SEVERAL if key not in times.index]:
            raise MissingRows(f"no row of {lacking}")
        each = [times.loc[[key]] for key in SEVERAL]
        found += [float(one.max(skipna=False) / one.min(skipna=False)) for one in each]
    return found


def same_best_when_shared(
    named: Mapping[str, tuple[str, ...]], model: str
) -> tuple[str, Scope, Criterion, str]:
    """Return our question whether the named ones are best where a group shares one link.

    named: by what trains.
    """
    criterion = at_least(partial(named_when_shared, named=dict(named)), 1, "share")
    return (
        "same_best_when_shared",
        FORMULA.asked_by_us(),
        criterion.naming(
            *("all trained" if share == "1" else f"{share} trained" for share in named)
        ),
        f"The guideline names the same strategies for {model} where a group shares one link.",
    )


def quoted_ratio(reference: Frame, *, series: str, over: str) -> float:
    """Return a gain in percent as the ratio of speeds that section 4.3's wording makes of it."""
    (row,) = pick(reference, series=series, y_name=f"throughput_gain_over_{over}").to_dict(
        "records"
    )
    return 1.0 + float(row["value"]) / 100.0


def faster(*pairs: tuple[str, str, str]) -> Criterion:
    """Ask that in every (model, strategy, other) the first is the faster one."""
    ratios = partial(speed_ratios, pairs=pairs, where=ONE_RING)
    return more_than(ratios, 1, "times the speed").naming(
        *(f"{model} {one} over {other}" for model, one, other in pairs)
    )
