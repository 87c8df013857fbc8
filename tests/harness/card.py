"""A machine with a card and no network, made of this one: what it lacks, and what stands in."""

from __future__ import annotations

import importlib.metadata
import shutil
import subprocess
import sys
import venv
import zipfile
from functools import cache
from importlib.metadata import Distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

LACKED = ("pydantic", "pydantic-core")
"""What such machines most often do not have, and the harness cannot do without."""
CARD = "stand-in that computes nothing"
CARD_MIB = 1536


def put_card(folder: Path) -> Path:
    """Write a program that answers for a card as nvidia-smi does; return its folder."""
    folder.mkdir()
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\necho '{CARD}, none, {CARD_MIB}'\n", encoding="utf-8")
    program.chmod(0o755)
    return folder


def python_without(names: tuple[str, ...], folder: Path) -> Path:
    """Return a Python that has what this one has, less these distributions and ourselves."""
    venv.create(folder, with_pip=False, symlinks=True)
    lib = Path("lib") / f"python3.{sys.version_info.minor}" / "site-packages"
    installed = Path(importlib.metadata.distribution("pip").locate_file("")).resolve()
    gone = {part for name in names for part in _tops(importlib.metadata.distribution(name))}
    for path in installed.iterdir():
        if path.name not in gone and path.suffix != ".pth" and path.name != "__pycache__":
            (folder / lib / path.name).symlink_to(path)
    return folder / "bin" / "python"


def _tops(distribution: Distribution) -> set[str]:
    return {path.parts[0] for path in distribution.files or () if path.parts[0] != ".."}


def put_wheels(names: tuple[str, ...], folder: Path) -> None:
    """Write wheels of installed distributions and of all that they need."""
    folder.mkdir()
    pending, done = list(names), set()
    while pending:
        distribution = importlib.metadata.distribution(pending.pop())
        if distribution.name in done:
            continue
        done.add(distribution.name)
        _put_wheel(distribution, folder)
        for text in distribution.requires or ():
            need = Requirement(text)
            if need.marker is None or need.marker.evaluate({"extra": ""}):
                pending.append(need.name)


def _put_wheel(distribution: Distribution, folder: Path) -> None:
    lines = (distribution.read_text("WHEEL") or "").splitlines()
    tags = [line.removeprefix("Tag: ") for line in lines if line.startswith("Tag: ")]
    tag = next(tag for tag in tags if tag.startswith(("py3", "cp3")))
    name = distribution.name.replace("-", "_")
    with zipfile.ZipFile(folder / f"{name}-{distribution.version}-{tag}.whl", "w") as wheel:
        for path in distribution.files or ():
            if path.parts[0] != ".." and "__pycache__" not in path.parts:
                wheel.write(distribution.locate_file(path), str(path))


@cache
def can_cut_off() -> bool:
    if shutil.which("unshare") is None:
        return False
    return subprocess.run([*CUT_OFF, "true"], capture_output=True, check=False).returncode == 0


CUT_OFF = ("unshare", "--map-root-user", "--net")
"""Runs what follows where there is no network."""
needs_cut_off = pytest.mark.skipif(
    not can_cut_off(), reason="a namespace without network needs unshare"
)
