"""A folder with the wheels and the data that trials need on a machine without network."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.atomic import write_text
from harness.data.pack import must_be_new
from harness.data.pack import pack as pack_data
from harness.errors import EnvError, UsageError, nearest
from harness.run.bring import DATA, REQUIREMENTS, WHEELS
from harness.store.trial import Trial, with_upstream

NAME = r"[A-Za-z0-9][A-Za-z0-9._-]*"
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
    Raises UsageError for a folder that holds anything, a name in `without` that is not needed,
    or one in `also` that is none; DataError for a data set that is not here; EnvError where pip
    finds no wheel.
    """
    if not re.fullmatch(r"3\.\d+", python_version):
        raise UsageError(f"--python-version {python_version}: write it as 3.12")
    readers = Counter(name for trial in trials for name in data_of(trial))
    lacking, optional = _lacking(trials, also), _optional(trials)
    for name in without:
        known = [*readers, *lacking, *optional]
        if name not in known:
            raise UsageError(f"--without {name}: nothing needs it{nearest(name, known)}")
    must_be_new(out)
    # Data first: what is missing is told before anything is fetched.
    packed = pack_data(sorted(readers.keys() - set(without)), out / DATA)
    try:
        kept = [name for name in optional if name not in without]
        needed = [name for name in lacking if name not in without]
        wheels = _download(needed, kept, out, python_version)
        write_text(out / REQUIREMENTS, "\n".join([*_asked(trials), *kept, *also]) + "\n")
    except BaseException:
        shutil.rmtree(out, ignore_errors=True)
        raise
    found = [Item("data", p.name, p.bytes, readers[p.name]) for p in packed if p.path]
    return sorted([*found, *wheels], key=lambda item: -item.num_bytes)


def data_of(trial: Trial) -> set[str]:
    """Return the data sets that a trial reads, itself or through what it starts from."""
    return {name for each in with_upstream(trial) for name in each.needs.data}


def _asked(trials: Iterable[Trial]) -> list[str]:
    """Return the requirements of the harness, and the packages that trials need beyond it.

    torch without a version: what runs there is in every record, and it is never replaced.
    """
    path = SOURCE / "pyproject.toml"
    if not path.is_file():
        raise UsageError("only a checkout can be packed for: run this in one")
    core = tomllib.loads(path.read_text(encoding="utf-8"))["project"]["dependencies"]
    more = {
        name for trial in trials for each in with_upstream(trial) for name in each.needs.packages
    }
    return ["torch" if _name(each) == "torch" else each for each in core] + sorted(more)


def _lacking(trials: Sequence[Trial], also: Sequence[str]) -> list[str]:
    """Return the names of what is to be brought: what no machine is taken to have."""
    for each in also:
        if not re.fullmatch(NAME, each):
            raise UsageError(f"--also {each[:60]!r}: name a distribution, without a version")
    names = {_name(each) for each in _asked(trials)} - GIVEN
    return sorted(names | {_name(each) for each in also})


def _optional(trials: Iterable[Trial]) -> list[str]:
    """Return the distributions that trials run without, and say more with."""
    return sorted({
        name for trial in trials for each in with_upstream(trial) for name in each.needs.brought
    })  # fmt: skip


def _name(requirement: str) -> str:
    """Return a requirement's name in the one form that pip compares.

    >>> _name("Scikit_Learn>=1.4; python_version > '3'")
    'scikit-learn'
    """
    found = re.match(NAME, requirement)
    return re.sub(r"[-_.]+", "-", found.group()).lower() if found else ""


def _download(
    needed: Sequence[str], optional: Sequence[str], out: Path, python_version: str
) -> list[Item]:
    """Fetch wheels in the tested versions: of what is needed with all that it needs in turn."""
    folder, constraints = out / WHEELS, SOURCE / "constraints.txt"
    folder.mkdir(parents=True, exist_ok=True)
    places = [f"manylinux_2_{n}_x86_64" for n in range(NEWEST_GLIBC, OLDEST_GLIBC - 1, -1)]
    words = [word for place in [*places, "manylinux2014_x86_64"] for word in ("--platform", place)]
    words += ["--only-binary=:all:", "--python-version", python_version]
    words += ["-c", str(constraints)] if constraints.is_file() else []
    # What is optional names torch as its own need, which is never brought.
    for names, how in ((needed, []), (optional, ["--no-deps"])):
        if names:
            _fetch(names, [*words, *how, "-d", str(folder)], python_version)
    return [Item("wheel", path.name, path.stat().st_size) for path in sorted(folder.iterdir())]


def _fetch(names: Sequence[str], words: Sequence[str], python_version: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", *words, *names],
        stdout=subprocess.DEVNULL,
        check=False,
    )
    if done.returncode:
        raise EnvError(
            f"pip cannot fetch {', '.join(names)} for Python {python_version}: see what it says"
            " above, and leave out what has no wheel with --without"
        )
