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
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Generic, TypeVar

from harness.declare.experiment import Experiment
from harness.declare.papers import Item, load_deviations, load_paper
from harness.declare.task import Kind, Task
from harness.errors import SpecError, UsageError, nearest
from harness.untrusted import in_one_line, is_there

ENTRY_POINTS = "paper_reproductions.papers"
BUILT_IN = "reproductions"
TASK_FILE = re.compile(r"(tab|fig)\d+[a-z]?(_|$)")

T = TypeVar("T")


class Registry(dict[str, T], Generic[T]):
    """A dict that refuses a second owner of a name and answers a wrong one with the nearest."""

    def __init__(self, what: str) -> None:
        super().__init__()
        self.what = what

    def add(self, name: str, item: T) -> None:
        """Register an item. Raises SpecError if another one has that name."""
        if self.get(name, item) is not item:
            raise SpecError(f"{self.what} {name!r} is declared twice: rename one of them")
        self[name] = item

    def find(self, name: str) -> T:
        """Return the item. Raises UsageError that names the nearest ones."""
        if name not in self:
            raise UsageError(
                f"no {self.what} is called {name!r}{nearest(name, self)} (repro list shows all)"
            )
        return self[name]

    def only(self, names: Iterable[str]) -> Registry[T]:
        """Return it with some of its items."""
        found: Registry[T] = Registry(self.what)
        found.update({name: self[name] for name in names})
        return found


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

    papers: Registry[PaperFolder] = field(default_factory=lambda: Registry("paper"))
    tasks: Registry[Task] = field(default_factory=lambda: Registry("task"))
    experiments: Registry[Experiment] = field(default_factory=lambda: Registry("experiment"))
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
            if any(found is experiment for found in walk_experiments(task)):
                return self.modules[task_id]
        raise SpecError(f"experiment {experiment.id} is read by no task")

    def broken_among(self, selectors: Sequence[str]) -> list[BrokenTask]:
        """Return what is broken of what some selectors ask for: all of it for none."""
        return [
            item
            for item in self.broken.values()
            if not selectors or any(_asks_for(selector, item.id) for selector in selectors)
        ]

    def select(self, selectors: Sequence[str], kind: Kind | None = None) -> list[Task]:
        """Return tasks by id, shell pattern or paper name, sorted, each once; all for none.

        What is broken among them is passed over: `broken_among` tells it.
        Raises UsageError for a selector that matches nothing, or just one task that is broken.
        """
        chosen: set[str] = set()
        for selector in selectors or ["*"]:
            if selector in self.broken and "/" in selector:
                raise UsageError(f"task {selector} is broken: {self.broken[selector].reason}")
            matches = fnmatch.filter(self.tasks, selector)
            if selector in self.papers:
                matches = [name for name in self.tasks if name.split("/")[0] == selector]
            elif not matches and selectors and not self.broken_among([selector]):
                task = selector.partition(":")[0]
                if task != selector and task in self.tasks:
                    raise UsageError(
                        f"{selector!r} names a claim where a task is asked for: write {task}"
                        f" (repro show {selector} tells the claim)"
                    )
                hint = nearest(selector, [*self.tasks, *self.papers])
                raise UsageError(f"no task matches {selector!r}{hint} (repro list shows all)")
            chosen.update(matches)
        tasks = [self.tasks[name] for name in sorted(chosen)]
        return [task for task in tasks if kind is None or task.kind == kind]

    def only(self, tasks: Sequence[Task]) -> Library:
        """Return what declares some tasks, and nothing of any other."""
        return replace(
            self,
            papers=self.papers.only(dict.fromkeys(task.paper for task in tasks)),
            tasks=self.tasks.only(task.id for task in tasks),
            experiments=self.experiments.only(each.id for each in experiments_of(tasks)),
            broken={},
        )

    def as_listed(self, tasks: Iterable[Task]) -> list[Task]:
        """Return tasks in the order in which each paper.toml lists them."""
        places = {name: place for place, name in enumerate(self.tasks)}
        return sorted(tasks, key=lambda task: places[task.id])

    def one(self, selector: str) -> Task:
        """Return the one task that a selector names. Raises UsageError for none or several."""
        tasks = self.select([selector])
        if len(tasks) != 1:
            raise UsageError(f"{selector!r} names {len(tasks)} tasks: name one")
        return tasks[0]


def _asks_for(selector: str, broken_id: str) -> bool:
    """Say whether a selector names what is broken: by its id, by a pattern, or by its paper."""
    paper, _, task = broken_id.partition("/")
    if not task:
        # A whole paper: every pattern that would find a task of it.
        return fnmatch.fnmatchcase(paper, selector.partition("/")[0])
    return selector == paper or fnmatch.fnmatchcase(broken_id, selector)


def walk_experiments(task: Task) -> Iterator[Experiment]:
    """Yield a task's experiments and all that they start from, upstream first."""
    for experiment in task.reads:
        yield from _with_upstream(experiment)


def experiments_of(tasks: Iterable[Task]) -> list[Experiment]:
    """Return the experiments of some tasks and all that they start from, each once."""
    return list(dict.fromkeys(e for task in tasks for e in walk_experiments(task)))


