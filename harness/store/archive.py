"""Records and artifacts in one file, for machines that share no network."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from harness.atomic import write_bytes
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.errors import DataError, UsageError
from harness.registry import experiments_of
from harness.store.out import write_out
from harness.store.record import Record, pack_bytes, parse_record
from harness.store.store import RecordStore, holds
from harness.store.trial import Trial, trials_behind
from harness.store.workspace import Workspace
from harness.untrusted import UnreadableError, in_one_line, read_bytes, read_text, to_text, unzip

MAX_ARTIFACT_BYTES = 16 * 2**20
MAX_ARCHIVE_BYTES = 2**30
"""Of an archive, packed or not."""
MAX_MEMBERS = 100_000
RECORDS = "records.jsonl.gz"


@dataclass(slots=True)
class Summary:
    """What an archive carried."""

    num_records: int = 0
    num_artifacts: int = 0
    left_out: list[str] = field(default_factory=list)


def export_records(
    workspace: Workspace,
    tasks: Sequence[Task],
    profile: Profile,
    file: Path,
    *,
    force: bool = False,
) -> Summary:
    """Write the results behind some tasks to an archive; the same records give the same bytes.

    force: also over a file of another kind, or one that git tracks; else that is a UsageError,
    as is that there is no result to carry.
    """
    if not force and not _may_be_replaced(file):
        raise UsageError(f"{file} is no archive of records: name another file, or add --force")
    store = RecordStore(workspace).with_committed(experiments_of(tasks), profile)
    behind = trials_behind(tasks, profile, workspace.overrides)
    trials = {trial.key: trial for trial in behind}
    found = {key: store.result(trial) for key, trial in trials.items()}
    records = {key: record for key, record in found.items() if record is not None}
    if not records:
        raise UsageError(
            f"no result at {profile} to export: run there first, or name another --profile"
        )
    summary = Summary(num_records=len(records))
    members = {RECORDS: pack_bytes(records.values())}
    for key, record in records.items():
        members.update(_artifacts(store, trials[key], record, summary))
    if sum(map(len, members.values())) > MAX_ARCHIVE_BYTES * 0.9:
        raise UsageError("what these tasks keep is more than an import reads: export some of them")
    write_out(file, _archive(members), force=force)
    return summary


def _may_be_replaced(file: Path) -> bool:
    """Say whether an archive may be written where another file may be: not over another kind."""
    try:
        # Empty, as mktemp leaves it, or no plain file, which is written into.
        if not os.path.isfile(file) or file.stat().st_size == 0:  # noqa: PTH113
            return True
        # Its first member tells: what follows may be large.
        with tarfile.open(file, mode="r|gz") as tar:
            first = tar.next()
    except (OSError, EOFError, tarfile.TarError, zlib.error, ValueError, RecursionError):
        return False
    return first is not None and (first.name == RECORDS or first.name.startswith("artifacts/"))


def _artifacts(
    store: RecordStore, trial: Trial, record: Record, summary: Summary
) -> dict[str, bytes]:
    members = {}
    for entry in record.artifacts:
        path = store.artifact_folder(trial) / entry.name
        try:
            data = read_bytes(path, limit=MAX_ARTIFACT_BYTES)
        except (FileNotFoundError, UnreadableError):
            data = b""
        # One that was altered would make the other side refuse the whole file.
        if hashlib.sha256(data).hexdigest() != entry.sha256:
            summary.left_out.append(f"{trial.name} {entry.name}")
            continue
        members[f"artifacts/{record.experiment}/{record.key}/{entry.name}"] = data
        summary.num_artifacts += 1
    return members


def _archive(members: dict[str, bytes]) -> bytes:
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name, data in sorted(members.items()):
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return gzip.compress(plain.getvalue(), mtime=0)


def import_records(workspace: Workspace, file: Path) -> Summary:
    """Add an archive's records and artifacts to the working copy; a result that is here stays.

    Everything is checked before anything is written. Raises DataError for a file that is missing,
    damaged, or holds what no record lists.
    """
    members = _members(file)
    if RECORDS not in members:
        raise DataError(f"{file} holds no {RECORDS}: it is no archive of records")
    records = _records(members.pop(RECORDS), file)
    known = {
        f"artifacts/{record.experiment}/{record.key}/{entry.name}": entry.sha256
        for record in records
        for entry in record.artifacts
    }
    for name, data in members.items():
        if known.get(name) != hashlib.sha256(data).hexdigest():
            raise DataError(f"{file}: {name} is not what a record of the file says")
    return _write(workspace, records, members)


def _records(packed: bytes, file: Path) -> list[Record]:
    inside = f"{file}: {RECORDS}"
    text = to_text(unzip(packed, where=inside), where=inside)
    return [
        parse_record(line, where=f"{file} line {number} of {RECORDS}")
        for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1)
    ]


def _write(workspace: Workspace, records: Sequence[Record], members: dict[str, bytes]) -> Summary:
    store = RecordStore(workspace)
    summary = Summary()
    for record in records:
        path = workspace.runs / "records" / record.experiment / f"{record.key}.json"
        here = _result_at(path)
        if here is not None and here.artifacts != record.artifacts:
            # Our own result stays, so its artifacts must stay too.
            continue
        for entry in record.artifacts:
            # Artifacts first: a record whose artifact is missing would be run again.
            name = f"artifacts/{record.experiment}/{record.key}/{entry.name}"
            target = workspace.runs / PurePosixPath(name)
            if name in members and not holds(target, members[name]):
                write_bytes(target, members[name])
                summary.num_artifacts += 1
        store.write(record)
        summary.num_records += here is None
    return summary


def _result_at(path: Path) -> Record | None:
    """Return the result in a record file, or None where it holds none that can be used."""
    try:
        record = parse_record(read_text(path), where=str(path))
    except (FileNotFoundError, DataError):
        return None
    return record if record.is_result and record.key == path.stem else None


def _members(file: Path) -> dict[str, bytes]:
    try:
        packed = read_bytes(file, limit=MAX_ARCHIVE_BYTES)
        plain = unzip(packed, where=str(file), limit=MAX_ARCHIVE_BYTES)
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            return {m.name: stream.read() for m in _files(tar) if (stream := tar.extractfile(m))}
    except FileNotFoundError as error:
        raise DataError(f"{file} does not exist") from error
    # What a header holds makes tarfile raise more than its own errors.
    except (tarfile.TarError, OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{file} is damaged or no archive of records ({in_one_line(error)})"
        ) from error


def _files(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    """Yield the files of an archive, each no larger than what really stands in it."""
    number = 0
    # One by one: of a negative size, to list them all would never end.
    while (member := tar.next()) is not None:
        number += 1
        if member.size < 0 or member.issparse() or number > MAX_MEMBERS:
            raise tarfile.TarError(f"{member.name[:80]!r} is sparse, or one of too many")
        if member.isfile():
            yield member
