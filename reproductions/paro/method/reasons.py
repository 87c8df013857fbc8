"""Why a plan has its order: sentences whose numbers a reader can work out again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from reproductions.paro.method.cluster import Cluster
from reproductions.paro.method.peers import PYTORCH, SETTINGS, Setting
from reproductions.paro.method.planning import Entry, Plan
from reproductions.paro.method.rings import hop_and_row_s, rate_of
from reproductions.paro.method.schedule import Collective, Term, schedule
from reproductions.paro.method.step_time import bytes_of

TERM_NAMES: dict[Term, str] = {
    "param": "gathering parameters",
    "gradient": "reducing gradients",
    "sync_g": "bringing gradients to the optimizer",
    "sync_p": "gathering new parameters",
}
WHERE = {"world": "over all GPUs", "intra": "within groups", "inter": "between groups"}
CLOSE = 0.05
"""Predictions nearer than this share are not told apart."""
GB = 1e9


def reasons(plan: Plan) -> list[str]:
    """Return why the first is first, a sentence or a line of arithmetic each."""
    if not plan.fitting:
        return [nothing_fits(plan)]
    best = plan.fitting[0]
    return [
        first(plan, best),
        how(plan, best),
        *in_pytorch(plan, best),
        *(f"  {line}" for line in work(plan, best).values()),
        *computation(plan, best),
        *runner_up(plan, best),
        *faster_but_larger(plan, best),
    ]


def nothing_fits(plan: Plan) -> str:
    """Say which candidate comes nearest to fitting."""
    least = min(plan.entries, key=lambda each: each.found.memory.total)
    return (
        f"None of the {len(plan.entries)} fits: the least, {least.name}, holds"
        f" {gb(least.found.memory.total)} per GPU of {gb(plan.memory_bytes)}. Take more GPUs,"
        " train fewer parameters, or reserve less."
    )


def first(plan: Plan, best: Entry) -> str:
    """Say which candidate takes least time, and what a user writes for it."""
    memory, count = best.found.memory, len(plan.fitting)
    held = f"{gb(memory.total)} per GPU ({gb(memory.params + memory.second_params)} parameters,"
    held += f" {gb(memory.grads)} gradients, {gb(memory.states)} optimizer states)"
    whom = f"of the {count} that fit" if count > 1 else "and alone fits"
    return (
        f"{best.name} takes least time {whom}: T = {seconds(best.total)} per optimizer step;"
        f" it holds {held}."
    )


def how(plan: Plan, best: Entry) -> str:
    """Say what a user writes to have a candidate, or who comes nearest to it."""
    exact = best.same
    near = [each for each in SETTINGS if each.nearest == best.name and not each.is_exact]
    if exact:
        return f"{exact[0].system} has it: {exact[0].written_for(plan.cluster)}."
    if near:
        return nearly(plan, near[0])
    after = next((each for each in plan.fitting if each is not best and each.systems), None)
    instead = f"; {after.name} is the next that one has ({after.systems})" if after else ""
    return f"No system that we know of has it{instead}."


def nearly(plan: Plan, near: Setting) -> str:
    """Say what a user writes to come near to a strategy, and in what that differs."""
    return f"{near.system} nearly has it: {near.written_for(plan.cluster)}; it {near.differs}."


def in_pytorch(plan: Plan, best: Entry) -> Iterator[str]:
    """Say how near PyTorch itself comes, where another system alone has it."""
    systems = {each.system for each in best.same}
    near = [each for each in SETTINGS if each.nearest == best.name and each.system in PYTORCH]
    if systems and near and not systems & PYTORCH:
        # Those that keep the letters stand last.
        yield nearly(plan, near[-1])


def work(plan: Plan, entry: Entry) -> dict[Term, str]:
    """Return a line of arithmetic per term that takes time: how often, bytes over bandwidth."""
    setting, lines = entry.setting, {}
    counts: Counter[tuple[Term, Collective]] = Counter()
    for step in schedule(setting.strategy, sync_every_micro_batch=setting.sync_every_micro_batch):
        counts[step.term, step.collective] += (
            plan.workload.accumulation if step.per_micro_batch else 1
        )
    for term, total in totals(plan, entry).items():
        if total:
            shares = [
                (each, count)
                for (whose, each), count in counts.items()
                if whose == term and each.ranks(plan.cluster) > 1
            ]
            told = " + ".join(
                (f"{count} x " if count > 1 else "") + arithmetic(plan, entry, term, each)
                for each, count in shares
            )
            lines[term] = f"{TERM_NAMES[term]}: {told} = {seconds(total)}"
    return lines


def totals(plan: Plan, entry: Entry) -> dict[Term, float]:
    """Return the seconds of each term in a whole optimizer step."""
    s = plan.workload.accumulation
    terms = entry.found.time.terms
    return {term: terms[term] * (s if term in ("param", "gradient") else 1) for term in TERM_NAMES}


def arithmetic(plan: Plan, entry: Entry, term: Term, found: Collective) -> str:
    """Return the bytes of a collective over its bandwidth."""
    cluster, size = plan.cluster, bytes_of(term, entry.setting.trains(plan.workload))
    factors = ["2"] if found.kind == "all_reduce" else []
    if found.scope == "world" and plan.model.world == "scaled":
        factors.append(repr(plan.model.cc_factor))
    if found.scope == "inter" and cluster.sharing > 1:
        factors.append(f"{cluster.sharing} on one link")
    if found.scope == "world" and plan.model.world == "hier":
        factors.append(two_steps(cluster, size))
    else:
        ranks, parts = found.ranks(cluster), found.parts(cluster)
        share = f"{operand(size / GB)} GB" + (f" / {parts}" if parts > 1 else "")
        rate = operand(rate_of(cluster, found.scope) / GB)
        factors += [f"{ranks - 1}/{ranks}", f"{share} / {rate} GB/s"]
    return f"{' x '.join(factors)} {WHERE[found.scope]}"


def two_steps(cluster: Cluster, size: float) -> str:
    """Return PaRO-CC's two steps: hops between groups beside one row within, then other rows."""
    hop, row = (operand(each) for each in hop_and_row_s(cluster, size))
    others = cluster.num_groups - 1
    return f"(max({others} x {hop} s, {row} s) + {others} x {row} s)"


