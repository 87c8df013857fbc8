"""A folder with the wheels and the data that trials need on a machine without network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.atomic import write_text
from harness.data.pack import must_be_new
from harness.data.pack import pack as pack_data
from harness.errors import EnvError, UsageError, nearest
from harness.run.bring import DATA, REQUIREMENTS, WHEELS
from harness.store.trial import Trial, with_upstream

SOURCE = Path(__file__).parents[2]
GIVEN = frozenset({
    "torch", "triton", "transformers", "peft", "tokenizers", "safetensors", "numpy", "scipy",
    "pandas", "scikit-learn", "matplotlib", "seaborn", "jinja2", "filelock", "rich", "typer",
})  # fmt: skip
"""What a machine with a card is taken to have, as most images with torch do."""
OLDEST_GLIBC, NEWEST_GLIBC = 5, 28
"""Minor versions of the glibc 2 that wheels may be built for; a target has at least the newest."""


@dataclass(frozen=True, slots=True)
class Item:
    """One file that is carried."""

    kind: str
    """data or wheel."""
    name: str
    num_bytes: int
    num_trials: int | None = None
    """How many trials read it, themselves or through what they start from; None of a wheel."""


def make_pack(
    trials: Sequence[Trial],
    out: Path,
    *,
    python_version: str,
    also: Sequence[str] = (),
    without: Collection[str] = (),
) -> list[Item]:
    """Fill a new or empty folder with what these trials need; return it, largest first.

    python_version: of the target, as 3.12. also: distributions to bring with all they need.
    without: data sets and distributions to leave out.
    Raises UsageError for a folder that holds anything, or a name in `without` that is not needed;
    DataError for a data set that is not here; EnvError where pip finds no wheel.
    """
    needs = [[each.needs for each in with_upstream(trial)] for trial in trials]
    readers = Counter(name for chain in needs for name in {d for each in chain for d in each.data})
    optional = sorted({name for chain in needs for each in chain for name in each.brought})
    packages = {name for chain in needs for each in chain for name in each.packages}
    asked = [*_core(), *sorted(packages)]
    lacking = sorted(({_name(each) for each in asked} - GIVEN).union(map(_name, also)))
    known = [*readers, *lacking, *optional]
    for name in without:
        if name not in known:
            raise UsageError(f"--without {name}: nothing needs it{nearest(name, known)}")
    kept = [name for name in optional if name not in without]
    must_be_new(out)
    # Data first: what is missing is told before anything is fetched.
    packed = pack_data(sorted(readers.keys() - set(without)), out / DATA)
    try:
        # What is optional names torch as its own need, which is never brought.
        _fetch([name for name in lacking if name not in without], [], out, python_version)
        _fetch(kept, ["--no-deps"], out, python_version)
        write_text(out / REQUIREMENTS, "\n".join([*asked, *kept, *also]) + "\n")
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    found = [Item("data", p.name, p.bytes, readers[p.name]) for p in packed if p.path]
    found += [Item("wheel", each.name, each.stat().st_size) for each in out.glob(f"{WHEELS}/*")]
    return sorted(found, key=lambda item: (-item.num_bytes, item.name))


def _core() -> list[str]:
    """Return the requirements of the harness.

    torch without a version: what runs there is in every record, and it is never replaced.
    """
    path = SOURCE / "pyproject.toml"
    if not path.is_file():
        raise UsageError("only a checkout can be packed for: run this in one")
    core = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["dependencies"]
    return ["torch" if _name(each) == "torch" else each for each in core]


def _name(requirement: str) -> str:
    """Return a requirement's name in the one form that pip compares.

    >>> _name("Scikit_Learn>=1.4; python_version > '3'")
    'scikit-learn'
    """
    return re.sub(r"[-_.]+", "-", re.split(r"[^\w.-]", requirement)[0]).lower()


def _fetch(names: Sequence[str], how: Sequence[str], out: Path, python_version: str) -> None:
    """Fetch wheels in the tested versions, with all that they need in turn unless told."""
    (out / WHEELS).mkdir(parents=True, exist_ok=True)
    places = [f"manylinux_2_{n}_x86_64" for n in range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)]
    words = [word for place in [*places, "manylinux2014_x86_64"] for word in ("--platform", place)]
    words += ["--only-binary=:all:", "--python-version", python_version, *how]
    words += ["-c", str(SOURCE / "constraints.txt"), "-d", str(out / WHEELS), "--", *names]
    command = [sys.executable, "-m", "pip", "download", "--quiet", *words]
    if names and subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode:
        raise EnvError(
            f"pip cannot fetch {', '.join(names)} for Python {python_version}: see what it says"
            " above, and leave out what has no wheel with --without"
        )
