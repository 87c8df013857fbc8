"""How verdicts are counted, in the words that every page and command shares."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from harness.declare.verdict import Word
from harness.publish.check_row import NOT_COMPUTED, CheckRow, Kind
from harness.store.meta import TOO_FEW

DECIDED = (Word.REPRODUCED, Word.NOT_REPRODUCED)
WORST_FIRST = (Word.ERROR, Word.FAILS, Word.NOT_REPRODUCED, Word.INCONCLUSIVE, Word.REPRODUCED)
"""Verdicts in the order in which a page shows them; all others follow."""
NO_RELABELLING = "that no relabelling can test"
"""Of claims whose labels cannot change places, and of those for which that says nothing."""
SEALS = ("restated", "changed", "late", "renewed")
"""Seals that are not as they were when the trials ran, the mildest first."""
IN_WORDS = {
    Word.HOLDS: "hold",
    Word.FAILS: "FAIL",
    Word.REPRODUCED: "reproduced",
    Word.NOT_REPRODUCED: "not",
    Word.INCONCLUSIVE: "undecided",
    Word.OUT_OF_PROFILE: "out of scale",
    Word.NOT_RUN: "not run",
    Word.ERROR: "ERROR",
}
ANSWERS = IN_WORDS | {Word.REPRODUCED: "yes", Word.NOT_REPRODUCED: "no"}


def verdict_counts(rows: Iterable[CheckRow], kind: Kind) -> dict[Word, int]:
    """Count the verdicts that decide, of one kind, in the order of `Word`."""
    counts = Counter(row.verdict for row in rows if row.decides and row.kind == kind)
    return {word: counts[word] for word in Word if counts[word]}


def reproduced(rows: Iterable[CheckRow]) -> list[CheckRow]:
    """Return the paper's claims that are reproduced, where their verdict decides."""
    return [r for r in rows if r.verdict == Word.REPRODUCED and r.decides and r.kind == "claim"]


def rank(word: str) -> int:
    """Return a verdict's place on a page: what went worst stands first."""
    known = [str(each) for each in WORST_FIRST]
    return known.index(word) if word in known else len(known)


def worst_first(counts: Mapping[Word, int]) -> list[tuple[Word, int]]:
    """Return counts of verdicts in the order in which a page shows them."""
    return sorted(counts.items(), key=lambda pair: rank(pair[0]))


def counted_in_words(rows: Sequence[CheckRow], *, chance: bool = True) -> str:
    """Count checks, claims of the paper, halves of them and questions of our own, each apart.

    Nothing where no verdict decides; at smoke the checks alone. chance: whether to say of how
    many reproduced claims it was excluded.
    """
    checks, claims = checks_in_words(rows), claims_in_words(rows, chance=chance)
    if checks and _has_checks_alone(rows):
        return checks
    apart = list(filter(None, [halves_in_words(rows), own_in_words(rows)]))
    if not (checks or claims or apart):
        return ""
    return _with_and([f"{checks or 'no checks'}; claims: {claims or 'none'}", *apart])


def counted_briefly(rows: Sequence[CheckRow]) -> str:
    """Count as `counted_in_words` does, less what there is none of, and without chance."""
    checks, claims = checks_in_words(rows), claims_in_words(rows, chance=False)
    told = "; ".join(filter(None, [checks, f"claims: {claims}" if claims else ""]))
    parts = [*filter(None, [told, halves_in_words(rows), own_in_words(rows)])]
    return checks if _has_checks_alone(rows) or not parts else _with_and(parts)


def _with_and(parts: Sequence[str]) -> str:
    *told, last = parts
    return "; and ".join(filter(None, ["; ".join(told), last]))


def _has_checks_alone(rows: Iterable[CheckRow]) -> bool:
    """Whether nothing but checks says anything: at smoke claims are out of scale."""
    return all(
        row.profile == "smoke" and (row.kind == "check" or row.verdict not in DECIDED)
        for row in rows
    )


def checks_in_words(rows: Iterable[CheckRow]) -> str:
    """Count the checks: `57 of 58 checks hold, 1 FAIL`; nothing where there are none.

    Those alone that this scale can decide; how many it never can is told behind them.
    """
    counts = verdict_counts(rows, "check")
    out = counts.pop(Word.OUT_OF_PROFILE, 0)
    total = sum(counts.values())
    if not total:
        return f"{out} check{'' if out == 1 else 's'}, out of scale here" if out else ""
    noun = "check holds" if total == 1 else "checks hold"
    told = [f"{counts.pop(Word.HOLDS, 0)} of {total} {noun}"]
    told += [f"{count} {IN_WORDS[word]}" for word, count in counts.items()]
    told += [f"{out} more {IN_WORDS[Word.OUT_OF_PROFILE]}"] if out else []
    return ", ".join(told)


