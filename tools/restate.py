"""The claims that ask the same in another form: writes results/restated.json.

    python -m tools.restate            write the file
    python -m tools.restate --check    derive it again, compare, and write nothing

Derived from the export of what was sealed and from today's declarations: a claim is listed where
its form became strict, which leaves its verdict on the sealed samples as it was.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.declare.claims import Claim
from harness.declare.verdict import WORDS_OF_CHECKS, Word, decide
from harness.errors import SpecError
from harness.provenance.before import Former, load_before
from harness.canonical import layered_json
from harness.provenance.restated import NAME, Asked, Became, Merged, Restated, is_the_strict_form
from harness.provenance.seals import threshold_json
from harness.registry import Library, load_registry

ROOT = Path(__file__).resolve().parents[1]
MERGED = "supar/tab04:settings_as_published"
"""Asks of all settings together what 116 checks asked of one each."""


def main() -> int:
    """Write or compare the list; return an exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare with the committed file")
    path = ROOT / "results" / NAME
    text = text_of(derive(load_registry()))
    if not parser.parse_args().check:
        path.write_text(text, encoding="utf-8")
        return 0
    if path.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{path.name} does not follow from the declarations and the export\n")
    return 1


def text_of(restated: Restated) -> str:
    """Return the list as its file holds it."""
    body = restated.model_dump(mode="json")
    lines = [f'"{name}": [\n{_lines(body[name])}\n]' for name in sorted(body)]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _lines(entries: list[dict[str, object]]) -> str:
    return ",\n".join(layered_json(entry, 0) for entry in entries)


def derive(library: Library) -> Restated:
    """Return the list that today's declarations and the exports give."""
    became = [
        entry
        for task in library.tasks.values()
        for claim in task.claims
        if (entry := became_strict(task.id, claim)) is not None
    ]
    merged = [Merged(claim=MERGED, merges=sorted(gone(library, MERGED.split(":")[0])))]
    return Restated(became=sorted(became, key=lambda entry: entry.claim), merged=merged)


def became_strict(task_id: str, claim: Claim) -> Became | None:
    """Return the entry of a claim whose form became strict, None for any other claim.

    One that gives the sealed samples another verdict asks something else: it reads `changed`.
    """
    former = _former(f"{task_id}:{claim.id}")
    if former is None:
        return None
    criterion = claim.criterion
    now = Asked(
        form=criterion.form,
        threshold=threshold_json(criterion.threshold),
        tolerance=criterion.tolerance,
    )
    was = Asked.of(former.side.seal.band)
    if not is_the_strict_form(was, now):
        return None
    outcome = former.side.outcome
    samples = outcome.samples if outcome is not None else []
    verdict = outcome.verdict if outcome is not None else str(Word.NOT_RUN)
    if samples and _word_of(claim, samples) != _word_now(claim, verdict):
        return None
    return Became(claim=f"{task_id}:{claim.id}", was=was, now=now, verdict=verdict, samples=samples)


def _word_of(claim: Claim, samples: list[list[float | str]]) -> str:
    """Return today's verdict on sealed samples, or nothing where it asks for other numbers."""
    try:
        return decide(claim, [[float(value) for value in sample] for sample in samples]).word
    except SpecError:
        return ""


def _word_now(claim: Claim, verdict: str) -> str:
    word = Word(verdict)
    return WORDS_OF_CHECKS.get(word, word) if claim.scope.grade == "exact" else word


def gone(library: Library, task_id: str) -> Iterator[str]:
    """Yield the names of a task's checks that were sealed and are declared no more."""
    declared = {claim.id for claim in library.tasks[task_id].claims}
    before = load_before(ROOT, task_id.split("/")[0])
    entries = before.tasks[task_id].claims if before is not None else {}
    yield from (f"{task_id}:{name}" for name in entries if name not in declared)


def _former(name: str) -> Former | None:
    before = load_before(ROOT, name.split("/")[0])
    return None if before is None else before.named(name, before.profile)


if __name__ == "__main__":
    sys.exit(main())
