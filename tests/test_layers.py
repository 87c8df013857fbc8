"""How the tree is built: which way imports go, what a paper's folder holds, how long code is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

import pytest

from harness.registry import load_registry
from tests.checkout import ROOT

SHARED = ("nets", "kernels")
PAPERS = sorted(
    path.parent.name
    for path in (ROOT / "reproductions").glob("*/paper.toml")
    if path.parent.name not in SHARED
)
SOURCES = sorted(
    path for top in ("harness", "reproductions") for path in (ROOT / top).rglob("*.py")
)
HEAVY = ("torch", "pandas", "seaborn", "matplotlib", "scipy", "transformers")
MAX_FILE, MAX_FUNCTION, MAX_ENTRIES = 400, 40, 22
PAPER_FOLDERS = ROOT / "reproductions"
LIBRARY = ("method", "models")
"""Folders of a paper that hold no study."""
KERNELS = PAPER_FOLDERS / "kernels"
STUDIES_OF_KERNELS = ("compiled", "floors", "on_device", "speed")
"""What measures kernels; the other folders are a kernel each."""


def name_of(path: Path) -> str:
    """Return where a file lies, as tests print it."""
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def imports_of(path: Path) -> frozenset[str]:
    """Return all absolute names a file imports, members as modules too, at any depth."""
    package = module_of(path) if path.name == "__init__.py" else module_of(path).rpartition(".")[0]
    found: set[str] = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            kept = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*kept, node.module or ""]).rstrip(".") if node.level else node.module
            found |= {str(base), *(f"{base}.{alias.name}" for alias in node.names)}
    return frozenset(found)


def below(imported: str, *modules: str) -> bool:
    return any(imported == module or imported.startswith(f"{module}.") for module in modules)


def offenders(folder: str, *forbidden: str, but: str = "") -> list[str]:
    return [
        f"{name_of(path)} imports {imported}"
        for path in SOURCES
        if name_of(path).startswith(folder) and not (but and name_of(path).startswith(but))
        for imported in sorted(imports_of(path))
        if below(imported, *forbidden)
    ]


def test_there_is_something_to_check() -> None:
    assert "supar" in PAPERS
    assert len(SOURCES) > 50
    assert "harness.declare.task" in imports_of(ROOT / "harness" / "registry.py")
    assert "torch" in imports_of(ROOT / "reproductions" / "nets" / "gpt.py")


def test_harness_knows_no_tests() -> None:
    """What packages know of each other is held by the contracts in pyproject.toml."""
    assert offenders("harness/", "reproductions", "tests", "tools") == []
    assert offenders("reproductions/", "tests", "tools") == []


def studies_of(paper: str) -> list[str]:
    """Return the folders of a paper that hold a study."""
    folder = PAPER_FOLDERS / paper
    found = (path for path in folder.iterdir() if (path / "__init__.py").is_file())
    return sorted(path.name for path in found if path.name not in LIBRARY)


@pytest.mark.parametrize("paper", PAPERS)
def test_the_method_knows_nothing_of_runs(paper: str) -> None:
    """It stands where nothing but torch and numpy is, and knows no study, model or declaration."""
    above = [f"reproductions.{paper}.{name}" for name in ("models", *studies_of(paper))]
    assert offenders(f"reproductions/{paper}/method/", *above, "harness.declare") == []
    assert offenders(f"reproductions/{paper}/__init__.py", *above[1:], "harness.declare") == []


@pytest.mark.parametrize("paper", PAPERS)
def test_models_know_no_study(paper: str) -> None:
    above = [f"reproductions.{paper}.{name}" for name in studies_of(paper)]
    assert offenders(f"reproductions/{paper}/models/", *above) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_a_study_imports_another_for_its_experiment_alone(paper: str) -> None:
    found = []
    for study in studies_of(paper):
        others = [f"reproductions.{paper}.{name}" for name in studies_of(paper) if name != study]
        for path in (PAPER_FOLDERS / paper / study).rglob("*.py"):
            found += [
                f"{name_of(path)} imports {module}"
                for module in imported_modules(path)
                if below(module, *others) and module not in others and not is_declared(module)
            ]
    assert found == []


def imported_modules(path: Path) -> set[str]:
    """Return the modules of our own that a file imports."""
    return {name for name in imports_of(path) if (ROOT / f"{name.replace('.', '/')}.py").is_file()}


def is_declared(module: str) -> bool:
    """Say whether a module of a study declares an experiment, by its name."""
    return module.rpartition(".")[2] == "experiment"


def test_a_kernel_knows_neither_its_studies_nor_their_cases() -> None:
    above = [f"reproductions.kernels.{name}" for name in ("cases", *STUDIES_OF_KERNELS)]
    kernels = {path.parent for path in KERNELS.glob("*/plain.py")}
    folders = {path.parent for path in KERNELS.glob("*/__init__.py")}
    assert folders - kernels == {KERNELS / name for name in (*STUDIES_OF_KERNELS, "toolchain")}
    for folder in kernels:
        where = f"reproductions/kernels/{folder.name}/"
        assert offenders(where, *above, "harness.declare", "harness.measure") == []


RANKS = ("experiment", "trial", "quantities", "table", "figures")


@pytest.mark.parametrize("paper", PAPERS)
def test_inside_a_study_imports_go_one_way(paper: str) -> None:
    """A task knows table, quantities and figures; these the experiment; nobody knows a task."""
    found = []
    for study in studies_of(paper):
        package = f"reproductions.{paper}.{study}"
        for path in (PAPER_FOLDERS / paper / study).glob("*.py"):
            inner = {m.removeprefix(f"{package}.") for m in imported_modules(path)
                     if m.startswith(f"{package}.")}  # fmt: skip
            if not is_task_file(path.stem):
                found += [f"{name_of(path)} imports {m}" for m in inner if is_task_file(m)]
            if path.stem == "experiment":
                found += [f"{name_of(path)} imports {m}" for m in inner if m in RANKS[1:]]
    assert found == []


@cache
def task_words() -> frozenset[str]:
    """Return the stems of all files that hold a task; each has its item's word."""
    return frozenset(Path(file).stem for file in load_registry().files.values())


