"""A trial's record: what it holds, its one line of JSON, and files that carry many of them.

A record is valid if its digest and key match; the name of a file proves nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, Field, ValidationError

from harness.canonical import canonical_json
from harness.declare.experiment import Row, Status
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import DataError, RunError
from harness.outgoing import TRACEBACK_CHARS, mask, tidy
from harness.store.trial import Trial, trial_key
from harness.strict import Strict, explain
from harness.untrusted import MAX_BYTES, parse_json, read_bytes, unzip

SCHEMA_VERSION: Literal[3] = 3
Plain = float | str | bool | int
"""A scalar, floats first: each value is tried as one type after the other."""
M = TypeVar("M", bound=BaseModel)
T = TypeVar("T")
RESULTS = frozenset(str(status) for status in Status if status.is_result)
ARTIFACT_NAME = r"^[A-Za-z0-9_.-]{1,200}\.safetensors$"


class ArtifactEntry(Strict):
    """A tensor file of a trial."""

    name: str = Field(pattern=ARTIFACT_NAME)
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
    overrides: dict[str, Plain]
    choices: dict[str, str] = Field(default_factory=dict)
    """What code chose by itself: by kernel, what it was done by. On a CPU nothing is chosen."""


class Record(Strict):
    """The stored outcome of one trial."""

    schema_version: Literal[3] = SCHEMA_VERSION
    key: str = Field(pattern=r"^[0-9a-f]{64}$")
    experiment: str = Field(pattern=r"^[a-z0-9_]{1,100}/[a-z0-9_]{1,100}$")
    version: int
    profile: Profile
    """The one that asked for the trial first; any other may use its result."""
    device: str
    params: dict[str, Plain]
    upstream: list[str]
    status: str = Field(pattern=f"^({'|'.join(Status)})$")
    note: str = ""
    error: str = ""
    rows: list[dict[str, Plain | None]]
    artifacts: list[ArtifactEntry] = Field(default_factory=list)
    registered: dict[str, str] = Field(default_factory=dict)
    """By `task:claim` a digest of what each claim asked before it ran (`registered.py`)."""
    control: dict[str, float] = Field(default_factory=dict)
    provenance: Provenance

    @property
    def is_result(self) -> bool:
        return self.status in RESULTS

    def to_line(self) -> str:
        """Return the record as one line of JSON with its own digest."""
        body = self.model_dump(mode="json")
        if not self.provenance.choices:
            del body["provenance"]["choices"]
        return _line(canonical_json(body).encode()).decode()


class _Code(BaseModel):
    code: str
    wall_s: float


class Glimpse(BaseModel):
    """How a trial ended: of many records this alone is read from each."""

    key: str
    status: str
    note: str
    error: str
    provenance: _Code


def _line(text: bytes) -> bytes:
    """Return the line of a record's canonical text: canonical JSON too, its digest first."""
    return b'{"digest":"%s","record":%s}' % (hashlib.sha256(text).hexdigest().encode(), text)


HEAD = _line(b"")[:-1]
"""As long as what stands before a record's text in its line."""


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
    choices: Mapping[str, str] | None = None,
) -> Record:
    """Return a trial's record; `facts` is what all records of one run and experiment share.

    Its texts are fit to be published: they hold no secret, and notes are short and plain.
    """
    provenance = Provenance(
        started_at=started_at, wall_s=round(wall_s, 4), data=dict(data or {}),
        choices=dict(choices or {}), **{name: facts[name] for name in SHARED_FACTS},
    )  # fmt: skip
    return Record(
        key=trial.key,
        experiment=trial.experiment.id,
        version=trial.experiment.version,
        profile=trial.profile, device=trial.needs.device, params=dict(trial.params),
        upstream=[source.key for source in trial.upstream],
        status=status, note=tidy(note),
        error=tidy(error, most=TRACEBACK_CHARS),
        rows=[
            {name: mask(value) if isinstance(value, str) else value for name, value in row.items()}
            for row in rows
        ],
        artifacts=list(artifacts),
        registered=facts["registered"],
        control=dict(control or {}),
        provenance=provenance,
    )  # fmt: skip


