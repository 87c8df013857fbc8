"""One JSON record per trial: the stored outcome, and the files that carry many of them.

A record is done when it is present, valid, and its digest and key match; the name of a file
proves nothing. A rejected record is kept beside its place, never deleted.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import math
import re
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from pydantic import BaseModel, ConfigDict, ValidationError

from harness.atomic import write_bytes
from harness.canonical import canonical_json, digest
from harness.errors import DataError, RunError, SpecError
from harness.task import Row, Scalar, Status, check_id
from harness.trial import Trial
from harness.workspace import Workspace

SCHEMA_VERSION = 1
LEFTOVER_S = 600.0


class Strict(BaseModel):
    """Base of what is read from a file: unknown keys are errors, values are not coerced."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class ArtifactEntry(Strict):
    """A tensor file of a trial."""

    name: str
    sha256: str
    num_bytes: int


class Provenance(Strict):
    """Where a record came from."""

    commit: str
    dirty: bool
    started_at: str
    wall_s: float
    code: str
    machine: dict[str, Any]
    versions: dict[str, str]
    data: dict[str, dict[str, str]]
    overrides: dict[str, bool | int | float | str]


class Record(Strict):
    """The stored outcome of one trial."""

    schema_version: int = SCHEMA_VERSION
    key: str
    experiment: str
    version: int
    profile: str
    device: str
    params: dict[str, bool | int | float | str]
    upstream: list[str]
    status: str
    note: str = ""
    error: str = ""
    rows: list[dict[str, bool | int | float | str | None]]
    artifacts: list[ArtifactEntry] = []
    seals: dict[str, dict[str, Any]]
    control: dict[str, float] = {}
    provenance: Provenance

    @property
    def is_result(self) -> bool:
        return Status(self.status).is_result

    def to_line(self) -> str:
        """Return the record as one line of JSON with its own digest."""
        body = self.model_dump(mode="json")
        return canonical_json({"digest": digest(body), "record": body})


SHARED_FACTS = ("commit", "dirty", "code", "machine", "versions", "overrides")
"""Provenance that a run takes once for all its records."""


def make_record(
    trial: Trial,
    facts: Mapping[str, Any],
    *,
    status: Status,
    started_at: str,
    wall_s: float = 0.0,
    note: str = "",
    error: str = "",
    rows: Sequence[Row] = (),
    artifacts: Sequence[ArtifactEntry] = (),
    control: Mapping[str, float] | None = None,
    data: Mapping[str, dict[str, str]] | None = None,
) -> Record:
    """Return a trial's record; `facts` is what all records of one run and experiment share."""
    shared = {name: facts[name] for name in SHARED_FACTS}
    return Record(
        key=trial.key,
        experiment=trial.experiment.id,
        version=trial.experiment.version,
        profile=trial.profile,
        device=trial.needs.device,
        params=dict(trial.params),
        upstream=[source.key for source in trial.upstream],
        status=status,
        note=note,
        error=error,
        rows=[dict(row) for row in rows],
        artifacts=list(artifacts),
        seals=facts["seals"],
        control=dict(control or {}),
        provenance=Provenance(
            started_at=started_at, wall_s=round(wall_s, 4), data=dict(data or {}), **shared
        ),
    )


@dataclass(frozen=True, slots=True)
class Rejected:
    """A record file that cannot be used, and why."""

    path: Path
    reason: str


def parse_record(line: str, *, where: str) -> Record:
    """Read a record from its line. Raises DataError if it is torn, edited or foreign."""
    try:
        outer = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise DataError(f"{where} is torn: it is not complete JSON") from error
    if not isinstance(outer, dict) or set(outer) != {"digest", "record"}:
        raise DataError(f"{where} is foreign: it is no record of this harness")
    body = upgrade(outer["record"], where=where)
    try:
        record = Record.model_validate(body)
        Status(record.status)
    except (ValidationError, ValueError) as error:
        first = str(error).splitlines()[0]
        raise DataError(f"{where} is foreign: {first}") from error
    try:
        found = digest(outer["record"])
    except SpecError as error:  # a NaN, which no record of ours can hold
        raise DataError(f"{where} was edited: {error}") from error
    if found != outer["digest"]:
        raise DataError(f"{where} was edited: its content does not match its digest")
    return record


