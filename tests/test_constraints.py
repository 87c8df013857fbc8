"""Exact versions: those of both environments, and of the locks that go with them."""

from __future__ import annotations

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

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


@pytest.mark.parametrize(
    ("lock", "constraints", "extras"),
    [
        ("main", "constraints.txt", ("dev", "kernels", "lm")),
        ("fed", "constraints-fed.txt", ("cluster", "docs", "fed")),
    ],
)
def test_a_lock_has_every_extra_at_the_versions_of_its_constraints(
    lock: str, constraints: str, extras: tuple[str, ...]
) -> None:
    text = (ROOT / "locks" / f"{lock}.txt").read_text(encoding="utf-8")
    entries = re.findall(r"^([a-z0-9-]+)==(\S+)(.*\n(?:    .+\n)*)", text, re.MULTILINE)
    locked: dict[str, set[str]] = {}
    for name, version, rest in entries:
        assert "--hash=sha256:" in rest, name
        locked.setdefault(name, set()).add(version)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    asked = list(project["dependencies"])
    for extra in extras:
        asked += project["optional-dependencies"][extra]
    for each in map(Requirement, asked):
        assert locked[canonicalize_name(each.name)], each
    pinned = {canonicalize_name(name): version for name, version in pins(constraints).items()}
    for name, version in pinned.items():
        assert locked.get(name, {version}) == {version}, name
