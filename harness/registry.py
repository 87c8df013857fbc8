"""Finds papers, tasks and experiments; imports them, but nothing heavy.

A paper is a package with a `paper.toml`. Ours lie under `reproductions`; another distribution
adds its own by an entry point of the group `paper_reproductions.papers` that names a paper
package, or a package that holds several.
"""

from __future__ import annotations

import fnmatch
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeVar

from harness.errors import SpecError, UsageError, nearest
from harness.untrusted import UnreadableError, in_one_line, is_there, read_toml

if TYPE_CHECKING:  # a list of tasks needs none of it
    from harness.declare.experiment import Experiment
    from harness.declare.papers import Item
    from harness.declare.task import Kind, Task

ENTRY_POINTS = "paper_reproductions.papers"
BUILT_IN = "reproductions"
TASK_FILE = re.compile(r"(tab|fig)\d+[a-z]?(_|$)")

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PaperFolder:
    """A paper as found on disk."""

    name: str
    package: str
    folder: Path


@dataclass(frozen=True, slots=True)
class BrokenTask:
    """A task file, or a whole paper, that cannot be used: shown with its reason, not hidden."""

    id: str
    file: str
    reason: str


@dataclass(slots=True)
class Library:
    """Everything that is declared."""

    papers: dict[str, PaperFolder] = field(default_factory=dict)
    tasks: dict[str, Task] = field(default_factory=dict)
    experiments: dict[str, Experiment] = field(default_factory=dict)
    broken: dict[str, BrokenTask] = field(default_factory=dict)
    modules: dict[str, str] = field(default_factory=dict)
    """Task id -> module that declares it."""
    files: dict[str, str] = field(default_factory=dict)
    """Task id -> its file, relative to the paper's folder."""
    titles: dict[str, str] = field(default_factory=dict)
    """Task id -> its title, from paper.toml."""

    def tasks_of(self, experiment: Experiment) -> list[Task]:
        """Return the tasks that show an experiment, in the order of their ids."""
        return [task for _, task in sorted(self.tasks.items()) if experiment in task.reads]

    def module_of(self, experiment: Experiment) -> str:
        """Return a task module through which a worker finds the experiment."""
        for task_id, task in self.tasks.items():
            if experiment in experiments_of([task]):
                return self.modules[task_id]
        raise SpecError(f"experiment {experiment.id} is read by no task")

    def broken_among(self, selectors: Sequence[str]) -> list[BrokenTask]:
        """Return what is broken of what some selectors ask for: all of it for none."""
        found = []
        for item in self.broken.values():
            # Of a whole paper every pattern asks that would find a task of it.
            is_task = "/" in item.id
            asked = [each if is_task else each.partition("/")[0] for each in selectors]
            if not selectors or any(matches(each, [item.id]) for each in asked):
                found.append(item)
        return found

    def select(self, selectors: Sequence[str], kind: Kind | None = None) -> list[Task]:
        """Return tasks by id, shell pattern or paper name, sorted, each once; all for none.

        What is broken among them is passed over: `broken_among` tells it.
        Raises UsageError for a selector that matches nothing, or just one task that is broken.
        """
        for selector in selectors:
            if selector in self.broken and "/" in selector:
                raise UsageError(f"task {selector} is broken: {self.broken[selector].reason}")
            if selector in self.experiments and selector not in self.tasks:
                shown = ", ".join(task.id for task in self.tasks_of(self.experiments[selector]))
                raise UsageError(f"{selector} is an experiment: name a task that shows it, {shown}")
        able = [s for s in selectors if matches(s, self.tasks) or not self.broken_among([s])]
        chosen = selected(able, self.tasks, self.papers) if able or not selectors else []
        tasks = [self.tasks[name] for name in chosen]
        return [task for task in tasks if kind is None or task.kind == kind]

    def one(self, selector: str) -> Task:
        """Return the one task that a selector names. Raises UsageError for none or several."""
        tasks = self.select([selector])
        if len(tasks) != 1:
            raise UsageError(f"{selector!r} names {len(tasks)} tasks: name one")
        return tasks[0]


def matches(selector: str, tasks: Iterable[str]) -> list[str]:
    """Return the ids that a selector names: a task's id, a shell pattern, or a paper."""
    names = list(tasks)
    found = fnmatch.filter(names, selector)
    return found or [name for name in names if name.split("/")[0] == selector]


def selected(
    selectors: Sequence[str], tasks: Collection[str], papers: Collection[str]
) -> list[str]:
    """Return the ids that some selectors name, sorted, each once; all for none.

    Raises UsageError for one that names nothing; a paper may have no task yet.
    """
    chosen: set[str] = set()
    for selector in selectors or ["*"]:
        found = matches(selector, tasks)
        if not found and selectors and selector not in papers:
            hint = nearest(selector, [*tasks, *papers])
            raise UsageError(f"no task matches {selector!r}{hint} (repro list shows all)")
        chosen.update(found)
    return sorted(chosen)


def experiments_of(tasks: Iterable[Task]) -> list[Experiment]:
    """Return the experiments of some tasks and all that they start from, each once.

    What others start from comes first.
    """
    found: dict[Experiment, None] = {}

    def add(experiment: Experiment) -> None:
        for use in experiment.uses:
            add(use.experiment)
        found[experiment] = None

    for task in tasks:
        for experiment in task.reads:
            add(experiment)
    return list(found)


def load_registry(papers: Collection[str] | None = None) -> Library:
    """Import task files, of some papers alone where these are given.

    A file that fails becomes a `BrokenTask`.
    """
    library = Library()
    for name in _packages():
        try:
            for paper in _papers_in(name):
                if papers is None or paper.name in papers:
                    _load_paper(library, paper)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package raises is its reason
            if papers is None:
                _add_broken(library, name.rsplit(".", 1)[-1], "entry point", error)
    return library


