"""Papers are found, here and in other packages; what does not import is shown, not hidden."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pytest

from harness.errors import UsageError
from harness.registry import Library, load_experiment, load_registry
from tests.harness.toy_paper import TASK, ToyPaper

Load = Callable[[], Library]
TASK_FILE = "squares/tab01.py"


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
    assert library.titles["toylab/tab01"] == "Squares grow"
    assert library.papers["toylab"].folder == toy.folder
    assert library.files["toylab/tab01"] == TASK_FILE
    experiment = library.experiments["toylab/squares"]
    assert library.tasks_of(experiment) == [library.tasks["toylab/tab01"]]
    assert load_experiment(library.module_of(experiment), "toylab/squares") is experiment


@pytest.mark.parametrize("package", ["otherlab", "otherlab.papers", "json"])
def test_entry_point_to_nothing_is_shown(load: Load, toy: ToyPaper, package: str) -> None:
    add_distribution(toy, "otherlab", package)
    library = load()
    assert library.broken[package.rsplit(".", 1)[-1]].file == "entry point"
    assert "toylab/tab01" in library.tasks


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
        (TASK, "paper.toml lists squares/fig02.py for toylab/fig02, not for toylab/tab01"),
        (TASK.replace("toylab/tab01", "other/fig02"), "not for other/fig02"),
        (TASK.replace("at_least(growth, 1.0", "within(growth, 2, 1"), "nothing can meet it"),
    ],
)
def test_broken_task_is_shown_with_its_reason(
    load: Load, toy: ToyPaper, text: str, reason: str
) -> None:
    toy.add_task("fig02", text)
    library = load()
    broken = [entry for entry in library.broken.values() if entry.file == "squares/fig02.py"]
    assert [entry.id for entry in broken] == ["toylab/fig02"]
    assert reason in broken[0].reason
    assert list(library.select(["toylab"])) == [library.tasks["toylab/tab01"]]


@pytest.mark.parametrize("name", ["fig02", "tab07b", "fig10_left"])
def test_file_of_a_table_or_figure_that_no_item_lists_is_shown_as_broken(
    load: Load, toy: ToyPaper, name: str
) -> None:
    toy.add_file(f"squares/{name}.py", TASK.replace("tab01", "fig02"))
    library = load()
    broken = library.broken[f"toylab/{name}"]
    assert broken.file == f"squares/{name}.py"
    assert "no item of paper.toml names this file" in broken.reason
    assert "toylab/fig02" not in library.tasks
    with pytest.raises(UsageError, match=f"task toylab/{name} is broken"):
        library.select([f"toylab/{name}"])


def test_paper_file_that_lists_a_task_twice_breaks_the_paper(load: Load, toy: ToyPaper) -> None:
    toy.add_task("tab01", TASK)
    library = load()
    assert "item 'tab01' is listed twice" in library.broken["toylab"].reason
    assert "toylab/tab01" not in library.tasks


def test_second_experiment_of_a_name_is_shown_as_broken(load: Load, toy: ToyPaper) -> None:
    toy.add_file("squares/twin.py", toy.experiment.read_text())
    toy.add_task(
        "tab02", TASK.replace("squares.experiment", "squares.twin").replace("tab01", "tab02")
    )
    library = load()
    assert "experiment 'toylab/squares' is declared twice" in library.broken["toylab/tab02"].reason
    assert "toylab/tab02" not in library.tasks


def test_selectors(load: Load, toy: ToyPaper) -> None:
    toy.add_task("fig02", TASK.replace("tab01", "fig02"))
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
    [
        ("toylab/tab1", "'toylab/tab01'"),
        ("toylb", "'toylab'"),
        ("nothing/*", "no task matches"),
        ("toylab/squares", "is an experiment: name a task that shows it, toylab/tab01"),
    ],
)
def test_unknown_selector_names_the_nearest(load: Load, selector: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load().select([selector])
    assert hint in str(caught.value)


def test_paper_without_items_is_a_paper_without_tasks(load: Load, toy: ToyPaper) -> None:
    paper = toy.folder / "paper.toml"
    text = paper.read_text()
    paper.write_text(text[: text.index("[[item]]")] + "item = []\n")
    toy.task.unlink()
    library = load()
    assert "toylab" in library.papers
    assert library.select(["toylab"]) == []