def is_task_file(stem: str) -> bool:
    return stem in task_words()


def test_no_module_imports_itself_in_a_circle() -> None:
    """Imports inside functions and those for types count too."""
    graph = {module_of(path): imported_modules_of_package(path) for path in SOURCES}
    assert circles(graph) == []


def imported_modules_of_package(path: Path) -> frozenset[str]:
    """Return what a file imports among our modules; a package where a name is its own."""
    names = {module_of(source) for source in SOURCES}
    found = imports_of(path) & names
    # `from package import module` is an import of the module, not of the package's face.
    faces = {name for name in found if any(other.startswith(f"{name}.") for other in found)}
    return found - faces - {module_of(path)}


def circles(graph: Mapping[str, Set[str]]) -> list[list[str]]:
    """Return the groups of modules that reach each other, each sorted."""
    reach = {name: reachable(graph, name) for name in graph}
    groups = {
        tuple(sorted({name, *(o for o in reach[name] if name in reach.get(o, set()))}))
        for name in graph
        if name in reach[name]
    }
    return [list(group) for group in sorted(groups)]


def reachable(graph: Mapping[str, Set[str]], start: str) -> set[str]:
    found: set[str] = set()
    pending = list(graph[start])
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending += graph.get(name, set())
    return found


def test_a_circle_is_found() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == [["b", "c"]]


def module_level_imports(path: Path) -> Iterator[str]:
    """Yield what a file imports when it is imported; `if TYPE_CHECKING` is not."""
    pending: list[ast.stmt] = list(tree_of(path).body)
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.dump(node.test):
            pending += [*node.body, *node.orelse]
        elif isinstance(node, ast.Try):
            pending += [*node.body, *node.orelse, *node.finalbody]


def is_declaration(path: Path) -> bool:
    """Say whether every reading verb imports a file: tasks, and what they are declared from."""
    return path.stem in ("experiment", "table", "quantities") or is_task_file(path.stem)


def test_declarations_name_nothing_heavy_at_module_level() -> None:
    found = [
        f"{name_of(path)}: {imported}"
        for path in SOURCES
        if path.is_relative_to(PAPER_FOLDERS) and is_declaration(path)
        for imported in module_level_imports(path)
        if below(imported, *HEAVY)
    ]
    assert found == []


LIGHT = f"""
import sys
from harness.registry import load_registry
from harness.declare.profiles import PROFILES

library = load_registry()
found = [name for name in {HEAVY} if name in sys.modules]
assert library.tasks and not found, found
for experiment in library.experiments.values():
    for point in (p for profile in PROFILES for p in experiment.params_of(profile)):
        experiment.needs_of(point)
        estimate = experiment.estimate_of(point)
        assert estimate is None or estimate.seconds >= 0
assert "torch" not in sys.modules
"""


def test_tasks_are_imported_without_anything_heavy_and_counted_without_torch() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIGHT], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("paper", PAPERS)
def test_paper_folder_has_the_shape_of_all(paper: str) -> None:
    folder = PAPER_FOLDERS / paper
    needed = ["README.md", "paper.toml", "deviations.toml", "__init__.py", "method/__init__.py"]
    assert [name for name in needed if not (folder / name).is_file()] == []
    assert list((folder / "reference").glob("*.csv"))
    strays = {p.name for p in folder.glob("*.py")} - {"__init__.py", "__main__.py"}
    assert strays == set(), "a module lies in method/, in models/ or in a study"
    folders = {path.relative_to(folder).parts[0] for path in folder.glob("*/**/*.py")}
    bare = sorted(name for name in folders if not is_room(folder / name))
    assert bare == [], "a folder is the method, models, reference values, or a study with its task"


