"""`repro data`: what data sets there are, whether they are right, how to get and move them."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.commands.common import (
    BlocksOption,
    JsonOption,
    Selectors,
    asked_for,
    group,
    print_rows,
    say,
)
from harness.data.load import (
    available,
    cache_folder,
    catalogue,
    data_hash,
    find,
    load,
    locate,
    supply,
)
from harness.data.load import missing_reason as why_missing
from harness.errors import DataError, UsageError

EPILOG = """
Examples:  repro data list  |  repro data make tinyshakespeare  |
REPRO_DATA=~/data repro data verify tinyshakespeare mnist  |
repro data pack supar --profile gpu --out carry
"""

app = group(help="List, make, fetch, check and pack data sets.", epilog=EPILOG)

NamesArgument = Annotated[
    list[str] | None, typer.Argument(help="Data sets; all that are here where none is given.")
]


@app.command("list")
def list_data(as_json: JsonOption = False) -> None:
    """List data sets: kind, size, which variant is here; as JSON also licence and origin."""
    rows: list[dict[str, Any]] = [
        {
            "name": dataset.name,
            "kind": dataset.kind,
            "variants": list(dataset.variants),
            "available": available(dataset.name),
            "sha256": data_hash(dataset.name),
            "num_records": dataset.num_records,
            "licence": dataset.licence,
            "upstream": dataset.upstream,
            "rule": dataset.rule,
            "missing": why_missing(dataset.name),
            "supply": supply(dataset.name),
        }
        for dataset in catalogue().values()
    ]
    if as_json:
        return print_rows(rows, as_json=True, columns=[])
    shown = [
        row | {"records": row["num_records"], "here": row["available"] or "no"} for row in rows
    ]
    columns = ["name", "kind", "records", "here", "variants"]
    print_rows(shown, as_json=False, columns=columns)


@app.command("verify")
def verify(names: NamesArgument = None, as_json: JsonOption = False) -> None:
    """Read data sets and check their content hashes; exit code 2 if one is not right.

    Named ones must be there; without names, those that are missing are only shown.
    """
    rows = [_verify_one(name) for name in names or catalogue()]
    print_rows(rows, as_json=as_json, columns=["name", "state", "variant", "reason"])
    bad = [row["name"] for row in rows if row["state"] == "bad"]
    if names:
        bad += [row["name"] for row in rows if row["state"] == "missing"]
    if bad:
        say(f"{len(bad)} of {len(rows)} not right: {', '.join(bad)}")
        raise typer.Exit(DataError.exit_code)


@app.command("make")
def make(
    name: Annotated[str, typer.Argument(help="A data set that a rule makes.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="The upstream's file, or a folder with all of them by name."),
    ] = None,
    again: Annotated[bool, typer.Option("--again", help="Build what is here already.")] = False,
) -> None:
    """Build a data set from its upstream's own files into the local cache.

    Its content must have the hash in the catalogue: else nothing is written.
    """
    from harness.data.make import make as build

    dataset = find(name)
    if dataset.made is None:
        raise UsageError(f"data set {name} is not made by a rule: {supply(name)}")
    if available(name) and not again:
        say(f"{name} is here already, sha256 {load(name).sha256}")
        return
    if source is not None and not source.exists():
        raise UsageError(f"--from {source} does not exist: name a file or a folder")
    path = build(dataset, dataset.made, cache_folder(), given=source)
    say(f"wrote {path}: sha256 {dataset.sha256}, as in the catalogue")
    if (used := locate(dataset)) and used.path != path:
        say(f"{used.path} comes first and is what is read")


@app.command("fetch")
def fetch(
    name: Annotated[str, typer.Argument(help="A data set with a hub variant.")],
    again: Annotated[
        bool, typer.Option("--again", help="Read it again; it must match the first fetch.")
    ] = False,
) -> None:
    """Fetch a data set from the hub into the local cache."""
    from harness.data.hub import fetch as fetch_hub
    from harness.data.hub import pin_place, pinned

    dataset, cache = find(name), cache_folder()
    if dataset.hub and available(name) == "hub" and not again:
        say(f"{name} is here already, sha256 {load(name).sha256}")
        return
    is_known = bool(dataset.sha256 or pinned(dataset, cache))
    say(f"wrote {name} into {cache}, sha256 {fetch_hub(dataset, cache)}")
    if not is_known:
        say(
            f"{name}: our catalogue does not know its content; this first fetch pins it: every"
            f" later one must match {cache / pin_place(dataset)}"
        )


@app.command("pack")
def pack(
    out: Annotated[Path, typer.Option("--out", help="A new or empty folder.")],
    selectors: Selectors = None,
    profile: Annotated[str, typer.Option("--profile", "-p", help="Whose data.")] = "gpu",
    blocks: BlocksOption = None,
    as_json: JsonOption = False,
) -> None:
    """Copy the data of some tasks, or of blocks, into a folder for a machine without network.

    There, set REPRO_DATA to the folder.
    """
    from harness.data.pack import pack as pack_data
    from harness.run.blocks import chosen_blocks, tasks_of, trials_of
    from harness.store.trial import trials_behind

    chosen = chosen_blocks(blocks, selectors or [])
    asked = asked_for(tasks_of(chosen) or selectors, profile)
    trials = trials_of(chosen, asked.library, asked.profile)
    if not chosen:
        trials = trials_behind(asked.tasks, asked.profile)
    packed = pack_data(sorted({name for trial in trials for name in trial.needs.data}), out)
    rows = [asdict(item) for item in packed]
    print_rows(rows, as_json=as_json, columns=["name", "variant", "bytes", "path"])
    copied = sum(1 for item in packed if item.path)
    say(f"packed {copied} of {len(packed)} data sets; there: export REPRO_DATA={out}")


def _verify_one(name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"name": name, "variant": available(name), "sha256": "", "reason": ""}
    try:
        if row["variant"] is None and locate(find(name)) is None:
            return {**row, "state": "missing", "reason": why_missing(name)}
        content = load(name)
    except DataError as error:
        return {**row, "state": "bad", "reason": str(error)}
    alone = "held against its first fetch alone: the catalogue does not know its content"
    reason = "" if find(name).sha256 else alone
    return {**row, "state": "ok", "sha256": content.sha256, "reason": reason}
