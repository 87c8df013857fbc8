"""How numbers, thresholds and intervals read, in every page and table alike."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from harness.declare.cohorts import FIRST
from harness.declare.table import counted_seeds
from harness.declare.verdict import Word
from harness.provenance.seals import STATES, State
from harness.publish.check_row import NOT_COMPUTED
from harness.store.meta import TOO_FEW

if TYPE_CHECKING:
    from harness.declare.claims import Claim
    from harness.publish.check_row import CheckRow
    from harness.publish.power import NeededBy
    from harness.publish.report.load import Paper, Sources

PLUS_MINUS = "\u00b1"
MINUS = "\u2212"
DIGITS = 4
"""Significant digits of a number that has no standard error."""


def number(value: float | None) -> str:
    """Return a number with four significant digits, or nothing for None and NaN.

    >>> number(0.123456), number(12130000000), number(-0.0), number(None)
    ('0.1235', '1.213e+10', '0', '')
    """
    if value is None or math.isnan(value):
        return ""
    if math.isinf(value):
        return "no bound"
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.{DIGITS}g}"


_DIFFERS = re.compile(r"(\w+): (.+) then, (.+) now")
_NEGATIVE = re.compile(r"(?<![\w.^=+-])-(?=\.?\d)")
_CODE = re.compile(
    r"(```.*?```|`[^`]*`|<(?:code|pre)>.*?</(?:code|pre)>|\]\([^)]*\)|<[^>]*>)", re.DOTALL
)


def with_minus(text: str) -> str:
    """Return a page with a true minus before its negative numbers, code and addresses as they are.

    >>> with_minus("at -0.5 of CIFAR-10, 1e-05, (-1 to 2), `lr -1`").replace(MINUS, "minus ")
    'at minus 0.5 of CIFAR-10, 1e-05, (minus 1 to 2), `lr -1`'
    """
    parts = _CODE.split(text)
    # What was split at, code and addresses, stands at odd places.
    return "".join(p if n % 2 else _NEGATIVE.sub(MINUS, p) for n, p in enumerate(parts))


def exact(value: float) -> str:
    """Return a number that nothing blurs (a setting, an identity), with eight digits.

    >>> exact(0.08665602), exact(256.0)
    ('0.08665602', '256')
    """
    return f"{value:.8g}"


def fixed(value: float, digits: int) -> str:
    """Return a number with so many digits after the point, unless they would make it zero.

    >>> fixed(12.345, 1), fixed(0.00003, 2), fixed(0.0, 2)
    ('12.3', '3e-05', '0.00')
    """
    text = f"{value:.{digits}f}"
    return text if float(text) or not value else f"{value:.1g}"


def mean_sem(mean: float, sem: float) -> str:
    """Return a mean with its standard error, cut where the error's second digit stands.

    >>> mean_sem(2.34567, 0.0123).replace(PLUS_MINUS, "+-")
    '2.346 +- 0.012'
    >>> mean_sem(2.5, 0.0)
    '2.5'
    """
    if math.isnan(mean):
        return ""
    if not sem > 0:
        return number(mean)
    size = abs(mean) if mean else sem
    if not 1e-4 <= size < 1e6:
        return f"{mean:.3e} {PLUS_MINUS} {sem:.1e}"
    decimals = min(max(0, 1 - math.floor(math.log10(sem))), 8)
    return f"{mean:.{decimals}f} {PLUS_MINUS} {sem:.{decimals}f}"


def interval(row: CheckRow) -> str:
    """Return the 95 % interval of a verdict, or nothing where it has none.

    Both ends are cut where the second digit of half its width stands, or further on where that
    would carry an end over the threshold.
    """
    if row.low is None or row.high is None or row.low == row.high:
        return ""
    decimals = decimals_of(row)
    if decimals < 0:
        return f"{number(row.low)} to {number(row.high)}"
    return f"{row.low:.{decimals}f} to {row.high:.{decimals}f}"


def decimals_of(row: CheckRow) -> int:
    """Return how many decimals an interval's ends need, -1 where they are better written else.

    Rounded, they and what was measured lie on the side of each bound on which they lie.
    """
    low, high = row.low, row.high
    if low is None or high is None or not math.isfinite(high - low) or high <= low:
        return -1
    if not 1e-4 <= max(abs(low), abs(high)) < 1e6:
        return -1
    bounds = row.threshold if isinstance(row.threshold, (list, tuple)) else [row.threshold]
    known = [float(bound) for bound in bounds if bound is not None]
    decimals = min(max(0, 1 - math.floor(math.log10((high - low) / 2))), 8)
    while decimals < 8 and any(
        (end > bound) != (round(end, decimals) > bound) or (round(end, decimals) == bound != end)
        for end in (low, high, *([] if row.measured is None else [row.measured]))
        for bound in known
    ):
        decimals += 1
    return decimals


def threshold(form: str, value: Any, *, tolerance: float = 0.0) -> str:
    """Say in words what a claim's threshold asks of its quantity.

    >>> threshold("at_most", 1.0), threshold("within", [0.7, 1.4]), threshold("ratio", ["-inf", 2])
    ('at most 1', '0.7 to 1.4', 'at most 2')
    """
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        low, high = (float(bound) for bound in value)
        if math.isinf(high):
            return f"at least {number(low)}"
        return f"at most {number(high)}" if math.isinf(low) else f"{number(low)} to {number(high)}"
    bound = float(value)
    match form:
        case "equal":
            return f"equal to {number(bound)}" + (
                f" {PLUS_MINUS} {number(tolerance)}" if tolerance else ""
            )
        case "strict_ordering" | "strict_monotone":
            return "every step strictly up" if bound == 0 else f"{_steps(bound)}, strictly"
        case "ordering" | "monotone":
            return _steps(bound)
        case _:
            return f"{form.replace('_', ' ')} {number(bound)}"


def threshold_source(claim: Claim) -> str:
    """Say where a threshold comes from, with the deviation that tells of one of ours."""
    scope = claim.scope
    return f"ours, {scope.deviation}" if scope.deviation else scope.threshold_from


def _steps(slack: float) -> str:
    if slack == 0:
        return "every step up"
    if slack < 0:
        return f"every step up by {number(-slack)} or more"
    return f"every step up, slack {number(slack)}"


def seeds(row: CheckRow, unit: str = "") -> str:
    """Say how many seeds a verdict rests on, and what each of them is where that is given.

    A check is taken once on the whole table, which may hold random draws.
    """
    if row.num_seeds == 0:
        return "whole table" if row.grade == "exact" else "deterministic"
    return counted_seeds(row.num_seeds, unit)


def paper_cell(claim: Claim, row: CheckRow, *, has_paper: bool) -> str:
    """Return the paper's number for a claim, or why none stands there.

    Its threshold may be the only number published. has_paper: whether there is a paper at all.
    """
    if row.paper_value is not None:
        standing = f" ({row.paper_standing})" if row.paper_standing else ""
        return f"{number(row.paper_value)}{standing}"
    return "as asked" if claim.scope.threshold_from == "paper" else no_number(claim, row, has_paper)


def no_number(claim: Claim, row: CheckRow, has_paper: bool) -> str:
    """Say why no number of the paper stands beside a claim, as far as that is known."""
    from harness.declare.reference import NOT_KNOWN

    if not has_paper:
        return "there is none"
    match claim.scope.paper_number, row.kind:
        case "quoted", _:
            return "in the statement"
        case "unpublished", _:
            return "not published"
        case _, "check":
            return "none, as this checks our code"
        case _, "own":
            return "none, as the question is ours"
        case _:
            return NOT_KNOWN


def percent(share: float) -> str:
    """Return a share in percent, of two digits.

    >>> percent(0.0794), percent(1.0)
    ('7.9 %', '100 %')
    """
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"


def chance_note(row: CheckRow) -> str:
    """Say what chance could have done of a verdict, and how many seeds would decide it.

    Nothing where nothing needs to be said of it.
    """
    if row.verdict == Word.REPRODUCED and row.chance_rate is not None:
        weak = "weak: " if row.weak else ""
        return f"{weak}chance alone gives REPRODUCED in {percent(row.chance_rate)} of relabellings"
    if row.verdict == Word.REPRODUCED and row.chance_reason:
        tells = row.chance_reason.startswith((TOO_FEW, NOT_COMPUTED))
        return row.chance_reason if tells else f"chance cannot be tested ({row.chance_reason})"
    if row.verdict == Word.INCONCLUSIVE and row.seeds_to_decide is not None:
        return f"about {row.seeds_to_decide} seeds would decide it"
    return ""


def verdict_note(row: CheckRow, needed: NeededBy) -> str:
    """Return the reason of a verdict, what chance could have done, and what would decide it."""
    found = needed.get((row.claim, row.cohort))
    decides = found.told if found is not None and found.by != "seeds" else ""
    return "; ".join(filter(None, [row.reason, chance_note(row), decides]))


def differences_text(row: CheckRow) -> list[str]:
    """Return what differs from a seal in words, a line each: rows hold values as data.

    >>> from types import SimpleNamespace
    >>> lines = ["profiles: ['cpu'] then, ['gpu', 'cpu'] now", "low: 0.4 then, None now",
    ...     "threshold: ['-inf', 1.0] then, [0.5, 1.0] now", "form: 'at_most' then, 'within' now"]
    >>> differences_text(SimpleNamespace(differences=lines[:2]))
    ['profiles: cpu then, gpu, cpu now', 'low: 0.4 then, none now']
    >>> differences_text(SimpleNamespace(differences=lines[2:]))
    ['threshold: at most 1.0 then, 0.5 to 1.0 now', 'form: at most then, within now']
    """
    return [
        _DIFFERS.sub(lambda m: f"{m[1]}: {_said(m[2])} then, {_said(m[3])} now", line)
        for line in (each.removeprefix("num_") for each in row.differences)
    ]


def _said(value: str) -> str:
    """Return a sealed value in words; a number, or what is none of Python's, as it is written."""
    match value:
        case "None":
            return "none"
        case "True":
            return "yes"
        case "False":
            return "no"
    if value.startswith("'"):
        return value.strip("'").replace("_", " ")
    if not value.startswith("["):
        return value
    match words := [word.strip(" '").replace("_", " ") for word in value.strip("[]").split(",")]:
        case ["-inf", high]:
            return f"at most {high}"
        case [low, "inf"]:
            return f"at least {low}"
        case [low, high] if "'" not in value:
            return f"{low} to {high}"
        case _:
            return ", ".join(words)


