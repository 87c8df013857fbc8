"""How the tree is built: which way imports go, what a paper's folder holds, how long code is."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

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
HEAVY = ("torch", "pandas", "pandera", "seaborn", "matplotlib", "scipy", "transformers")
MAX_FILE, MAX_FUNCTION = 400, 40
REASON = re.compile(r"\b(because|since|so that|one piece|belongs together|longer)\b")


def name_of(path: Path) -> str:
    """Return where a file lies, as tests print it."""
    return str(path.relative_to(ROOT))


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def module_of(path: Path) -> str:
    parts = list(path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(path: Path) -> set[str]:
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
    return found


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


def test_harness_knows_no_paper() -> None:
    assert offenders("harness/", "reproductions", "tests") == []


def test_reproductions_know_neither_commands_nor_tests() -> None:
    forbidden = (
        "harness.cli",
        "harness.commands",
        "harness.run",
        "harness.publish.report",
        "tests",
    )
    assert offenders("reproductions/", *forbidden) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_no_paper_imports_another(paper: str) -> None:
    others = [f"reproductions.{other}" for other in PAPERS if other != paper]
    assert offenders(f"reproductions/{paper}/", *others) == []


def test_nets_and_kernels_import_no_paper() -> None:
    papers = [f"reproductions.{paper}" for paper in PAPERS]
    for shared in SHARED:
        assert offenders(f"reproductions/{shared}/", *papers) == []


@pytest.mark.parametrize("paper", PAPERS)
def test_experiments_and_methods_import_no_task(paper: str) -> None:
    folder = f"reproductions/{paper}/"
    assert offenders(folder, f"reproductions.{paper}.tasks", but=f"{folder}tasks/") == []


@pytest.mark.parametrize("paper", PAPERS)
def test_exported_method_imports_no_experiment(paper: str) -> None:
    """What `from reproductions.<paper> import X` gives must stand without the harness's grids."""
    init = ROOT / "reproductions" / paper / "__init__.py"
    assert not [name for name in imports_of(init) if f".{paper}.experiments" in name]


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


@pytest.mark.parametrize("folder", ["tasks", "experiments"])
def test_declarations_name_nothing_heavy_at_module_level(folder: str) -> None:
    found = [
        f"{name_of(path)}: {imported}"
        for path in SOURCES
        if path.parent.name == folder and path.parts[-4] == "reproductions"
        for imported in module_level_imports(path)
        if below(imported, *HEAVY)
    ]
    assert found == []


def test_importing_every_task_loads_nothing_heavy() -> None:
    code = (
        "import sys; from harness.registry import load_registry; library = load_registry();"
        f"found = [m for m in {HEAVY} if m in sys.modules];"
        "assert library.tasks and not found, found"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("paper", PAPERS)
def test_paper_folder_has_the_shape_of_all(paper: str) -> None:
    folder = ROOT / "reproductions" / paper
    needed = ["README.md", "paper.toml", "deviations.toml", "__init__.py"]
    needed += ["experiments/__init__.py", "tasks/__init__.py"]
    missing = [name for name in needed if not (folder / name).is_file()]
    assert missing == []
    assert list((folder / "reference").glob("*.csv"))
    folders = {path.name for path in folder.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= {"experiments", "tasks", "reference", "kernels", "lm_tasks", "federated"}
    strays = [p.name for p in (folder / "tasks").glob("*.py") if not is_task_file(p.stem)]
    assert strays == []


def is_task_file(stem: str) -> bool:
    """Say whether a stem is `tab01_words`, `fig03_words`, or words of our own."""
    return stem == "__init__" or bool(
        re.fullmatch(r"(tab\d{2}|fig\d{2}|[a-z]+)(_[a-z0-9_]+)?", stem)
    )


def test_files_are_short_or_say_why() -> None:
    long = [
        f"{name_of(path)}: {count} lines"
        for path in SOURCES
        if (count := len(path.read_text().splitlines())) > MAX_FILE
        and not REASON.search(ast.get_docstring(tree_of(path)) or "")
    ]
    assert long == [], f"at most {MAX_FILE} lines, or a docstring that says why"


def test_functions_are_short_or_say_why() -> None:
    long = [
        f"{name_of(path)}:{node.lineno} {node.name}: {count} lines"
        for path in SOURCES
        for node in ast.walk(tree_of(path))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
        and (count := (node.end_lineno or 0) - node.lineno + 1) > MAX_FUNCTION
        and not REASON.search(ast.get_docstring(node) or "")
    ]
    assert long == [], f"at most {MAX_FUNCTION} lines, or a docstring that says why"


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
        # harness.store.atomic's own functions are called by their bare names.
        method = name in ("write_text", "write_bytes") and isinstance(node.func, ast.Attribute)
        saves = name in ("savefig", "save_file", "to_csv", "savez", "dump") and owner != "json"
        if opens or (method and owner != "atomic") or (saves and not in_memory(node)):
            yield f"{name_of(path)}:{node.lineno} {name}"


def in_memory(call: ast.Call) -> bool:
    """Say whether a call writes to a stream of ours, or returns text."""
    first = call.args[0] if call.args else None
    return first is None or getattr(first, "id", "") in ("stream", "buffer", "node", "tree")


def test_only_atomic_writes_files() -> None:
    found = [w for path in SOURCES if path.name != "atomic.py" for w in writes_in(path)]
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
