"""Exact versions: those of both environments."""

from __future__ import annotations

from tests.checkout import ROOT

HELD_BACK = {"rich", "typer"}


def pins(name: str) -> dict[str, str]:
    """Return the exact version of each package in a constraints file."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if line and not line.startswith("#")]
    assert all(len(pair) == 2 for pair in pairs)
    assert len({package for package, _ in pairs}) == len(pairs)
    return {package: version for package, version in pairs}


def test_shared_packages_have_one_version() -> None:
    here, fed = pins("constraints.txt"), pins("constraints-fed.txt")
    assert {name for name in here if fed.get(name) != here[name]} == HELD_BACK
    assert fed.keys() >= here.keys() | {"flwr", "ray"}