def seal_note(row: CheckRow) -> str:
    """Say how a claim stands to its seal, with both values where they differ."""
    note = {"sealed": "sealed before the run", "none": "no run"}.get(row.seal, "")
    note = note or f"{row.seal}: {STATES[cast(State, row.seal)]}"
    text = "; ".join([note, *differences_text(row)])
    if not row.decides:
        return f"cohort {row.cohort.removeprefix('cohort-')}, which does not decide: {text}"
    return text if row.cohort == FIRST else f"decided by {row.cohort}: {text}"


def origin(sources: Sources) -> str:
    """Say how many trials ran older code, where processors mix, and what was run again.

    >>> from harness.publish.report.load import Sources
    >>> origin(Sources(num_trials=45, num_stale=3, cpus=("one", "two")))
    '3 of 45 trials come from older code; processors mix: one and two'
    >>> origin(Sources(num_trials=1, num_stale=1))
    '1 of 1 trial comes from older code'
    """
    parts = [older_text([sources])]
    if len(sources.cpus) > 1:
        parts.append(f"processors mix: {' and '.join(sources.cpus)}")
    return "; ".join([*parts, *([sources.verified] if sources.verified else [])])


def ended_text(counts: Mapping[str, int], sources: Sources) -> str:
    """Say how the trials behind a table ended, and how many of other cohorts stand beside them.

    >>> from harness.publish.report.load import Sources
    >>> ended_text({"done": 3, "failed": 1, "skipped": 0}, Sources(num_trials=8))
    '3 done, 1 failed, 4 more of other cohorts'
    """
    told = [f"{count} {word}" for word, count in counts.items() if count]
    others = sources.num_trials - sum(counts.values())
    return ", ".join([*told, *([f"{others} more of other cohorts"] if others > 0 else [])])


