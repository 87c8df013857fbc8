"""Records and artifacts in one file, for machines that share no network."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.atomic import write_bytes
from harness.declare.profiles import Profile
from harness.errors import DataError, UsageError
from harness.store.out import write_out
from harness.store.record import Record, lines_of, pack_bytes, records_in
from harness.store.store import RecordStore, holds
from harness.store.trial import Trial
from harness.store.workspace import Workspace
from harness.untrusted import UnreadableError, in_one_line, read_bytes, unzip

MAX_ARTIFACT_BYTES = 16 * 2**20
MAX_ARCHIVE_BYTES = 2**30
"""Of an archive, packed or not, and of its records."""
MAX_MEMBERS = 100_000
RECORDS = "records.jsonl.gz"


@dataclass(slots=True)
class Summary:
    """What an archive carried."""

    num_records: int = 0
    num_artifacts: int = 0
    left_out: list[str] = field(default_factory=list)
    """Artifacts that an export lacks, or records that an import refused."""


def export_records(
    workspace: Workspace,
    trials: Sequence[Trial],
    profile: Profile,
    file: Path,
    *,
    force: bool = False,
) -> Summary:
    """Write the results of some trials to an archive; the same records give the same bytes.

    force: also over a file of another name than *.tar.gz, or one that git tracks; else that is a
    UsageError, as is that there is no result to carry.
    """
    # os.path: the other raises for a name that is too long.
    if os.path.isfile(file) and not (force or file.name.endswith(".tar.gz")):  # noqa: PTH113
        raise UsageError(f"{file} is there and no .tar.gz: name another file, or add --force")
    experiments = dict.fromkeys(trial.experiment for trial in trials)
    store = RecordStore(workspace).with_committed(experiments, profile)
    summary, records, members = Summary(), list[Record](), dict[str, bytes]()
    for trial in trials:
        if record := store.result(trial):
            records.append(record)
            members |= _artifacts(store, trial, record, summary)
    if not records:
        raise UsageError(
            f"no result at {profile} to export: run there first, or name another --profile"
        )
    summary.num_records, summary.num_artifacts = len(records), len(members)
    lines = lines_of(records).values()
    members[RECORDS] = pack_bytes(lines)
    if max(sum(map(len, each)) for each in (lines, members.values())) > MAX_ARCHIVE_BYTES * 0.9:
        raise UsageError("what these trials keep is more than an import reads: export some of them")
    write_out(file, _archive(members), force=force)
    return summary


def _names(record: Record) -> dict[str, str]:
    """Return by its name in an archive the hash of each artifact of a record."""
    folder = f"artifacts/{record.experiment}/{record.key}"
    return {f"{folder}/{entry.name}": entry.sha256 for entry in record.artifacts}


def _artifacts(
    store: RecordStore, trial: Trial, record: Record, summary: Summary
) -> dict[str, bytes]:
    members = {}
    for name, sha256 in _names(record).items():
        try:
            data = read_bytes(store.workspace.runs / name, limit=MAX_ARTIFACT_BYTES)
        except (FileNotFoundError, UnreadableError):
            data = b""
        # One that was altered would make the other side refuse the whole file.
        if hashlib.sha256(data).hexdigest() == sha256:
            members[name] = data
        else:
            summary.left_out.append(f"{trial.name} {Path(name).name}")
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

    What starts from another result than the one that is here is left out. Everything is checked
    before anything is written. Raises DataError for a file that is missing, damaged, or holds what
    no record lists.
    """
    members = _members(file)
    if RECORDS not in members:
        raise DataError(f"{file} holds no {RECORDS}: it is no archive of records")
    packed, where = members.pop(RECORDS), f"{file}: {RECORDS}"
    records = list(records_in(packed, where=where, limit=MAX_ARCHIVE_BYTES))
    known = {name: sha256 for record in records for name, sha256 in _names(record).items()}
    for name, data in members.items():
        if known.get(name) != hashlib.sha256(data).hexdigest():
            raise DataError(f"{file}: {name} is not what a record of the file says")
    store, summary = RecordStore(workspace), Summary()
    for name, profile in sorted({(record.experiment, record.profile) for record in records}):
        # What is committed is here, too.
        store.unpack(name, profile)
    other = _of_others(store, records)
    for record in records:
        here = _result_here(store, record)
        if here is None and not other.isdisjoint(record.upstream):
            params = " ".join(f"{name}={value}" for name, value in record.params.items())
            summary.left_out.append(f"{record.experiment}[{params}]")
            continue
        if here is not None and here.artifacts != record.artifacts:
            # Our own result stays, so its artifacts must stay too.
            continue
        for name in _names(record):
            # Artifacts first: a record whose artifact is missing would be run again.
            if name in members and not holds(workspace.runs / name, members[name]):
                write_bytes(workspace.runs / name, members[name])
                summary.num_artifacts += 1
        store.write(record)
        summary.num_records += here is None
    return summary


def _result_here(store: RecordStore, record: Record) -> Record | None:
    found = store.find(record.experiment, record.key)
    return found if isinstance(found, Record) and found.is_result else None


def _of_others(store: RecordStore, records: Sequence[Record]) -> set[str]:
    """Return the keys of records that differ from results here, and of what starts from them."""
    found = {
        record.key
        for record in records
        if (here := _result_here(store, record))
        and (here.rows, here.artifacts) != (record.rows, record.artifacts)
    }
    while more := {r.key for r in records if not found.isdisjoint(r.upstream)} - found:
        found |= more
    return found


def _members(file: Path) -> dict[str, bytes]:
    try:
        packed = read_bytes(file, limit=MAX_ARCHIVE_BYTES)
        plain = unzip(packed, where=str(file), limit=MAX_ARCHIVE_BYTES)
        with tarfile.open(fileobj=io.BytesIO(plain), mode="r:") as tar:
            return _files(tar)
    except FileNotFoundError as error:
        raise DataError(f"{file} does not exist") from error
    # What a header holds makes tarfile raise more than its own errors.
    except (tarfile.TarError, OSError, ValueError, RecursionError) as error:
        raise DataError(
            f"{file} is damaged or no archive of records ({in_one_line(error)})"
        ) from error


def _files(tar: tarfile.TarFile) -> dict[str, bytes]:
    """Return the files of an archive, each no larger than what really stands in it."""
    found: dict[str, bytes] = {}
    # One by one: of a negative size, to list them all would never end.
    for _ in range(MAX_MEMBERS):
        if (member := tar.next()) is None:
            return found
        if member.size < 0 or member.issparse():
            raise tarfile.TarError(f"{member.name[:80]!r} is sparse, or of a negative size")
        if member.isfile() and (stream := tar.extractfile(member)):
            found[member.name] = stream.read()
    raise tarfile.TarError(f"it has more than {MAX_MEMBERS} members")
