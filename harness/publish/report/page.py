"""The page of a paper: everything that its HTML, Markdown and text show, read once from disk."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.declare.papers import Deviation, Item, PaperMeta
from harness.declare.profiles import Profile
from harness.declare.statistics import MIN_SEEDS
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    CLAIMS,
    MARKS,
    by_luck,
    counted,
    if_thresholds_moved,
    missed_in_words,
    registered_in_words,
    verdict_counts,
)
from harness.publish.report.claim_line import ClaimLine
from harness.publish.report.printed import Printed
from harness.publish.stand_ins import ran_on_sentence
from harness.store.result import ResultMeta, TaskResult

BEST_FIRST: tuple[Profile, ...] = ("paper", "gpu", "cpu", "smoke")
"""The order in which the profiles of one task are shown."""
SCALES: dict[Profile, str] = {
    "cpu": "small (cpu)", "gpu": "one GPU (gpu)", "paper": "the paper's setting (paper)"
}  # fmt: skip
"""What a reader calls a profile."""
OF_PAPER = re.compile(r"(tab|fig)0*(\d+|[a-z]\d+)")
"""Ids of tables and figures that the paper numbers: `fig06`, `tabg1`."""
PLACEHOLDER = re.compile(r"\{(-?)(\w+:\w+)\}")
NOT_MEASURED = "(not measured)"


@dataclass(frozen=True, kw_only=True, eq=False)
class Run:
    """A task in one profile, as stored."""

    task: Task
    profile: Profile
    rows: tuple[CheckRow, ...]
    deviations: tuple[Deviation, ...] = ()
    result: TaskResult | None = None
    printed: Printed | None = None
    """The table as the paper prints it; None where there is no table or no layout."""
    figure: bytes | None = None
    """The figure as SVG, where one was drawn."""
    problem: str = ""
    """Why the stored result cannot be used."""

    @property
    def stem(self) -> str:
        """What the names of its files begin with, below `results/` and `figures/`."""
        return f"{self.task.id}.{self.profile}"

    @property
    def meta(self) -> ResultMeta | None:
        return self.result.meta if self.result else None

    @property
    def ran_on(self) -> str:
        """Say once what stood in for what the paper names; nothing where nothing did."""
        return ran_on_sentence(self.meta.stands_in) if self.meta else ""

    @property
    def gaps(self) -> list[str]:
        """The trials without a result, those of one reason together."""
        by_reason: dict[str, list[str]] = {}
        for gap in self.meta.not_run if self.meta else []:
            by_reason.setdefault(gap.reason, []).append(gap.trial)
        return [
            f"{trials[0]}{f' and {len(trials) - 1} more' if len(trials) > 1 else ''}: {reason}"
            for reason, trials in by_reason.items()
        ]

    @property
    def cards(self) -> list[str]:
        """The GPUs of the machines that it ran on."""
        machines = self.meta.provenance.machines if self.meta else []
        return sorted({card["name"] for each in machines for card in each.get("gpus", ())})

    @property
    def commands(self) -> list[str]:
        """What makes its result, its figure and its table again."""
        at = f"{self.task.id} --profile {self.profile}"
        drawn = [f"repro plot {at} --format pdf"] if self.task.figure is not None else []
        return [f"repro run {at}", *drawn, f"repro table {at} --format latex"]


def is_tested(row: CheckRow) -> bool:
    """Return whether a verdict rests on numbers, of as many seeds as a verdict needs."""
    return row.verdict != Word.UNTESTED and not 0 < row.num_seeds < MIN_SEEDS


@dataclass(frozen=True, kw_only=True, eq=False)
class Section:
    """One table or figure of a paper, with its task and runs where there are any."""

    paper: str
    item: Item
    task: Task | None = None
    runs: tuple[Run, ...] = ()
    """Stored profiles, best first."""
    paper_alone: Printed | None = None
    """The paper's values, where no committed profile is stored; None where there are none."""
    source: str = ""
    """The file that declares it, from the top of the checkout; empty where it is not in there."""
    not_run: tuple[CheckRow, ...] = ()
    """The claims' verdicts at `cpu` where no profile is stored."""
    waits: str = ""
    """What it waits for, and what runs it then."""

    @property
    def id(self) -> str:
        return f"{self.paper}/{self.item.id}"

    @property
    def is_pilot(self) -> bool:
        """Whether it shows what settings were chosen on."""
        return self.item.id.startswith("pilot")

    @property
    def heading(self) -> str:
        """Its title, behind the number that the paper gives it."""
        match = OF_PAPER.fullmatch(self.item.id)
        if match is None:
            return self.item.title
        kind = {"tab": "Table", "fig": "Figure"}[match[1]]
        return f"{kind} {match[2].upper()}: {self.item.title}"

    @property
    def rows(self) -> tuple[CheckRow, ...]:
        """Each claim's verdict at the largest scale that tested it, or that it was not run.

        An unfinished run at a larger scale hides no verdict.
        """
        if not self.runs:
            return self.not_run
        known = [row for run in self.runs for row in run.rows if is_tested(row)]
        best = {row.claim: row for row in reversed(known)}
        return tuple(best.get(row.claim, row) for row in self.runs[0].rows)

    def heading_of(self, run: Run) -> str:
        """Return the scale of a run, with its cards; nothing where it was run at `cpu` alone."""
        if run.profile not in SCALES or all(each.profile in ("cpu", "smoke") for each in self.runs):
            return ""
        cards = run.cards if run.profile != "cpu" else []
        told = ": ".join(filter(None, [SCALES[run.profile], ", ".join(cards)]))
        return f"{told[:1].upper()}{told[1:]}"

    @property
    def state(self) -> str:
        """Say in one line why there is nothing to show, or nothing if there is."""
        if self.item.reason:
            return self.item.reason
        if self.task is None:
            return f"broken: {self.item.file}, see repro doctor"
        return "" if self.runs else ": ".join(filter(None, ["not run", self.waits]))