def check_names(record: Record, *, where: str) -> None:
    """Raise DataError where a record from elsewhere names a file outside its own folders."""
    try:
        check_id(record.experiment)
    except SpecError as error:
        raise DataError(f"{where} is foreign: {error}") from error
    if not re.fullmatch(r"[0-9a-f]{64}", record.key):
        raise DataError(f"{where} is foreign: its key {record.key[:80]!r} is no SHA-256")
    for entry in record.artifacts:
        if Path(entry.name).name != entry.name or entry.name in ("", "..", "."):
            raise DataError(f"{where} is foreign: {entry.name!r} is no plain file name")


def upgrade(body: Any, *, where: str) -> Any:
    """Bring a record of an older schema to the current one; refuse a newer one."""
    version = body.get("schema_version") if isinstance(body, dict) else None
    if not isinstance(version, int) or version > SCHEMA_VERSION:
        raise DataError(
            f"{where} has schema version {version}, this harness reads up to {SCHEMA_VERSION}"
        )
    return body


def plain_rows(rows: Sequence[Row]) -> tuple[list[dict[str, Scalar | None]], bool]:
    """Return rows as JSON can hold them, and whether a value was not finite.

    Non-finite numbers become null: a diverged loss is an absent number, not a number.
    """
    diverged = False
    plain: list[dict[str, Scalar | None]] = []
    for row in rows:
        kept: dict[str, Scalar | None] = {}
        for name, value in row.items():
            if value is not None and not isinstance(value, (bool, int, float, str)):
                raise RunError(f"the value {name}={value!r} of a row is not a JSON scalar")
            finite = not isinstance(value, float) or math.isfinite(value)
            diverged |= not finite
            kept[name] = value if finite else None
        plain.append(kept)
    return plain, diverged


