"""Pack what a machine with a GPU and without a network needs: wheels and data.

    python -m tools.gpu_pack --out FOLDER [--python 3.12] [--has NAME ...] [--lacks NAME ...]

`make gpu-pack` calls it. Wheels are those that the project and its trials at `gpu` need, in the
versions installed here, without torch, Triton and what else the target `--has`, and without what
these need; `--lacks` names what the target has not all the same. Data are those of trials at
`gpu`. There, `make gpu FROM=FOLDER` takes both.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Sequence
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions
from pathlib import Path

from packaging.requirements import Requirement

from harness.registry import load_registry
from tools.gpu_run import DATA, WHEELS

PROJECT = "paper-reproductions"
ALWAYS_THERE = ("torch", "triton")
"""A machine with a GPU has them in versions that fit its driver."""
PLATFORMS = ("manylinux_2_28_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64")


def main(arguments: Sequence[str] | None = None) -> int:
    """Fill the folder and print what it weighs."""
    asked = parsed(arguments)
    if asked.out.exists() and any(asked.out.iterdir()):
        raise SystemExit(f"{asked.out} is not empty: name a new folder")
    there = {canonical(name) for name in (*ALWAYS_THERE, *asked.has)}
    there = (closure(there, without=()) | there) - set(map(canonical, asked.lacks))
    wanted = sorted(closure({PROJECT, *used_at_gpu()}, without=there) - {PROJECT} - there)
    wheels = asked.out / WHEELS
    wheels.mkdir(parents=True)
    download([f"{name}=={distribution(name).version}" for name in wanted], wheels, asked.python)
    tasks = asked.tasks or ["*"]
    subprocess.run(
        [sys.executable, "-m", "harness.cli", "data", "pack", *tasks, "--out",
         str(asked.out / DATA), "--profile", "gpu"],
        check=True,
    )  # fmt: skip
    for name in (WHEELS, DATA):
        files = [path for path in (asked.out / name).rglob("*") if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        sys.stderr.write(f"{name}: {len(files)} files, {size / 2**20:.1f} MiB\n")
    return 0


def parsed(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Return what is asked for."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="a new folder")
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}",
                        help="the target's version of Python")  # fmt: skip
    parser.add_argument("--has", nargs="*", default=[], help="packages that the target has")
    parser.add_argument("--lacks", nargs="*", default=[], help="packages that it lacks")
    parser.add_argument("--tasks", nargs="*", default=[], help="whose data; all by default")
    return parser.parse_args(arguments)


def used_at_gpu() -> set[str]:
    """Return the packages that trials at `gpu` need, those that are installed here."""
    modules = {
        package.partition(".")[0]
        for experiment in load_registry().experiments.values()
        for point in experiment.params_of("gpu")
        for package in experiment.needs_of(point).packages
    }
    names = packages_distributions()
    return {canonical(name) for module in modules for name in names.get(module, [])}


def closure(names: Collection[str], *, without: Collection[str]) -> set[str]:
    """Return packages and all that they need here; what is not installed here is left out."""
    found: set[str] = set()
    waiting = [name for name in names if is_here(name)]
    while waiting:
        name = waiting.pop()
        if name not in found and name not in without:
            found.add(name)
            waiting += filter(is_here, needs_of(name))
    return found


def needs_of(name: str) -> Iterator[str]:
    """Yield what an installed package needs on this platform."""
    for text in distribution(name).requires or []:
        need = Requirement(text)
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield canonical(need.name)


def is_here(name: str) -> bool:
    """Say whether a package is installed here."""
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def canonical(name: str) -> str:
    """Return a package's name as indices have it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def download(pinned: Sequence[str], to: Path, python: str) -> None:
    """Fetch wheels for the target's Python, and those without code of a platform."""
    platforms = [word for name in PLATFORMS for word in ("--platform", name)]
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:",
         "--python-version", python, "--implementation", "cp", *platforms, "--dest", str(to),
         *pinned],
        check=True,
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
