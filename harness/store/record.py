"""A trial's record: what it holds, its one line of JSON, and files that carry many of them.

A record is valid if its digest and key match; the name of a file proves nothing.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from harness.canonical import canonical_json
from harness.declare.experiment import Row, Status
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.errors import DataError, RunError
from harness.outgoing import TRACEBACK_CHARS, mask, tidy
from harness.store.trial import Trial, trial_key
from harness.strict import Strict, explain
from harness.untrusted import MAX_BYTES, parse_json, read_bytes, to_text, unzip

SCHEMA_VERSION: Literal[3] = 3
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
    overrides: dict[str, bool | int | float | str]
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
    params: dict[str, bool | int | float | str]
    upstream: list[str]
    status: str = Field(pattern=f"^({'|'.join(Status)})$")
    note: str = ""
    error: str = ""
    rows: list[dict[str, bool | int | float | str | None]]
    artifacts: list[ArtifactEntry] = Field(default_factory=list)
    registered: dict[str, str] = Field(default_factory=dict)
    """By `task:claim` a digest of what each claim asked before it ran (`registered.py`)."""
    control: dict[str, float] = Field(default_factory=dict)
    provenance: Provenance

    @property
    def is_result(self) -> bool:
        return Status(self.status).is_result

    def to_line(self) -> str:
        """Return the record as one line of JSON with its own digest."""
        body = self.model_dump(mode="json")
        if not self.provenance.choices:
            del body["provenance"]["choices"]
        return _line(canonical_json(body))


def _line(text: str) -> str:
    """Return the line of a record's canonical text: canonical JSON too, its digest first."""
    return f'{{"digest":"{hashlib.sha256(text.encode()).hexdigest()}","record":{text}}}'


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


def parse_record(line: str, *, where: str) -> Record:
    """Read a record from its line. Raises DataError if it is torn, edited or foreign."""
    outer = parse_json(line, where=where)
    if not isinstance(outer, dict) or set(outer) != {"digest", "record"}:
        raise DataError(f"{where} is foreign: it is no record of this harness")
    text = line.removesuffix("\n")
    if _line(text[len(_line("")) - 1 : -1]) != text:
        raise DataError(f"{where} was edited: its content does not match its digest")
    body = outer["record"]
    try:
        record = Record.model_validate(body)
    except ValidationError as error:
        raise DataError(f"{where} is foreign: {explain(error)}") from error
    _hold_against_key(body, where)
    return record


def _hold_against_key(body: Mapping[str, Any], where: str) -> None:
    """Raise DataError where a result is not of the trial whose key it has."""
    if not Status(body["status"]).is_result:
        # A trial that failed may not have come to its data.
        return
    names = ("experiment", "version", "params", "upstream", "device")
    data = {name: source["sha256"] for name, source in body["provenance"]["data"].items()}
    if trial_key(**{name: body[name] for name in names}, data=data) != body["key"]:
        raise DataError(
            f"{where} disagrees with its key {body['key'][:16]}: version, parameters, device, data"
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
    try:
        yield from records_in(read_bytes(path), where=str(path))
    except DataError as error:
        raise DataError(f"{error}: restore it with git checkout") from error


def records_in(packed: bytes, *, where: str, limit: int = MAX_BYTES) -> Iterator[Record]:
    """Yield the records that `pack_bytes` packed. Raises DataError with the line."""
    text = to_text(unzip(packed, where=where, limit=limit), where=where)
    # Not splitlines: it also splits at characters that a JSON string may hold.
    for number, line in enumerate(text.removesuffix("\n").split("\n"), start=1):
        yield parse_record(line, where=f"{where} line {number}")


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
