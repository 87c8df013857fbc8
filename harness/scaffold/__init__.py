"""A new paper or task that runs and passes its tests: files to begin from, none replaced.

Templates lie beside this file, as `string.Template` reads them.
"""

from __future__ import annotations

import importlib
import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Template

from harness.atomic import write_text
from harness.declare.papers import load_paper
from harness.declare.profiles import MAX_WORD
from harness.declare.task import KINDS
from harness.errors import UsageError, nearest
from harness.registry import BUILT_IN, Library, PaperFolder
from harness.untrusted import is_there, read_text

TEMPLATES = Path(__file__).parent / "templates"
SUFFIX = ".tmpl"
FIRST_STUDY, FIRST_WORD = "means", "tab01"
"""What a new paper begins with; the study comes before `method`, as imports are sorted."""
NO_TASK = ("experiment", "trial", "quantities", "table", "figures")
"""Words that name other files of a study."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was made."""

    task_id: str
    files: list[Path]
    tests: Path
    """The folder of its tests."""


def new_paper(library: Library, name: str, into: Path | None = None) -> Written:
    """Write a paper with one task into this checkout, or as a package of its own into a folder.

    Raises UsageError for a name that is taken or cannot be a package's, and outside a checkout.
    """
    _check_word(name, "paper")
    if into is None:
        root = Path(importlib.import_module(BUILT_IN).__path__[0])
        if not is_there(root.parent / "pyproject.toml"):
            raise UsageError("this is an installed package: name a folder by --into")
        paper = PaperFolder(name, f"{BUILT_IN}.{name}", root / name)
    else:
        paper = PaperFolder(name, name, into / name)
    if name in library.papers or is_there(paper.folder):
        raise UsageError(f"{paper.folder} is there already: take another name, or repro new task")
    values = _values(paper, FIRST_STUDY, FIRST_WORD)
    found = sorted((TEMPLATES / "paper").rglob(f"*{SUFFIX}"))
    names = [each.relative_to(TEMPLATES / "paper").with_suffix("").as_posix() for each in found]
    files = {paper.folder / name: _filled(f"paper/{name}", values) for name in names}
    if into is not None:
        files[into / "pyproject.toml"] = _filled("package/pyproject.toml", values)
    index = files.pop(paper.folder / "paper.toml")
    return _write(paper, values, files, index)


def new_task(library: Library, task_id: str, study: str = "") -> Written:
    """Write a task in a study of its own, and list it in its paper's paper.toml.

    study: the folder; the task's word where none is given. Raises UsageError for a word or a
    study that is taken or cannot be, and for a paper that is not there, with the nearest.
    """
    name, slash, word = task_id.partition("/")
    if not slash:
        raise UsageError(f"{task_id!r} is no task's id: write PAPER/WORD, as in supar/tab05")
    if name not in library.papers:
        hint = nearest(name, library.papers)
        raise UsageError(f"no paper is called {name!r}{hint} (repro new paper makes one)")
    paper, study = library.papers[name], study or word
    _check_word(word, "task")
    _check_word(study, "study")
    if any(item.id == word for item in load_paper(paper.folder).items):
        raise UsageError(f"paper.toml of {name} lists {word} already: take another word")
    if is_there(paper.folder / study) or f"{name}/{study}" in library.experiments:
        raise UsageError(f"{name} has {study} already: name another folder by --study")
    index = read_text(paper.folder / "paper.toml").rstrip("\n") + "\n"
    return _write(paper, _values(paper, study, word), {}, index)


def _check_word(word: str, what: str) -> None:
    plain = re.fullmatch(r"[a-z][a-z0-9_]*", word) and len(word) <= MAX_WORD
    if not plain or keyword.iskeyword(word) or word in NO_TASK:
        raise UsageError(
            f"{word[:MAX_WORD]!r} cannot name a {what}: take lower-case letters, digits and"
            f" underscores, a letter first, at most {MAX_WORD}, and no word that Python or a study"
            " has for something else"
        )


def _values(paper: PaperFolder, study: str, word: str) -> dict[str, str]:
    """Return what templates may ask for."""
    return {
        "paper": paper.name,
        "package": paper.package,
        "study": study,
        "word": word,
        # What is installed and what is one's own are imported apart.
        "gap": "" if paper.package.startswith(f"{BUILT_IN}.") else "\n",
        "own_kind": "" if word[:3] in KINDS else '\n    own_kind="ablation",',
    }


def _filled(name: str, values: Mapping[str, str]) -> str:
    text = (TEMPLATES / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def _write(
    paper: PaperFolder, values: Mapping[str, str], files: Mapping[Path, str], index: str
) -> Written:
    """Write a paper's files and those of a task, what lists them last: only then they are known.

    Tests lie in a folder that mirrors the package, beside the topmost one, which they do not hide.
    """
    top, word = paper.folder.parents[paper.package.count(".")], values["word"]
    tests = Path(top, "tests", *paper.package.split("."), values["study"])
    names = ("__init__.py", "experiment.py", "trial.py", "quantities.py")
    new = dict(files)
    new |= {paper.folder / values["study"] / n: _filled(f"task/{n}", values) for n in names}
    new[paper.folder / values["study"] / f"{word}.py"] = _filled("task/task.py", values)
    new[tests / f"test_{word}.py"] = _filled("task/test.py", values)
    if taken := [path for path in new if is_there(path)]:
        raise UsageError(f"{taken[0]} is there already, and nothing is replaced: move it away")
    for folder in (top / "tests", tests.parent, tests):
        if not is_there(folder / "__init__.py"):
            new[folder / "__init__.py"] = ""
    for path, text in new.items():
        write_text(path, text)
    listed = paper.folder / "paper.toml"
    write_text(listed, index + _filled("item.toml", values))
    return Written(f"{paper.name}/{word}", [*new, listed], tests)