class RecordStore:
    """Reads and writes the records of a checkout."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace

    def path(self, trial: Trial) -> Path:
        return self.workspace.runs / "records" / trial.experiment.id / f"{trial.key}.json"

    def artifact_folder(self, trial: Trial) -> Path:
        return self.workspace.runs / "artifacts" / trial.experiment.id / trial.key

    def pack_path(self, experiment_id: str, profile: str) -> Path:
        paper, name = experiment_id.split("/")
        return self.workspace.root / "results" / paper / "records" / f"{name}.{profile}.jsonl.gz"

    @contextmanager
    def lock(self, trial: Trial) -> Iterator[bool]:
        """Hold a trial's lock, or yield False if another process does.

        The kernel releases it when the process dies. Raises RunError where it cannot be made.
        """
        path = self.workspace.runs / "locks" / f"{trial.key}.lock"
        lock = FileLock(path)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            lock.acquire(timeout=0)
        except Timeout:
            yield False
            return
        except OSError as error:
            raise RunError(
                f"cannot lock {path} ({error.strerror}): free some space, check the folder's"
                " permissions, and run again"
            ) from error
        try:
            yield True
        finally:
            lock.release()

    def read(self, trial: Trial) -> Record | Rejected | None:
        """Return a trial's record, why it cannot be used, or None where there is none."""
        path = self.path(trial)
        try:
            line = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return None
        except (OSError, UnicodeDecodeError) as error:
            return Rejected(path, f"its record cannot be read ({error})")
        try:
            record = parse_record(line, where="its record")
        except DataError as error:
            return Rejected(path, str(error))
        if record.key != trial.key or record.params != dict(trial.params):
            return Rejected(path, "its record is foreign: it holds another trial")
        return record

    def result(self, trial: Trial) -> Record | None:
        """Return a trial's record if it is a result."""
        record = self.read(trial)
        return record if isinstance(record, Record) and record.is_result else None

    def write(self, record: Record, *, replace: bool = False) -> None:
        """Store a record; a file in its place that cannot be used is set aside first.

        A result that is there stays, unless `replace`; a failure never replaces a result.
        """
        path = self.workspace.runs / "records" / record.experiment / f"{record.key}.json"
        if path.exists():
            try:
                old = parse_record(path.read_text(encoding="utf-8"), where=str(path))
            except (DataError, UnicodeDecodeError, OSError):
                set_aside(path)
            else:
                if (old.key, old.params) != (record.key, record.params):
                    set_aside(path)
                elif old.is_result and not (replace and record.is_result):
                    return
        write_bytes(path, (record.to_line() + "\n").encode())

    def artifacts_intact(self, trial: Trial, record: Record) -> str:
        """Return why a trial's artifacts cannot be used, or an empty string."""
        folder = self.artifact_folder(trial)
        for entry in record.artifacts:
            path = folder / entry.name
            if not path.exists():
                return f"its artifact {entry.name} is missing"
            if hashlib.sha256(path.read_bytes()).hexdigest() != entry.sha256:
                return f"its artifact {entry.name} was altered"
        return ""

    def pack(self, experiment_id: str, profile: str, trials: Iterable[Trial]) -> Path | None:
        """Write the committed file of a profile: its results, sorted by key.

        The same records give the same bytes. Nothing is written where there is no result.
        """
        records = [record for trial in trials if (record := self.result(trial))]
        path = self.pack_path(experiment_id, profile)
        if not records:
            return None
        data = pack_bytes(records)
        if not path.exists() or path.read_bytes() != data:
            write_bytes(path, data)
        return path

    def unpack(self, experiment_id: str, profile: str) -> int:
        """Fill the working copy from the committed file; return how many records were new.

        A committed result takes the place of a record that is torn, or that failed.
        """
        path = self.pack_path(experiment_id, profile)
        if not path.exists():
            return 0
        count = 0
        folder = self.workspace.runs / "records" / experiment_id
        for record in read_pack(path):
            target = folder / f"{record.key}.json"
            line = (record.to_line() + "\n").encode()
            if not target.exists():
                write_bytes(target, line)
                count += 1
            elif target.read_bytes() != line:
                self.write(record)
        return count


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be used, so that it is out of the way and not lost."""
    number = 1
    while (target := path.with_name(f"{path.name}.rejected-{number}")).exists():
        number += 1
    return path.rename(target)


def pack_bytes(records: Iterable[Record]) -> bytes:
    """Return records as gzipped lines sorted by key, with the same bytes every time."""
    lines = [record.to_line() for record in sorted(records, key=lambda record: record.key)]
    buffer = io.BytesIO()
    # No time and no name in the header: either would change the bytes.
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as packed:
        packed.write("".join(f"{line}\n" for line in lines).encode())
    return buffer.getvalue()


def remove_leftovers(folder: Path) -> None:
    """Remove temporary files that a killed process left behind; a living one needs seconds."""
    for path in folder.rglob(".*.tmp"):
        with suppress(OSError):
            if time.time() - path.stat().st_mtime > LEFTOVER_S:
                path.unlink()


def read_pack(path: Path) -> Iterator[Record]:
    """Yield the records of a committed file. Raises DataError with file and line."""
    advice = "restore it with git checkout"
    try:
        text = gzip.decompress(path.read_bytes()).decode()
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise DataError(f"{path} is truncated or altered ({error}): {advice}") from error
    # Not splitlines: it also splits at characters that a JSON string may hold.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        where = f"{path} line {number}"
        try:
            record = parse_record(line, where=where)
            check_names(record, where=where)
        except DataError as error:
            raise DataError(f"{error}: {advice}") from error
        yield record


def rows_of(record: Record) -> list[dict[str, Any]]:
    """Return a record's rows joined with its parameters and status, as the long table has them.

    Raises DataError if a row repeats a parameter's name with another value.
    """
    rows = record.rows or [{}]
    joined = []
    for row in rows:
        clash = [n for n in row if n in record.params and row[n] != record.params[n]]
        if clash:
            raise DataError(f"record {record.key}: rows change the parameters {clash}")
        joined.append({**record.params, **row, "status": record.status})
    return joined


def seals_json(seals: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return seals by claim as a record stores them."""
    return {name: seal.to_json() for name, seal in sorted(seals.items())}
