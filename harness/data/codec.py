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
        if kind in ("arrays", "tensors"):
            arrays = _arrays(data) if kind == "arrays" else _tensors(data)
            return Decoded(arrays, hash_arrays(arrays))
        is_packed = kind in ("text", "records")
        plain = unzip(data, where="it", limit=MAX_DATA_BYTES) if is_packed else data
        return Decoded(_parsed(kind, plain), hashlib.sha256(plain).hexdigest())
    except Exception as error:
        # Damaged bytes make the decoders raise nearly anything (zipfile alone: six types).
        raise DataError(f"not readable as {kind} ({type(error).__name__}: {error})") from error


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


def _parsed(kind: Kind, plain: bytes) -> Any:
    match kind:
        case "text":
            return plain.decode()
        case "json":
            return json.loads(plain.decode())
        case "records":
            records = [json.loads(line) for line in plain.decode().split("\n") if line.strip()]
            if not all(isinstance(record, dict) for record in records):
                raise ValueError("a line is not a JSON object")
            return records
        case _:
            if plain[:4] != b"GGUF":
                raise ValueError("it does not begin as a GGUF file")
            return plain


def _arrays(data: bytes) -> Arrays:
    import numpy as np

    archive = np.load(io.BytesIO(data), allow_pickle=False)
    if not isinstance(archive, np.lib.npyio.NpzFile) or archive.zip is None:
        raise ValueError("a single array, not an .npz archive")
    with archive:
        # No member unpacks to more than the archive says of it.
        if sum(member.file_size for member in archive.zip.infolist()) > MAX_DATA_BYTES:
            raise ValueError(f"more than {MAX_DATA_BYTES // 2**20} MiB when unpacked")
        return {name: archive[name] for name in archive.files}


def _tensors(data: bytes) -> Arrays:
    from safetensors.numpy import load

    return dict(sorted(load(data).items()))  # else in another order each time