@dataclass(frozen=True, kw_only=True, eq=False)
class PaperPage:
    """A paper with every table and figure it has."""

    meta: PaperMeta
    sections: tuple[Section, ...]
    codes: Mapping[str, str] = field(default_factory=dict)
    """Per experiment the digest of its code today."""
    deviations: tuple[Deviation, ...] = ()
    """All that it declares, also those of what was not run."""
    readme: str = ""
    """The README beside its code, from the top of the checkout; empty where it is not in there."""
    method: str = ""
    """The page on how to use its method alone, from there too; empty where there is none."""
    verified: str = ""
    """What came of trials that were run again, in a sentence."""

    @property
    def name(self) -> str:
        """What it is known as."""
        return self.meta.known_as or self.meta.title

    @property
    def pilots(self) -> list[Section]:
        """The items that show what settings were chosen on."""
        return [section for section in self.sections if section.is_pilot]

    @property
    def profiles(self) -> list[Profile]:
        """The profiles in which anything of it is stored, best first."""
        stored = {run.profile for section in self.sections for run in section.runs}
        return [profile for profile in BEST_FIRST if profile in stored]

    def rows(self, profile: Profile) -> list[CheckRow]:
        """Return the verdicts at a profile, with those of the items that were not run there."""
        found = [run.rows for s in self.sections for run in s.runs if run.profile == profile]
        found += [s.not_run for s in self.sections]
        return [row for rows in found for row in rows if row.profile == profile]

    def counts(self, profile: Profile) -> list[tuple[str, int]]:
        """Return how many of the paper's claims came to each verdict."""
        counts = verdict_counts(self.rows(profile), "claim")
        return [(word.lower(), counts.get(word, 0)) for word in CLAIMS]

    @property
    def headline(self) -> list[tuple[Section, ClaimLine]]:
        """The claims that stand first, as paper.toml names them, each at its best scale."""
        return [at for each in self.meta.headline if (at := self._claim(each))]

    def _claim(self, name: str) -> tuple[Section, ClaimLine] | None:
        """Return a claim by its name, `item:claim`; None for one that is not there."""
        item, _, claim = name.partition(":")
        for section in self.sections:
            for row in section.rows if section.item.id == item else ():
                if row.claim == claim:
                    return section, ClaimLine(row)
        return None

    @property
    def found(self) -> str:
        """What came out, with our numbers in it."""

        def number(match: re.Match[str]) -> str:
            at = self._claim(match[2])
            ours = at[1].measured if at else ""
            # A number that fell short reads better as "27 points worse".
            turned = ours.removeprefix("-") if ours.startswith("-") else f"-{ours}"
            return (turned if match[1] else ours) if ours else NOT_MEASURED

        return PLACEHOLDER.sub(number, self.meta.found.strip())

    @property
    def in_short(self) -> str:
        """Its first paragraph, which stands alone where papers are listed."""
        return self.found.partition("\n\n")[0]

    @property
    def scales(self) -> list[tuple[Section, CheckRow, list[str]]]:
        """The paper's claims, each with its mark at every scale."""
        lines = []
        for section in self.sections:
            rows = [*section.not_run, *(row for run in section.runs for row in run.rows)]
            at = {(row.claim, row.profile): row for row in rows}
            for row in section.rows:
                known = [at.get((row.claim, profile)) for profile in SCALES]
                marks = [MARKS[Word(each.verdict)] if each else "" for each in known]
                if row.kind == "claim":
                    lines.append((section, row, marks))
        return lines

    @property
    def summary(self) -> list[str]:
        """How surely it was found: counts, luck, thresholds, where trials come from."""
        lines = []
        for profile in self.profiles:
            rows = self.rows(profile)
            told = [missed_in_words(rows), by_luck(rows), if_thresholds_moved(rows)]
            told += [registered_in_words(rows), self._earlier_code(profile)]
            lines.append(f"At `{profile}`: {counted(rows)}. {' '.join(filter(None, told))}".strip())
        return [*lines, *([self.verified] if self.verified else [])]

    def _earlier_code(self, profile: Profile) -> str:
        """Say how many of its trials earlier code made; nothing where none."""
        told: dict[str, Counter[str]] = {}
        for meta in (run.meta for s in self.sections for run in s.runs if run.profile == profile):
            for name, counts in meta.provenance.code.items() if meta else ():
                told[name] = Counter(counts)
        total = sum(sum(counts.values()) for counts in told.values())
        old = total - sum(counts[self.codes.get(name, "")] for name, counts in told.items())
        return f"{old} of {total} trials were made by earlier code." if old else ""

    def only(self, profiles: Sequence[Profile]) -> PaperPage:
        """Return what it is without the runs of other profiles."""

        def kept(section: Section) -> Section:
            runs = tuple(run for run in section.runs if run.profile in profiles)
            return section if runs == section.runs else replace(section, runs=runs)

        return replace(self, sections=tuple(map(kept, self.sections)))


def folded_head(folded: Sequence[ClaimLine]) -> str:
    """Return what stands for checks that are folded away."""
    plural = "" if len(folded) == 1 else "s"
    return counted([line.row for line in folded]) or f"{len(folded)} check{plural}, untested"
