"""Facts of a data set: how many records it has, and how many of them count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from harness.data.codec import Content
from harness.data.load import find
from harness.declare.experiment import RawParams, Row, RunContext
from harness.errors import SpecError


def size_row(params: RawParams, ctx: RunContext) -> Row:
    """Count what a trial asks for; no numbers where the data set is not at hand."""
    source = str(params["source"])
    if not source:
        return {"num_counted": None, "num_records": None, "catalogue_records": None}
    content = ctx.dataset(source)
    return {
        "num_counted": count(content, kept=str(params["kept"]), field=str(params["field"])),
        "num_records": num_records(content),
        "catalogue_records": find(source).num_records,
    }


def num_records(content: Content) -> int:
    """Return the records of a data set: of arrays the entries of its first one."""
    if isinstance(content.value, dict):
        return len(next(iter(content.arrays.values())))
    return len(content.records)


def count(content: Content, *, kept: str, field: str) -> int:
    """Return how many records are kept, or distinct values of a field they have.

    kept: `all`, or `name=value` of a field; field: empty for the records themselves.
    Raises SpecError for a field that the records lack.
    """
    if kept == "all" and not field:
        return num_records(content)
    records: Sequence[Mapping[str, Any]] = content.records
    name, _, value = kept.partition("=")
    for needed in filter(None, (field, name if value else "")):
        if any(needed not in record for record in records):
            raise SpecError(f"data set {content.name}: not every record has a field {needed!r}")
    chosen = [record for record in records if not value or str(record[name]) == value]
    return len({record[field] for record in chosen}) if field else len(chosen)