def operand(value: float) -> str:
    """Return a number with four digits, one more than a result has.

    >>> operand(130.5713), operand(14.0), operand(123456.0)
    ('130.6', '14', '123,500')
    """
    text = f"{value:.4g}"
    return f"{float(text):,.0f}" if "e+" in text else text


def computation(plan: Plan, best: Entry) -> Iterator[str]:
    """Say what computation does to T, where any is given."""
    time = best.found.time
    if not plan.compute_s or plan.model.assembly == "comm":
        return
    said = f"Computation takes {seconds(time.compute)}, communication {seconds(time.comm)}"
    if plan.model.assembly == "sum":
        yield f"{said}; nothing overlaps, T is their sum."
        return
    others = [e.name for e in plan.fitting if e is not best and e.found.time.comm <= time.compute]
    if time.comm <= time.compute and others:
        yield (
            f"{said}: all of it hides, as that of {listed(others)} would; of equal times the least"
            " memory comes first."
        )
    else:
        yield f"{said}; they overlap, T is the larger."


def runner_up(plan: Plan, best: Entry) -> Iterator[str]:
    """Say why the next one is not first, by its largest term, and who is as good as the first."""
    others = plan.fitting[1:]
    if not others:
        return
    close = [each.name for each in others if each.total <= (1.0 + CLOSE) * best.total]
    if close and best.total > best.found.time.compute:
        yield (
            f"Within {CLOSE:.0%} of it, which the formula does not tell apart: {listed(close)};"
            f" the first holds {gb(best.found.memory.total)}, the next"
            f" {gb(others[0].found.memory.total)}."
        )
    slower = next((each for each in others if each.name not in close), None)
    if slower is None:
        return
    by_term = totals(plan, slower)
    line = work(plan, slower)[max(by_term, key=lambda term: by_term[term])]
    yield (
        f"The next slower, {slower.name}, takes {seconds(slower.total)}, the largest part for"
        f" {line}."
    )


def faster_but_larger(plan: Plan, best: Entry) -> Iterator[str]:
    """Say which would take less time if they fitted."""
    faster = [e for e in plan.entries if not e.found.fits and e.total < best.total]
    if faster:
        one = faster[0]
        names = [each.name for each in faster[1:]]
        do = "do" if len(names) > 1 else "does"
        beside = f"; {listed(names)} would be faster too and {do} not fit either" if names else ""
        yield (
            f"{one.name} would take {seconds(one.total)}, but holds"
            f" {gb(one.found.memory.total)} where there are {gb(plan.memory_bytes)}{beside}."
        )


def listed(names: list[str]) -> str:
    """Return names as a list in words.

    >>> listed(["III"]), listed(["III", "ING", "NIG"])
    ('III', 'III, ING and NIG')
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def gb(size: float) -> str:
    """Return bytes in GB with three digits.

    >>> gb(14e9), gb(1.17e8), gb(5.2e11)
    ('14 GB', '0.117 GB', '520 GB')
    """
    value = size / GB
    return f"{value:,.0f} GB" if value >= 100 else f"{value:.3g} GB"


def seconds(value: float) -> str:
    """Return seconds with three digits.

    >>> seconds(1.7281), seconds(0.00123), seconds(257.9)
    ('1.73 s', '0.00123 s', '258 s')
    """
    return f"{value:,.0f} s" if value >= 100 else f"{value:.3g} s"