def claims_in_words(rows: Sequence[CheckRow], *, chance: bool = True) -> str:
    """Count the claims: `3 reproduced, 0 not, 2 undecided`; nothing where there are none.

    chance: whether to say, behind what was reproduced, of how much chance was excluded.
    """
    excluded = chance_text(rows) if chance else ""
    apart = {Word.REPRODUCED: f" ({excluded})" if excluded else ""}
    counts = _paired(verdict_counts(rows, "claim"))
    return ", ".join(f"{n} {IN_WORDS[word]}{apart.get(word, '')}" for word, n in counts.items())


def halves_in_words(rows: Iterable[CheckRow]) -> str:
    """Count halves of claims, which decide nothing by themselves; nothing without any."""
    total = sum(verdict_counts(rows, "half").values())
    if not total:
        return ""
    halves = "1 half of an either-or claim, judged within its whole"
    return (
        halves if total == 1 else f"{total} halves of either-or claims, judged within their wholes"
    )


def own_in_words(rows: Iterable[CheckRow]) -> str:
    """Count our own questions: `2 questions of our own: 1 yes, 1 no`; nothing without any."""
    counts = _paired(verdict_counts(rows, "own"))
    total = sum(counts.values())
    told = ", ".join(f"{n} {ANSWERS[word]}" for word, n in counts.items())
    return f"{total} question{'' if total == 1 else 's'} of our own: {told}" if total else ""


def _paired(counts: Mapping[Word, int]) -> dict[Word, int]:
    """Return counts in which the one answer is read beside the other: "not" alone says nothing."""
    answered = any(counts.get(word) for word in DECIDED)
    return {**(dict.fromkeys(DECIDED, 0) if answered else {}), **counts}


def chance_text(rows: Iterable[CheckRow]) -> str:
    """Say of how many reproduced claims chance was excluded, and of how many not.

    >>> row = dict(task="a/b", claim="c", form="", grade="empirical", profile="cpu", reason="",
    ...     measured=1.0, low=1.0, high=1.0, num_seeds=3, threshold=0.0, threshold_from="ours",
    ...     paper_value=None, seal="late", verdict="REPRODUCED")
    >>> chance_text([CheckRow(**row, chance_rate=0.0321, weak=False), CheckRow(**row)])
    '1 where chance alone gives that in at most 3.3 %; 1 that no relabelling can test'
    """
    kept = reproduced(rows)
    weak = [row.chance_rate for row in kept if row.chance_rate is not None and row.weak]
    firm = [row.chance_rate for row in kept if row.chance_rate is not None and not row.weak]
    too_few = sum(row.chance_reason == TOO_FEW for row in kept)
    unknown = sum(row.chance_reason.startswith(NOT_COMPUTED) for row in kept)
    other = len(kept) - len(weak) - len(firm) - too_few - unknown
    told = [f"{len(firm)} where chance alone gives that in {_at_most(firm)}"] if firm else []
    told += [f"{len(weak)} weak, where it does in {_at_most(weak)}"] if weak else []
    told += [f"{too_few} with too few seeds to say"] if too_few else []
    told += [f"{other} {NO_RELABELLING}"] if other else []
    told += [f"{unknown} whose chance rate is not computed"] if unknown else []
    built = sum(bool(row.by_construction) for row in kept)
    told += [f"{built} of the {len(kept)} by construction"] if built else []
    return "; ".join(told)


def reproduced_text(rows: Sequence[CheckRow]) -> str:
    """Say of all that is reproduced how much is not chance; nothing where nothing is."""
    total = verdict_counts(rows, "claim").get(Word.REPRODUCED, 0)
    return f"the {total} reproduced: {chance_text(rows)}" if total else ""


def _at_most(rates: Sequence[float]) -> str:
    """Return the largest rate, rounded up to a tenth of a percent."""
    tenths = math.ceil(round(1000 * max(rates), 6))
    return f"at most {tenths / 10:g} %" if tenths else "no relabelling"


def seals_text(rows: Iterable[CheckRow]) -> str:
    """Say on what seals the decided claims of papers rest; nothing where none is decided."""
    decided = [r for r in rows if r.decides and r.verdict in DECIDED and r.kind == "claim"]
    counts = Counter(row.seal for row in decided)
    if not decided:
        return ""
    told = [f"{counts[state]} {state}" for state in SEALS if counts[state]]
    standing = ", ".join([f"{counts['sealed']} sealed", *told])
    return f"seals of {len(decided)} decided: {standing}"
