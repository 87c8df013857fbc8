"""A new paper or task that runs and passes its tests: files to begin from, none replaced.

Templates lie beside this file, as `string.Template` reads them.
"""

from __future__ import annotations

import importlib.util
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
OWN_METHOD = '''

def running_mean(values: Sequence[float]) -> float:
    """Return the mean of some numbers, which are seen one at a time."""
    mean = 0.0
    for count, value in enumerate(values, start=1):
        mean += (value - mean) / count
    return mean
'''
"""Where the paper has a method of its own, which we do not know."""


@dataclass(frozen=True, slots=True)
class Written:
    """What was made."""

    task_id: str
    files: list[Path]
    tests: Path
    """The folder of its tests."""


def new_paper(library: Library, name: str) -> Written:
    """Write a paper with one task into this checkout.

    Raises UsageError for a name that is taken or cannot be a package's, and outside a checkout.
    """
    _check_word(name, "paper")
    paper = PaperFolder(name, f"{BUILT_IN}.{name}", _built_in() / name)
    if name in library.papers or is_there(paper.folder):
        raise UsageError(f"{paper.folder} is there already: take another name, or repro new task")
    values = _values(paper, FIRST_STUDY, FIRST_WORD)
    found = sorted(path for path in (TEMPLATES / "paper").rglob(f"*{SUFFIX}"))
    names = [str(path.relative_to(TEMPLATES)).removesuffix(SUFFIX) for path in found]
    files = {paper.folder / name.removeprefix("paper/"): _filled(name, values) for name in names}
    values["method_import"] = f"from {paper.package}.method import running_mean\n"
    index = paper.folder / "paper.toml"
    listed = files.pop(index) + _filled("item.toml", values)
    return _write(paper, values, {**files, **_task_files(paper, values)}, index, listed)


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
    values = _values(paper, study, word) | {"method_code": OWN_METHOD}
    index = paper.folder / "paper.toml"
    listed = read_text(index).rstrip("\n") + "\n" + _filled("item.toml", values)
    return _write(paper, values, _task_files(paper, values), index, listed)


def _built_in() -> Path:
    """Return the folder of our papers. Raises UsageError where it is not in a checkout."""
    spec = importlib.util.find_spec(BUILT_IN)
    places = spec.submodule_search_locations if spec else None
    if not places or not is_there(Path(places[0]).parent / "pyproject.toml"):
        raise UsageError(
            "a new paper belongs into a checkout, and this is an installed package: clone the"
            " project and call it there"
        )
    return Path(places[0])


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
        "method_import": "",
        "method_code": "",
    }


def _filled(name: str, values: Mapping[str, str]) -> str:
    text = (TEMPLATES / f"{name}{SUFFIX}").read_text(encoding="utf-8")
    return Template(text).substitute(values)


def _tests_of(paper: PaperFolder) -> Path:
    """Return the folder that mirrors the paper's package, beside the topmost one."""
    top = paper.folder.parents[paper.package.count(".")]
    return Path(top, "tests", *paper.package.split("."))


def _task_files(paper: PaperFolder, values: Mapping[str, str]) -> dict[Path, str]:
    folder, tests = paper.folder / values["study"], _tests_of(paper) / values["study"]
    names = ("__init__.py", "experiment.py", "trial.py", "quantities.py")
    files = {folder / name: _filled(f"task/{name}", values) for name in names}
    files[folder / f"{values['word']}.py"] = _filled("task/task.py", values)
    files |= {each / "__init__.py": "" for each in (tests.parent, tests)}
    files[tests / f"test_{values['word']}.py"] = _filled("task/test.py", values)
    return files


def _write(
    paper: PaperFolder,
    values: Mapping[str, str],
    files: Mapping[Path, str],
    index: Path,
    listed: str,
) -> Written:
    """Write all files, what lists them last: before that nothing knows of them."""
    packages = {path for path in files if path.name == "__init__.py" and is_there(path)}
    new = {path: text for path, text in files.items() if path not in packages}
    if taken := [path for path in new if is_there(path)]:
        raise UsageError(f"{taken[0]} is there already, and nothing is replaced: move it away")
    for path, text in new.items():
        write_text(path, text)
    write_text(index, listed)
    return Written(
        f"{paper.name}/{values['word']}", [*new, index], _tests_of(paper) / values["study"]
    )