def is_room(folder: Path) -> bool:
    """Say whether a paper's folder is of the library, of reference values, or a study."""
    if folder.name in (*LIBRARY, "reference", "__pycache__"):
        return True
    files = {str(path.relative_to(folder)) for path in folder.rglob("*.py")}
    listed = re.findall(rf'"{folder.name}/(\w+\.py)"', (folder.parent / "paper.toml").read_text())
    has_experiment = any(Path(name).stem.startswith("experiment") for name in files)
    return "__init__.py" in files and has_experiment and bool(files & set(listed))


@pytest.mark.parametrize("paper", PAPERS)
def test_every_task_has_a_file_of_its_name(paper: str) -> None:
    library = load_registry()
    files = {task_id: name for task_id, name in library.files.items() if task_id.startswith(paper)}
    assert len(set(files.values())) == len(files)
    named = {task_id: Path(name).stem for task_id, name in files.items()}
    assert named == {task_id: task_id.split("/")[1] for task_id in files}


def test_folders_are_small_enough_to_read() -> None:
    crowded = {}
    for top in ("harness", "reproductions", "tools"):
        for folder in [
            p for p in (ROOT / top).rglob("*") if p.is_dir() and p.name != "__pycache__"
        ]:
            entries = [p for p in folder.iterdir() if p.name != "__pycache__"]
            if len(entries) > MAX_ENTRIES and folder.name != "reference":
                crowded[name_of(folder)] = len(entries)
    assert crowded == {}


def test_files_are_short() -> None:
    long = [
        f"{name_of(path)}: {count} lines"
        for path in SOURCES
        if (count := len(path.read_text().splitlines())) > MAX_FILE
    ]
    assert long == [], f"at most {MAX_FILE} lines"


def test_functions_are_short() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}: {count} lines"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (count := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION
    ]
    assert long == [], f"at most {MAX_FUNCTION} lines"


def test_public_functions_have_docstrings_in_the_harness() -> None:
    bare = [
        f"{name_of(path)}:{node.lineno} {node.name}"
        for path in SOURCES
        if name_of(path).startswith("harness/")
        for node in tree_of(path).body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef))
        and not node.name.startswith("_")
        and node.end_lineno is not None
        and node.end_lineno - node.lineno > 8
        and not ast.get_docstring(node)
    ]
    assert bare == []


def writes_in(path: Path) -> Iterator[str]:
    """Yield calls that open a file for writing."""
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        if any(keyword.arg == "fileobj" for keyword in node.keywords):
            continue  # a stream in memory
        owner = getattr(getattr(node.func, "value", None), "id", "")
        modes = [a.value for a in [*node.args, *(k.value for k in node.keywords)]
                 if isinstance(a, ast.Constant) and isinstance(a.value, str)]  # fmt: skip
        opens = name == "open" and any(re.fullmatch(r"[rbt]*[wax+][bt+]*", mode) for mode in modes)
        # harness.atomic's own functions are called by their bare names.
        method = name in ("write_text", "write_bytes") and isinstance(node.func, ast.Attribute)
        saves = name in ("savefig", "save_file", "to_csv", "savez", "dump") and owner != "json"
        if opens or (method and owner != "atomic") or (saves and not in_memory(node)):
            yield f"{name_of(path)}:{node.lineno} {name}"


def in_memory(call: ast.Call) -> bool:
    """Say whether a call writes to a stream of ours, or returns text."""
    first = call.args[0] if call.args else None
    return first is None or getattr(first, "id", "") in ("stream", "buffer", "node", "tree")


def test_only_atomic_writes_files() -> None:
    # What a user names may be a pipe or a device.
    free = ("atomic.py", "out.py")
    found = [w for path in SOURCES if path.name not in free for w in writes_in(path)]
    assert found == []


def test_comments_and_identifiers_are_ascii() -> None:
    found = []
    for path in SOURCES:
        for number, line in enumerate(path.read_text().splitlines(), start=1):
            comment = re.search(r"(^|\s)#[^'\"]*$", line)
            if comment and not comment[0].isascii():
                found.append(f"{name_of(path)}:{number}")
        found += [
            f"{name_of(path)}: {node.id}"
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.Name) and not node.id.isascii()
        ]
    assert found == []


def tracked_files() -> list[Path]:
    """Return what git tracks, or would: everything that is not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if listed.returncode:
        pytest.skip("this is no git checkout")
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_nothing_tracked_names_a_place_on_one_machine() -> None:
    places = re.compile(r"(?<![\w.$}])/(work|home/\w+|Users/\w+|root|mnt)/\w")
    found = []
    for path in tracked_files():
        if path.suffix in (".gz", ".png", ".npz", ".pdf"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [f"{name_of(path)}: {match[0]}" for match in places.finditer(text)]
    assert found == []
