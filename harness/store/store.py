"""The records of a checkout: one file per trial, and the committed file of each experiment.

A record that cannot be used is kept beside its place, never deleted. To read changes no file.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from harness.atomic import alone_in, locked, write_bytes
from harness.declare.experiment import Experiment
from harness.declare.profiles import Profile
from harness.errors import DataError
from harness.store.record import (
    Glimpse,
    Record,
    lines_of,
    pack_bytes,
    parse_record,
    read_glimpses,
    read_pack,
)
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from harness.untrusted import MAX_BYTES, UnreadableError, is_there, read_bytes, read_text

MAX_ARTIFACT_BYTES = 2**36
"""Of a tensor file; an archive carries smaller ones."""
MAX_PACK_BYTES = 20 * 2**20
"""Of a committed file of records."""


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record file that cannot be used, and why."""

    reason: str


class RecordStore:
    """Reads and writes the records of a checkout."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self._committed: dict[str, Record] = {}

    def path(self, trial: Trial) -> Path:
        return self._path(trial.experiment.id, trial.key)

    def _path(self, experiment_id: str, key: str) -> Path:
        return self.workspace.runs / "records" / experiment_id / f"{key}.json"

    def artifact_folder(self, trial: Trial) -> Path:
        return self.workspace.runs / "artifacts" / trial.experiment.id / trial.key

    def pack_path(self, experiment_id: str, profile: str) -> Path:
        paper, name = experiment_id.split("/")
        return self.workspace.root / "results" / paper / "records" / f"{name}.{profile}.jsonl.gz"

    def lock(self, trial: Trial) -> AbstractContextManager[bool]:
        """Hold a trial's lock, or yield False if another process does. Raises as `locked`."""
        return locked(self.workspace.runs / "locks" / f"{trial.key}.lock", wait=False)

    def with_committed(self, experiments: Iterable[Experiment], profile: Profile) -> RecordStore:
        """Return a store that finds committed results too, as they would stand unpacked."""
        other = RecordStore(self.workspace)
        for experiment in experiments:
            packed = self.packed(experiment.id, profile)
            other._committed |= {record.key: record for record in packed}
        return other

    def read(self, trial: Trial) -> Record | Rejected | None:
        """Return a trial's record, why it cannot be used, or None where there is none."""
        found = self.find(trial.experiment.id, trial.key)
        if isinstance(found, Record) and found.is_result:
            return found
        return self._committed.get(trial.key, found)

    def find(self, experiment_id: str, key: str) -> Record | Rejected | None:
        """Return what the file of a key in the working copy holds, as `read` does."""
        path = self._path(experiment_id, key)
        try:
            line = read_text(path)
        except FileNotFoundError:
            return None
        except UnreadableError as error:
            return Rejected(f"its record cannot be read ({error})")
        try:
            record = parse_record(line.encode(), where="its record")
        except DataError as error:
            return Rejected(str(error))
        is_its = record.key == key
        return record if is_its else Rejected("its record is foreign: it holds another trial")

    def result(self, trial: Trial) -> Record | None:
        """Return a trial's record if it is a result."""
        record = self.read(trial)
        return record if isinstance(record, Record) and record.is_result else None

    def write(self, record: Record, *, replace: bool = False, durable: bool = True) -> None:
        """Store a record; a file in its place that cannot be used is set aside first.

        A result that is there stays, unless `replace`; a failure never replaces a result.
        """
        path = self._path(record.experiment, record.key)
        # Two runs may find the same torn record, or write the same one.
        with alone_in(path.parent):
            old = self.find(record.experiment, record.key)
            if isinstance(old, Rejected):
                set_aside(path)
            elif old is not None and old.is_result and not (replace and record.is_result):
                return
            write_bytes(path, (record.to_line() + "\n").encode(), durable=durable)

    def renew(self, trial: Trial, record: Record, *, rerun: bool) -> None:
        """Write what a trial came to now, its artifacts being written.

        An old result gives way in a rerun, or where its artifacts were made anew and differ: they
        would never match it.
        """
        old = self.result(trial)
        damaged = old is not None and bool(self.artifacts_intact(trial, old))
        self.write(record, replace=rerun or damaged)

    def artifacts_intact(self, trial: Trial, record: Record) -> str:
        """Return why a trial's artifacts cannot be used, or an empty string."""
        folder = self.artifact_folder(trial)
        for entry in record.artifacts:
            path = folder / entry.name
            try:
                data = read_bytes(path, limit=MAX_ARTIFACT_BYTES)
            except FileNotFoundError:
                return f"its artifact {entry.name} is missing"
            except UnreadableError as error:
                return f"its artifact cannot be used ({error})"
            if hashlib.sha256(data).hexdigest() != entry.sha256:
                return f"its artifact {entry.name} was altered"
        return ""

    def packed(self, experiment_id: str, profile: str) -> Iterator[Record]:
        """Yield the committed records of an experiment at a profile; of a large one, file by file.

        Raises DataError with file and line.
        """
        for path in self._packs(experiment_id, profile):
            yield from read_pack(path)

    def glimpses(self, experiment_id: str, profile: str) -> Iterator[Glimpse]:
        """Yield how the trials of committed records ended. Raises as `packed`."""
        for path in self._packs(experiment_id, profile):
            yield from read_glimpses(path)

    def keys(self, experiment_id: str) -> set[str]:
        """Return the keys that have a file in the working copy, usable or not."""
        folder = self.workspace.runs / "records" / experiment_id
        try:
            names = os.listdir(folder)  # noqa: PTH208 - ten times as fast
        except FileNotFoundError:
            return set()
        except OSError as error:
            raise UnreadableError(f"{folder} cannot be read ({error.strerror})") from error
        return {name.removesuffix(".json") for name in names}

    def _packs(self, experiment_id: str, profile: str) -> list[Path]:
        path = self.pack_path(experiment_id, profile)
        parts = path.parent.glob(path.name.replace(".jsonl", ".*-of-*.jsonl"))
        return [each for each in (path, *sorted(parts)) if is_there(each)]

    def pack(self, experiment_id: str, profile: str, trials: Iterable[Trial]) -> None:
        """Write the committed file of a profile: its results. Nothing where there is none."""
        records = [record for trial in trials if (record := self.result(trial))]
        if records:
            self.pack_records(experiment_id, profile, records)

    def pack_records(self, experiment_id: str, profile: str, records: Sequence[Record]) -> None:
        """Write records to the committed file of a profile, sorted by key.

        What would be larger than git hosts like, or than we read, is cut into several files, by
        key, so that one more record changes one of them. The same records give the same bytes.
        """
        before, lines = self._packs(experiment_id, profile), lines_of(records)
        path = self.pack_path(experiment_id, profile)
        packs = {path: pack_bytes(lines.values())}
        num_plain = sum(map(len, lines.values()))
        if len(packs[path]) > MAX_PACK_BYTES or num_plain > MAX_BYTES:
            # Of a quarter less, for parts are not all alike.
            count = ceil(max(len(packs[path]) / MAX_PACK_BYTES, num_plain / MAX_BYTES) / 0.75)
            parts: list[list[bytes]] = [[] for _ in range(count)]
            for key, line in lines.items():
                parts[int(key[:8], 16) % count].append(line)
            packs = {
                path.with_name(
                    path.name.replace(".jsonl", f".{number}-of-{count}.jsonl")
                ): pack_bytes(part)
                for number, part in enumerate(parts, start=1)
                if part
            }
        for each, content in packs.items():
            if not holds(each, content):
                write_bytes(each, content)
        for old in set(before) - set(packs):
            old.unlink()

    def unpack(self, experiment_id: str, profile: str) -> None:
        """Fill the working copy from the committed file, where there is one.

        A committed result takes the place of a record that is torn, that failed, or that another
        profile made of the same trial: a run with nothing to do changes nothing that is committed.
        """
        for record in self.packed(experiment_id, profile):
            if not holds(self._path(experiment_id, record.key), f"{record.to_line()}\n".encode()):
                old = self.find(experiment_id, record.key)
                is_ours = isinstance(old, Record) and old.profile == profile
                # One that a power cut tears is found out, and comes out of the pack again.
                self.write(record, replace=not is_ours, durable=False)


def holds(path: Path, data: bytes) -> bool:
    """Say whether a file is there, can be read, and holds just these bytes."""
    try:
        return read_bytes(path, limit=len(data)) == data
    except (FileNotFoundError, UnreadableError):
        return False


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, so that it is out of the way and not lost.

    To be called where no other process does the same: see `alone_in`.
    """
    number = 1
    while (target := path.with_name(f"{path.name}.rejected-{number}")).exists():
        number += 1
    return path.rename(target)
