"""The verb that says what a machine has; what tasks lack there is said by `repro plan`."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from harness.commands.common import JsonOption, print_rows, say_all_broken
from harness.data import load as datasets
from harness.errors import DataError


def doctor(as_json: JsonOption = False) -> None:
    """Say what this machine has, which data are here, and how to get the others."""
    from harness.measure.machine import machine_facts
    from harness.registry import load_registry
    from harness.store.workspace import find_workspace

    facts = machine_facts().items()
    rows: list[dict[str, Any]] = [{"what": name, "found": value} for name, value in facts]
    rows.append({"what": "writable", "found": os.access(find_workspace().root, os.W_OK)})
    for name in datasets.catalogue():
        lacks = datasets.missing_reason if as_json else _how_to_get
        found = datasets.available(name) or lacks(name)
        rows.append({"what": f"data {name}", "found": found})
    library = load_registry()
    say_all_broken(library, [])
    rows += [{"what": f"task {b.id}", "found": b.reason} for b in library.broken.values()]
    shown = rows if as_json else [_in_words(**row) for row in rows]
    print_rows(shown, as_json=as_json, columns=["what", "found"])


def _how_to_get(name: str) -> str:
    """Return the command that gets a data set, or what is wrong with the one that is here."""
    try:
        datasets.locate(datasets.find(name))
    except DataError as error:
        return str(error)
    return datasets.supply(name)


def _in_words(what: str, found: Any) -> dict[str, str]:
    """Return a row as a person reads it."""
    if isinstance(found, bool):
        found = "yes" if found else "no"
    elif isinstance(found, Mapping):
        found = ", ".join(f"{name} {version}" for name, version in found.items())
    elif what.endswith("_bytes"):
        found = f"{found / 2**30:.1f} GiB"
    elif found == []:
        found = "none"
    return {"what": what, "found": found}