def _with_upstream(experiment: Experiment) -> Iterator[Experiment]:
    for use in experiment.uses:
        yield from _with_upstream(use.experiment)
    yield experiment


def load_registry() -> Library:
    """Import every paper's task files. A file that fails becomes a `BrokenTask`."""
    library = Library()
    points = importlib.metadata.entry_points(group=ENTRY_POINTS)
    # The same distribution may be found twice on the path; ours come first, others by name.
    for name in dict.fromkeys([BUILT_IN, *sorted(point.module for point in points)]):
        try:
            for package, folder in _paper_packages(name):
                _load_paper(library, package, folder)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever a package raises is its reason
            _add_broken(library, name.rsplit(".", 1)[-1], "entry point", error)
    return library


def _paper_packages(name: str) -> list[tuple[str, Path]]:
    """Return import name and folder of the papers in a package: itself, or those that it holds.

    Raises SpecError if there is no such package, or no paper in it.
    """
    spec = importlib.util.find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise SpecError(f"no package is called {name!r}: correct its entry point or install it")
    folder = Path(spec.submodule_search_locations[0])
    inner = [(f"{name}.{each.name}", each) for each in sorted(folder.iterdir()) if each.is_dir()]
    # A paper.toml that is a link to nothing is a broken paper, not none.
    found = [each for each in [(name, folder), *inner] if is_there(each[1] / "paper.toml")]
    if not found:
        raise SpecError(f"{name} holds no paper: a paper is a package with a paper.toml")
    return found


def _load_paper(library: Library, package: str, folder: Path) -> None:
    """Add a paper and its tasks; what fails is shown as broken."""
    name, file = package.rsplit(".", 1)[-1], "paper.toml"
    try:
        meta = load_paper(folder)
        paper = PaperFolder(name, package, folder)
        library.papers.add(name, paper)
        file = "__init__.py"
        importlib.import_module(package)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is its reason
        _add_broken(library, name, file, error)
        return
    try:
        load_deviations(folder)
    except SpecError as error:
        _add_broken(library, f"{name}/deviations", "deviations.toml", error)
    items: dict[str, list[Item]] = {item.file: [] for item in meta.items if item.file}
    for item in meta.items:
        if item.file:
            items[item.file].append(item)
    for file, listed in items.items():
        _load_file(library, paper, file, listed)
    for path in _task_files(folder):
        if path.relative_to(folder).as_posix() not in items:
            unlisted = SpecError("no item of paper.toml names this file: list it there")
            file = path.relative_to(folder).as_posix()
            _add_broken(library, f"{name}/{path.stem}", file, unlisted)


def _task_files(folder: Path) -> list[Path]:
    """Return the files of a paper that hold a table or figure, by their names, wherever they lie.

    Inside a study is their place, but one that lies elsewhere must be told too.
    """
    return sorted(
        Path(where, name)
        for where, _, names in os.walk(folder)
        for name in names
        if name.endswith(".py") and TASK_FILE.match(name.removesuffix(".py"))
    )


def _add_broken(library: Library, name: str, file: str, error: BaseException) -> None:
    # A second broken file of one name must not hide the first.
    while name in library.broken:
        name += "'"
    reason = f"{type(error).__name__}: {in_one_line(error)}"
    library.broken[name] = BrokenTask(name, file, reason)


def _load_file(library: Library, paper: PaperFolder, file: str, listed: Sequence[Item]) -> None:
    module_name = ".".join([paper.package, *Path(file).with_suffix("").parts])
    ids = [f"{paper.name}/{item.id}" for item in listed]
    try:
        found = {task.id: task for task in tasks_in(importlib.import_module(module_name))}
        for task in found.values():
            if task.id not in ids:
                raise SpecError(f"paper.toml lists {file} for {', '.join(ids)}, not for {task.id}")
        for item in listed:
            task = found[f"{paper.name}/{item.id}"]
            for experiment in walk_experiments(task):
                library.experiments.add(experiment.id, experiment)
            library.tasks.add(task.id, task)
            library.modules[task.id] = module_name
            library.files[task.id] = file
            library.titles[task.id] = item.title
    except (Exception, SystemExit) as error:  # noqa: BLE001 - whatever it raises is its reason
        for task_id in ids:
            _add_broken(library, task_id, file, error)


def tasks_in(module: ModuleType) -> list[Task]:
    """Return the tasks of a module: its `task`, or its `tasks`.

    Raises SpecError if it has neither.
    """
    found = getattr(module, "tasks", None) or [getattr(module, "task", None)]
    if not all(isinstance(task, Task) for task in found):
        raise SpecError(f"{module.__name__} declares no `task` and no `tasks`")
    return list(found)


def load_experiment(module_name: str, experiment_id: str) -> Experiment:
    """Return an experiment through a task module, as a worker process does."""
    for task in tasks_in(importlib.import_module(module_name)):
        for experiment in walk_experiments(task):
            if experiment.id == experiment_id:
                return experiment
    raise SpecError(f"{module_name} reads no experiment {experiment_id}")
