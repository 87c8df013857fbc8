"""What the site's first page shows of a paper: a card with its verdicts, and its figures small."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from harness.publish.check_row import CheckRow
from harness.publish.counts import (
    DECIDED,
    IN_WORDS,
    checks_in_words,
    halves_in_words,
    own_in_words,
    reproduced_text,
    seals_text,
    verdict_counts,
    worst_first,
)
from harness.publish.report.headlines import DECIDED as IN_FULL
from harness.publish.report.load import Entry, Paper, Run, Sources
from harness.publish.report.text import older_text, origin

NUM_THUMBNAILS = 3


def card(paper: Paper, headlines: Sequence[str] = (), *, page: str = "") -> dict[str, Any]:
    """Return a paper's card: headlines, per profile what was found, and some of its figures.

    headlines: what was found, in sentences; they stand first on the card. page: a link to the
    paper's page, where there is one.
    """
    return {
        "meta": paper.meta,
        "problem": paper.problem,
        "headlines": list(headlines),
        "page": page,
        "profiles": [
            _profile(profile, paper.rows(profile), sources)
            for profile, sources in paper.sources.items()
            if sources.num_trials and profile != "smoke"
        ],
        "thumbnails": _thumbnails(paper),
    }


def _profile(profile: str, rows: Sequence[CheckRow], sources: Sources) -> dict[str, Any]:
    """Return a profile's verdicts on the paper's claims, and in words what stands beside them."""
    counts = worst_first(verdict_counts(rows, "claim"))
    counted = [checks_in_words(rows), halves_in_words(rows), own_in_words(rows)]
    beside = [*counted, older_text([sources])]
    return {
        "profile": profile,
        "claims": [(word, count, IN_FULL.get(word, IN_WORDS[word])) for word, count in counts],
        "beside": list(filter(None, beside)),
        "rests_on": list(filter(None, [reproduced_text(rows), seals_text(rows), origin(sources)])),
    }


def _thumbnails(paper: Paper) -> list[dict[str, str]]:
    """Return the figures that decide most claims, in the order of the paper."""
    drawn = {entry.id: (entry, run) for entry in paper.entries for run in _drawn(entry)}
    most = sorted(drawn, key=lambda name: -_num_decided(drawn[name][1]))[:NUM_THUMBNAILS]
    return [
        {
            "page": entry.page,
            "image": f"figures/{entry.id}.{run.profile}.svg",
            "alt": entry.task.alt if entry.task else "",
            "word": entry.item.id,
        }
        for name, (entry, run) in drawn.items()
        if name in most
    ]


def _drawn(entry: Entry) -> list[Run]:
    """Return the best run that has a figure, if it is more than a test that everything works."""
    return [run for run in entry.runs if run.figure is not None and run.profile != "smoke"][:1]


def _num_decided(run: Run) -> int:
    counts = verdict_counts(run.rows, "claim")
    return sum(counts.get(word, 0) for word in DECIDED)
