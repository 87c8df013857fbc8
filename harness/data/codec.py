"""Decodes a data file and hashes what it says, so that a recompressed copy is the same data."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from harness.canonical import canonical_json
from harness.errors import DataError, SpecError
from harness.untrusted import MAX_DATA_BYTES, unzip

if TYPE_CHECKING:
    import numpy as np

    from harness.data.catalogue import Kind, Variant

Arrays = dict[str, "np.ndarray[Any, Any]"]
Records = list[dict[str, Any]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Content:
    """A data set as loaded: its value and where it came from."""

    name: str
    variant: Variant
    sha256: str
    """Over the decoded content; checked against the catalogue."""
    value: Any
    """str for text; dict of numpy arrays for arrays and tensors; list of dicts for records; what
    was parsed for json; the bytes of a gguf file, whose path is what its readers want."""

    @property
    def text(self) -> str:
        """The value of a text. Raises SpecError for another kind."""
        return self._of(str, "text")

    @property
    def arrays(self) -> Arrays:
        """The value of arrays or tensors. Raises SpecError for another kind."""
        return self._of(dict, "arrays")

    @property
    def records(self) -> Records:
        """The value of records. Raises SpecError for another kind."""
        return self._of(list, "records")

    def _of(self, kind: type[T], wanted: str) -> T:
        if not isinstance(self.value, kind):
            found = type(self.value).__name__
            raise SpecError(f"data set {self.name} is a {found}, not {wanted}: use .value")
        return self.value


@dataclass(frozen=True, slots=True)
class Decoded:
    """A value and the SHA-256 of its content."""

    value: Any
    sha256: str


def decode(kind: Kind, data: bytes) -> Decoded:
    """Decode the bytes of a file; nothing is ever unpickled.

    text: gzip of UTF-8, hashed as its UTF-8 bytes. records: gzip of JSON lines, hashed as the
    decompressed bytes. json, gguf: hashed as their bytes. arrays: .npz, tensors: .safetensors,
    both as `hash_arrays`. Raises DataError that says in which way the bytes are not of that kind.
    """
    try:
        return _DECODERS[kind](data)
    except Exception as error:
        # Damaged bytes make the decoders raise nearly anything (zipfile alone: six types).
        raise DataError(f"not readable as {kind} ({type(error).__name__}: {error})") from error


def hash_text(text: str) -> str:
    """Return the SHA-256 of the UTF-8 bytes.

    >>> hash_text("abc")[:16]
    'ba7816bf8f01cfea'
    """
    return hashlib.sha256(text.encode()).hexdigest()


def hash_arrays(arrays: Mapping[str, Any]) -> str:
    """Hash arrays by sorted name: canonical JSON of [name, dtype, shape], newline, bytes.

    Bytes are in C order and in the dtype's own byte order; the dtype is written as numpy's
    `dtype.str`, which names that order, so the framing is unambiguous.
    """
    import numpy as np

    total = hashlib.sha256()
    for name in sorted(arrays):
        array = np.asarray(arrays[name])
        total.update(canonical_json([name, array.dtype.str, list(array.shape)]).encode() + b"\n")
        total.update(array.tobytes(order="C"))
    return total.hexdigest()


def encode(kind: Kind, value: Any) -> bytes:
    """Encode a value as a file of its kind; that of json and gguf is the file's bytes already.

    Neither gzip headers nor members of an .npz have a time stamp: equal values, equal bytes.
    """
    if kind == "text":
        return gzip.compress(value.encode(), mtime=0)
    if kind == "records":
        lines = [json.dumps(record, ensure_ascii=False) + "\n" for record in value]
        return gzip.compress("".join(lines).encode(), mtime=0)
    if kind == "arrays":
        import numpy as np

        buffer = io.BytesIO()
        np.savez_compressed(buffer, **value)
        return buffer.getvalue()
    if kind == "tensors":
        from safetensors.numpy import save

        return bytes(save({name: array.copy() for name, array in value.items()}))
    return bytes(value)


def _decode_text(data: bytes) -> Decoded:
    text = unzip(data, where="the text", limit=MAX_DATA_BYTES).decode()
    return Decoded(text, hash_text(text))


def _decode_records(data: bytes) -> Decoded:
    plain = unzip(data, where="the file", limit=MAX_DATA_BYTES)
    records = [json.loads(line) for line in plain.decode("utf-8").split("\n") if line.strip()]
    if not all(isinstance(record, dict) for record in records):
        raise ValueError("a line is not a JSON object")
    return Decoded(records, hashlib.sha256(plain).hexdigest())


def _decode_json(data: bytes) -> Decoded:
    return Decoded(json.loads(data.decode("utf-8")), hashlib.sha256(data).hexdigest())


def _decode_arrays(data: bytes) -> Decoded:
    import numpy as np

    archive = np.load(io.BytesIO(data), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile) or archive.zip is None:
        raise ValueError("a single array, not an .npz archive")
    with archive:
        # No member unpacks to more than the archive says of it.
        if sum(member.file_size for member in archive.zip.infolist()) > MAX_DATA_BYTES:
            raise ValueError(f"more than {MAX_DATA_BYTES // 2**20} MiB when unpacked")
        arrays = {name: archive[name] for name in archive.files}
    return Decoded(arrays, hash_arrays(arrays))


def _decode_tensors(data: bytes) -> Decoded:
    from safetensors.numpy import load

    tensors = dict(sorted(load(data).items()))  # else in another order each time
    return Decoded(tensors, hash_arrays(tensors))


def _decode_gguf(data: bytes) -> Decoded:
    if data[:4] != b"GGUF":
        raise ValueError("it does not begin as a GGUF file")
    return Decoded(data, hashlib.sha256(data).hexdigest())


_DECODERS = {
    "text": _decode_text,
    "records": _decode_records,
    "json": _decode_json,
    "arrays": _decode_arrays,
    "tensors": _decode_tensors,
    "gguf": _decode_gguf,
}