def load_asked(selectors: Sequence[str]) -> Library:
    """Import what some selectors ask for: their papers, or all where these cannot be told."""
    try:
        asked = {name.split("/")[0] for name in find_tasks(selectors)}
    except (SpecError, UsageError):
        return load_registry()
    return load_registry(asked if selectors else None)


def find_tasks(selectors: Sequence[str] = ()) -> dict[str, str]:
    """Return titles by task id as paper.toml lists them, sorted, without importing anything.

    Raises SpecError for an entry point that leads to no paper, two papers of one name, and a
    paper.toml that is not as it should be: `load_registry` says all of what is wrong there;
    UsageError for a selector that names nothing.
    """
    papers: dict[str, PaperFolder] = {}
    for package in _packages():
        for paper in _papers_in(package):
            if papers.setdefault(paper.name, paper) != paper:
                raise SpecError(f"paper {paper.name!r} is declared twice: rename one of them")
    titles = {f"{name}/{word}": title
              for name, paper in papers.items() for word, title in _titles(paper)}  # fmt: skip
    return {name: titles[name] for name in selected(selectors, titles, papers)}


def _titles(paper: PaperFolder) -> Iterator[tuple[str, str]]:
    path = paper.folder / "paper.toml"
    try:
        for item in read_toml(path)["item"]:
            if file := item.get("file"):
                if not is_there(paper.folder / file):
                    raise SpecError(f"{path} lists {file}, which is not there")
                yield str(item.get("id", Path(file).stem)), str(item["title"])
    except (UnreadableError, KeyError, TypeError, AttributeError, OSError) as error:
        raise SpecError(f"{path} is no list of tasks ({in_one_line(error)})") from error


def _packages() -> list[str]:
    """Return the packages that hold papers: ours first, others by name, each once."""
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    # The same distribution may be found twice on the path.
    return list(dict.fromkeys([BUILT_IN, *sorted(point.module for point in points)]))


def _papers_in(name: str) -> list[PaperFolder]:
    """Return the papers in a package: itself, or those that it holds.

    Raises SpecError if there is no such package, or no paper in it.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SpecError(f"no package is called {name!r}: correct its entry point or install it")
    folder = Path(spec.submodule_search_locations[0])
    places = {name: folder} | {f"{name}.{each.name}": each for each in sorted(folder.iterdir())}
    # A paper.toml that is a link to nothing is a broken paper, not none.
    found = {package: at for package, at in places.items() if is_there(at / "paper.toml")}
    if not found:
        raise SpecError(f"{name} holds no paper: a paper is a package with a paper.toml")
    return [PaperFolder(package.rsplit(".", 1)[-1], package, at) for package, at in found.items()]


def _load_paper(library: Library, paper: PaperFolder) -> None:
    """Add a paper and its tasks; what fails is shown as broken."""
    from harness.declare.papers import load_deviations, load_paper

    name, folder, file = paper.name, paper.folder, "paper.toml"
    try:
        meta = load_paper(folder)
        _add("paper", library.papers, name, paper)
        file = "deviations.toml"
        load_deviations(folder)
        file = "__init__.py"
        importlib.import_module(paper.package)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is its reason
        _add_broken(library, name, file, error)
        return
    files = [item.file for item in meta.items]
    for item in meta.items:
        if item.file:
            _load_task(library, paper, item)
    for path in _task_files(folder):
        if (file := path.relative_to(folder).as_posix()) not in files:
            unlisted = SpecError("no item of paper.toml names this file: list it there")
            _add_broken(library, f"{name}/{path.stem}", file, unlisted)


def _task_files(folder: Path) -> list[Path]:
    """Return the files of a paper that hold a table or figure, by their names, wherever they lie.

    Inside a study is their place, but one that lies elsewhere must be told too.
    """
    return sorted(path for path in folder.rglob("*.py") if TASK_FILE.match(path.stem))


def _add(what: str, known: dict[str, T], name: str, item: T) -> None:
    """Register an item. Raises SpecError if another one has that name."""
    if known.setdefault(name, item) is not item:
        raise SpecError(f"{what} {name!r} is declared twice: rename one of them")


def _add_broken(library: Library, name: str, file: str, error: BaseException) -> None:
    reason = f"{type(error).__name__}: {in_one_line(error)}"
    library.broken.setdefault(name, BrokenTask(name, file, reason))


def _load_task(library: Library, paper: PaperFolder, item: Item) -> None:
    module_name = ".".join([paper.package, *Path(item.file).with_suffix("").parts])
    task_id = f"{paper.name}/{item.id}"
    try:
        task = _task_in(importlib.import_module(module_name))
        if task.id != task_id:
            raise SpecError(f"paper.toml lists {item.file} for {task_id}, not for {task.id}")
        for experiment in experiments_of([task]):
            _add("experiment", library.experiments, experiment.id, experiment)
        _add("task", library.tasks, task_id, task)
        library.modules[task_id] = module_name
        library.files[task_id] = item.file
        library.titles[task_id] = item.title
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is its reason
        _add_broken(library, task_id, item.file, error)


def _task_in(module: ModuleType) -> Task:
    """Return a module's `task`. Raises SpecError if it has none."""
    from harness.declare.task import Task

    task = getattr(module, "task", None)
    if not isinstance(task, Task):
        raise SpecError(f"{module.__name__} declares no `task`")
    return task


def load_experiment(module_name: str, experiment_id: str) -> Experiment:
    """Return an experiment through a task module, as a worker process does."""
    for experiment in experiments_of([_task_in(importlib.import_module(module_name))]):
        if experiment.id == experiment_id:
            return experiment
    raise SpecError(f"{module_name} reads no experiment {experiment_id}")