def older_text(sources: Sequence[Sources]) -> str:
    """Say how many of all their trials ran older code."""
    stale, total = (
        sum(n) for n in zip(*((s.num_stale, s.num_trials) for s in sources), strict=True)
    )
    return f"{stale} of {total} {'trial comes' if total == 1 else 'trials come'} from older code"


def waiting_text(papers: Sequence[Paper]) -> str:
    """Say what waits for a card and which command runs it; nothing where nothing does."""
    waiting = [experiment for paper in papers for experiment in paper.waiting.values()]
    if not waiting:
        return ""
    counts = {"trial": len(waiting), "experiment": len(set(waiting))}
    trials, experiments = (f"{n} {word}{'' if n == 1 else 's'}" for word, n in counts.items())
    return (
        f"Without a result at `gpu`: {trials} of {experiments}; on a machine with a card"
        " `make gpu` runs what is due."
    )


def duration(seconds: float) -> str:
    """Return a duration for people.

    >>> duration(0.42), duration(75), duration(3700)
    ('0.4 s', '1 min 15 s', '1 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes = round(seconds) // 60
    if minutes < 60:
        return f"{minutes} min {round(seconds) % 60} s"
    return f"{minutes // 60} h {minutes % 60} min"


def told_apart(title: str, aside: str) -> str:
    """Return a title that says what sets a table apart from the committed one, if anything."""
    return f"{title} ({aside})".strip() if aside else title


def markdown_cell(text: str) -> str:
    """Return text that cannot break out of a cell of a Markdown table, nor be read as HTML.

    Paired backticks stay: authors mark code with them.
    """
    flat = " ".join(text.split()).replace("<", "&lt;")
    special = r"([\\|*\[\]])" if flat.count("`") % 2 == 0 else r"([\\|*`\[\]])"
    return re.sub(special, r"\\\1", flat)


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table; the caller has escaped its cells."""
    lines = ["| " + " | ".join(header) + " |", "| " + " | ".join("---" for _ in header) + " |"]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines)