def parse_record(line: bytes, *, where: str) -> Record:
    """Read a record from its line. Raises DataError if it is torn, edited or foreign."""
    record = _validated(Record, line, where)
    _hold_against_key(record, where)
    return record


def glimpse(line: bytes, *, where: str) -> Glimpse:
    """Read from a record's line how its trial ended. Raises DataError if it is torn or edited."""
    return _validated(Glimpse, line, where)


def _validated(model: type[M], line: bytes, where: str) -> M:
    """Return what a model takes from a line whose digest is right.

    Straight from its bytes: to make dictionaries of all that it says takes three times as long.
    """
    line = line.removesuffix(b"\n")
    text = line[len(HEAD) : -1]
    if _line(text) != line:
        outer = parse_json(line, where=where)
        if not isinstance(outer, dict) or set(outer) != {"digest", "record"}:
            raise DataError(f"{where} is foreign: it is no record of this harness")
        raise DataError(f"{where} was edited: its content does not match its digest")
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise DataError(f"{where} is foreign: {explain(error)}") from error


def _hold_against_key(record: Record, where: str) -> None:
    """Raise DataError where a result is not of the trial whose key it has."""
    if not record.is_result:
        # A trial that failed may not have come to its data.
        return
    found = trial_key(
        experiment=record.experiment, version=record.version, params=record.params,
        upstream=record.upstream, device=record.device,
        data={name: source["sha256"] for name, source in record.provenance.data.items()},
    )  # fmt: skip
    if found != record.key:
        raise DataError(
            f"{where} disagrees with its key {record.key[:16]}: version, parameters, device, data"
            " or upstream trials are not those that the key stands for"
        )


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


def lines_of(records: Iterable[Record]) -> dict[str, bytes]:
    """Return by key the line of each record, sorted by key."""
    by_key = sorted(records, key=lambda record: record.key)
    return {record.key: f"{record.to_line()}\n".encode() for record in by_key}


def pack_bytes(lines: Iterable[bytes]) -> bytes:
    """Return lines of records gzipped, with the same bytes every time."""
    buffer = io.BytesIO()
    # No time and no name in the header: either would change the bytes.
    with gzip.GzipFile(filename="", fileobj=buffer, mode="wb", compresslevel=9, mtime=0) as packed:
        packed.write(b"".join(lines))
    return buffer.getvalue()


def read_pack(path: Path) -> Iterator[Record]:
    """Yield the records of a committed file. Raises DataError with file and line."""
    return _read(path, parse_record)


def read_glimpses(path: Path) -> Iterator[Glimpse]:
    """Yield how the trials of a committed file ended. Raises DataError with file and line."""
    return _read(path, glimpse)


def _read(path: Path, parse: Callable[..., T]) -> Iterator[T]:
    try:
        yield from _parsed(read_bytes(path), parse, where=str(path), limit=MAX_BYTES)
    except DataError as error:
        raise DataError(f"{error}: restore it with git checkout") from error


def records_in(packed: bytes, *, where: str, limit: int) -> Iterator[Record]:
    """Yield the records that `pack_bytes` packed. Raises DataError with the line."""
    return _parsed(packed, parse_record, where=where, limit=limit)


def _parsed(packed: bytes, parse: Callable[..., T], *, where: str, limit: int) -> Iterator[T]:
    """Yield what is read from each line: the text of all, as text and cut, would be held twice."""
    plain = unzip(packed, where=where, limit=limit)
    # Bytes end a line at a line feed alone. Where there is none at all, the first line is torn.
    for number, line in enumerate(io.BytesIO(plain or b"\n"), start=1):
        yield parse(line, where=f"{where} line {number}")


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
