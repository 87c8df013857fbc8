"""Claims that were sealed once and are no longer declared: none vanishes without a word."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from harness.declare.cohorts import FIRST
from harness.declare.papers import PaperMeta, load_paper
from harness.declare.profiles import Profile
from harness.declare.verdict import Word
from harness.errors import DataError
from harness.provenance.before import load_before
from harness.provenance.restated import load_restated
from harness.provenance.seals import Sealed, seal_name
from harness.publish.check_row import CheckRow
from harness.publish.evidence import names_sealed
from harness.registry import Library
from harness.run.trial import cohorts_of
from harness.store.result import read_meta
from harness.store.workspace import COMMITTED_PROFILES, Workspace

UNSAID = (
    "it was sealed once and is no longer declared: declare it again, or say why not in a"
    " [[withdrawn]] table of paper.toml"
)


def withdrawn_rows(
    workspace: Workspace, library: Library, paper: str, profile: Profile
) -> list[CheckRow]:
    """Return a row per claim of a paper that is gone; without a reason it is an ERROR.

    Known are claims by the paper's export, by the seals in committed records, and by stored
    results. Raises DataError where the export cannot be read.
    """
    if profile not in COMMITTED_PROFILES or workspace.overrides or paper in library.broken:
        # What is broken as a whole declares nothing, and so withdraws nothing.
        return []
    declared = {
        seal_name(task.id, claim.id, cohort)
        for task in library.tasks.values()
        if task.paper == paper
        for claim in task.claims
        for cohort in cohorts_of(task, profile)
    }
    declared |= load_restated(workspace.root).merged_names
    broken = {name for name in library.broken if name.split("/")[0] == paper}
    reasons = _reasons(load_paper(library.papers[paper].folder))
    return [
        _row(name, side, reasons.get(name.partition("@")[0]), profile)
        for name, side in sorted(_sealed_once(workspace, library, paper, profile).items())
        if name not in declared and name.split(":")[0] not in broken
    ]


def _reasons(meta: PaperMeta) -> dict[str, str]:
    return {
        f"{meta.id}/{entry.task}:{entry.claim}": f"withdrawn in {entry.commit[:7]}: {entry.reason}"
        for entry in meta.withdrawn
    }


def _sealed_once(
    workspace: Workspace, library: Library, paper: str, profile: Profile
) -> Mapping[str, Sealed | None]:
    """Return, by name, what each claim was sealed as, None where only its name is known."""
    found: dict[str, Sealed | None] = {}
    for experiment in library.experiments.values():
        if experiment.paper == paper:
            # A damaged pack, or result below, is told where its task is checked.
            with suppress(DataError):
                found |= dict.fromkeys(names_sealed(workspace, experiment, profile))
    before = load_before(workspace.root, paper)
    if before is not None and before.profile == profile:
        for entry in before.experiments.values():
            for group in entry.first_seals:
                found |= dict.fromkeys(group.seals)
    for path in sorted((workspace.results(profile) / paper).glob(f"*.{profile}.json")):
        with suppress(DataError):
            found |= read_meta(path).judged
    if before is not None:
        for task_id, task in before.tasks.items():
            for claim in task.claims:
                side = before.sealed(task_id, claim, profile)
                if side is not None:
                    found[f"{task_id}:{claim}"] = side.side
    return found


def _row(name: str, side: Sealed | None, reason: str | None, profile: Profile) -> CheckRow:
    task, _, rest = name.partition(":")
    claim, _, cohort = rest.partition("@")
    outcome = side.outcome if side is not None else None
    band = side.seal.band if side is not None else None
    verdict = str(Word.NOT_RUN) if outcome is None else outcome.verdict
    return CheckRow(
        task=task,
        claim=claim,
        form=band.form if band is not None else "",
        # Known by its name alone, it counts as the paper's: no check may pass for more.
        grade=band.grade if band is not None else "empirical",
        profile=profile,
        verdict=str(Word.ERROR) if reason is None else verdict,
        reason=UNSAID if reason is None else reason,
        measured=outcome.measured if outcome is not None else None,
        low=outcome.low if outcome is not None else None,
        high=outcome.high if outcome is not None else None,
        num_seeds=outcome.num_seeds if outcome is not None else 0,
        threshold=band.threshold if band is not None else None,
        threshold_from="",
        paper_value=None,
        seal="withdrawn",
        cohort=cohort or FIRST,
        decides=False,
        statement=side.statement if side is not None else "",
    )
