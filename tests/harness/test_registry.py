"""Papers are found, here and in other packages; what does not import is shown, not hidden."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.registry import Library, load_experiment, load_registry
from tests.harness.toy_paper import TASK, ToyPaper

Load = Callable[[], Library]
TASK_FILE = "tasks/tab01_squares.py"


@pytest.fixture
def load(toy: ToyPaper, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """Return a function that loads the registry with the toy paper installed."""
    monkeypatch.syspath_prepend(str(toy.packages))
    ours = ("toylab", "manylab", "otherlab", "twinlab")

    def forget() -> None:
        for name in [m for m in sys.modules if m.split(".")[0] in ours]:
            del sys.modules[name]

    def fresh() -> Library:
        forget()
        return load_registry()

    yield fresh
    forget()


def add_task(toy: ToyPaper, name: str, text: str) -> None:
    (toy.folder / "tasks" / name).write_text(text)


def add_distribution(toy: ToyPaper, name: str, package: str) -> None:
    folder = toy.packages / f"{name}-1.0.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / "entry_points.txt").write_text(f"[paper_reproductions.papers]\n{name} = {package}\n")


def add_paper(toy: ToyPaper, place: str, name: str) -> None:
    """Copy the toy paper under another name to packages/<place>."""
    for source in toy.folder.rglob("*"):
        if source.suffix not in (".py", ".toml"):
            continue
        target = toy.packages / place / source.relative_to(toy.folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = source.read_text().replace("from toylab.", f"from {place.replace('/', '.')}.")
        target.write_text(text.replace("toylab", name))


def test_paper_of_another_distribution_is_found(load: Load, toy: ToyPaper) -> None:
    library = load()
    assert library.tasks["toylab/tab01"].title == "Squares grow"
    assert library.papers["toylab"].folder == toy.folder
    assert library.file_of("toylab/tab01") == TASK_FILE
    experiment = library.experiments["toylab/squares"]
    assert library.tasks_of(experiment) == [library.tasks["toylab/tab01"]]
    assert load_experiment(library.module_of(experiment), "toylab/squares") is experiment


def test_package_with_several_papers_gives_all(load: Load, toy: ToyPaper) -> None:
    for name in ("alpha", "beta"):
        add_paper(toy, f"manylab/{name}", name)
    (toy.packages / "manylab" / "__init__.py").write_text("")
    add_distribution(toy, "manylab", "manylab")
    library = load()
    assert {"alpha/tab01", "beta/tab01", "toylab/tab01"} <= set(library.tasks)


def test_distribution_found_twice_counts_once(load: Load, toy: ToyPaper) -> None:
    add_distribution(toy, "twinlab", "toylab")
    library = load()
    assert "toylab/tab01" in library.tasks
    assert not [name for name in library.broken if "lab" in name]


@pytest.mark.parametrize("package", ["otherlab", "otherlab.papers", "json"])
def test_entry_point_to_nothing_is_shown(load: Load, toy: ToyPaper, package: str) -> None:
    add_distribution(toy, "otherlab", package)
    library = load()
    assert library.broken[package.rsplit(".", 1)[-1]].file == "entry point"
    assert "toylab/tab01" in library.tasks


def test_paper_that_does_not_import_is_shown_with_its_reason(load: Load, toy: ToyPaper) -> None:
    (toy.folder / "__init__.py").write_text("raise RuntimeError('no licence')\n")
    assert load().broken["toylab"].reason == "RuntimeError: no licence"


def test_second_paper_of_a_name_is_shown(load: Load, toy: ToyPaper) -> None:
    add_paper(toy, "manylab/toylab", "toylab")
    (toy.packages / "manylab" / "__init__.py").write_text("")
    add_distribution(toy, "manylab", "manylab")
    library = load()
    assert "declared twice" in library.broken["toylab"].reason


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import no_such_package\n", "ModuleNotFoundError"),
        ("def broken(:\n", "SyntaxError"),
        ("import sys\nsys.exit(5)\n", "SystemExit: 5"),
        ("x = 1\n", "declares no `task`"),
        ("task = 'a word'\n", "declares no `task`"),
        (TASK.replace("toylab/tab01", "other/tab02"), "lies in the folder of toylab"),
        (TASK.replace('"at_least"', '"within"'), "SpecError: claim grows"),
    ],
)
def test_broken_task_is_shown_with_its_reason(
    load: Load, toy: ToyPaper, text: str, reason: str
) -> None:
    add_task(toy, "fig02_broken.py", text)
    library = load()
    broken = [entry for entry in library.broken.values() if entry.file.startswith("tasks/fig02")]
    assert len(broken) == 1
    assert reason in broken[0].reason
    assert "toylab/tab01" in library.tasks


def test_two_broken_files_of_one_figure_are_both_shown(load: Load, toy: ToyPaper) -> None:
    add_task(toy, "fig02_a.py", "1 / 0\n")
    add_task(toy, "fig02_b.py", "1 / 0\n")
    files = {entry.file for entry in load().broken.values()}
    assert {"tasks/fig02_a.py", "tasks/fig02_b.py"} <= files


def test_duplicate_task_id_is_shown_as_broken(load: Load, toy: ToyPaper) -> None:
    add_task(toy, "tab02_twin.py", TASK)
    broken = load().broken["toylab/tab01"]
    assert broken.file == "tasks/tab02_twin.py"
    assert "task 'toylab/tab01' is declared twice" in broken.reason


def test_second_experiment_of_a_name_is_shown_as_broken(load: Load, toy: ToyPaper) -> None:
    text = (toy.folder / "experiments" / "squares.py").read_text()
    (toy.folder / "experiments" / "twin.py").write_text(text)
    twin = TASK.replace("experiments.squares", "experiments.twin").replace("tab01", "tab02")
    add_task(toy, "tab02_twin.py", twin)
    library = load()
    assert "experiment 'toylab/squares' is declared twice" in library.broken["toylab/tab02"].reason
    assert "toylab/tab02" not in library.tasks


def test_broken_word_is_the_whole_stem_where_it_is_no_number(load: Load, toy: ToyPaper) -> None:
    add_task(toy, "abl_mu_nu.py", "1 / 0\n")
    with pytest.raises(UsageError, match="task toylab/abl_mu_nu is broken: ZeroDivisionError"):
        load().select(["toylab/abl_mu_nu"])


def test_tasks_of_one_file_are_all_found(load: Load, toy: ToyPaper) -> None:
    text = TASK.replace("task = old_task(", "def make(id): return old_task(").replace(
        'id="toylab/tab01"', "id=id, kind='table'"
    )
    add_task(toy, "fig03_family.py", text + "\ntasks = [make('toylab/fig03'), make('toylab/x')]\n")
    assert {"toylab/fig03", "toylab/x"} <= set(load().tasks)


def test_selectors(load: Load, toy: ToyPaper) -> None:
    add_task(toy, "fig02_more.py", TASK.replace("tab01", "fig02"))
    library = load()
    both = ["toylab/fig02", "toylab/tab01"]

    def ids(*selectors: str, **kind: str) -> list[str]:
        return [t.id for t in library.select(selectors, **kind)]  # type: ignore[arg-type]

    assert ids("toylab/tab01") == ["toylab/tab01"]
    assert ids("toylab/*") == ids("toylab") == ids("toylab/tab01", "toylab") == both
    assert ids("toylab/???0[12]", kind="figure") == ["toylab/fig02"]
    assert set(both) <= set(ids()) == set(library.tasks)


@pytest.mark.parametrize(
    ("selector", "hint"),
    [("toylab/tab1", "'toylab/tab01'"), ("toylb", "'toylab'"), ("nothing/*", "no task matches")],
)
def test_unknown_selector_names_the_nearest(load: Load, selector: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load().select([selector])
    assert hint in str(caught.value)


def test_unknown_experiment_names_the_nearest(load: Load) -> None:
    with pytest.raises(UsageError, match="'toylab/squares'"):
        load().experiments.find("toylab/square")


def test_list_shows_broken_tasks_and_select_refuses_them(toy: ToyPaper) -> None:
    add_task(toy, "fig02_broken.py", "import no_such_package\n")
    listed = toy.repro("list", "--json")
    assert listed.returncode == 0
    assert "toylab/tab01" in [row["id"] for row in json.loads(listed.stdout)]
    assert "broken: toylab/fig02" in listed.stderr
    assert "no_such_package" in listed.stderr
    run = toy.repro("run", "toylab/fig02")
    assert run.returncode == 2
    assert "no_such_package" in run.stderr
    assert "Traceback" not in run.stderr
    assert toy.starts() == []


def test_folder_without_tasks_is_a_paper_without_tasks(load: Load, toy: ToyPaper) -> None:
    for path in Path(toy.folder / "tasks").glob("tab*.py"):
        path.unlink()
    library = load()
    assert "toylab" in library.papers
    assert library.select(["toylab"]) == []
