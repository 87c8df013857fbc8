"""Faults of a toy method: each is brought in and judged as its kind asks; and the papers' lists."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.mutate.fault import FaultError, drawn, load_faults, papers_of
from tests.test_layers import PAPERS

FILES = {
    "method.py": """
        RATE = 2

        def doubled(number):
            return RATE * number

        def untested(number):
            return number

        class Halved:
            number = 4

            @property
            def value(self):
                return self.number / 2
        """,
    "user.py": "from toys.ring.method import doubled as by_value",
    "test_method.py": """
        import subprocess
        import sys
        import time

        from toys.ring import method, user

        def test_by_value():
            assert user.by_value(1) == 2

        def test_in_another_process():
            code = "from toys.ring.method import doubled; assert doubled(1) == 2"
            subprocess.run([sys.executable, "-c", code], check=True)

        def test_halved():
            assert method.Halved().value == 2

        def test_that_waits():
            while method.untested(1) != 1:
                time.sleep(0.01)
        """,
    "test_other.py": "def test_other(): pass",
    "test_broken.py": """
        from toys.ring import method

        def test_broken():
            assert False, "always"
        """,
}


def entry(name: str, find: str, replace: str, place: str, test: str) -> str:
    """Return an entry of a list, as it is written."""
    return f"""
[fault.{name}]
where = "toys.ring.method:{place}"
find = "{find}"
replace = "{replace}"
breaks = "A toy breaks."
tests = ["{test}"]
"""


TRIPLED = ("RATE * number", "3 * number", "doubled")
FAULTS = {
    "by_value": (*TRIPLED, "test_method.py::test_by_value"),
    "elsewhere": (*TRIPLED, "test_method.py::test_in_another_process"),
    "constant": ("2", "3", "RATE", "test_method.py"),
    "property": ("/ 2", "* 2", "Halved.value", "test_method.py"),
    "survivor": ("return number", "return number + 1", "untested", "test_method.py::test_by_value"),
    "not_imported": (*TRIPLED, "test_other.py"),
    "no_import": ("2", "nobody", "RATE", "test_method.py"),
    "broken": (*TRIPLED, "test_broken.py"),
    "waits": ("return number", "return 0", "untested", "test_method.py::test_that_waits"),
}
CAUGHT = ("by_value", "elsewhere", "constant", "property")


def make_toys(top: Path, faults: str) -> Path:
    """Write a package with one paper and its list of faults; return where it is imported from."""
    folder = top / "toys" / "ring"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    for name, text in FILES.items():
        (folder / name).write_text(inspect.cleandoc(text), encoding="utf-8")
    (folder / "faults.toml").write_text(faults, encoding="utf-8")
    return top


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return where a package is imported from whose method each fault breaks."""
    faults = "".join(entry(name, *fault) for name, fault in FAULTS.items())
    return make_toys(tmp_path_factory.mktemp("toys"), faults)


def mutate(toys: Path, *words: str, timeout_s: float = 60.0) -> subprocess.CompletedProcess[str]:
    code = (
        "import sys; from pathlib import Path; from tests.mutate.__main__ import main;"
        f"sys.exit(main(Path({str(toys / 'toys')!r}), timeout_s={timeout_s}))"
    )
    command = [sys.executable, "-c", code, "ring", *words]
    env = {**os.environ, "PYTHONPATH": f"{toys}{os.pathsep}{ROOT}"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_faults_that_are_caught_leave_exit_code_0(toys: Path) -> None:
    done = mutate(toys, "--only", *CAUGHT)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"ring: 4 of {len(FAULTS)} faults"
    assert {line.split()[-1] for line in lines if line.startswith("caught")} == set(CAUGHT)
    assert "  test_method.py::test_by_value" in lines and "  assert 3 == 2" in lines
    assert lines[-2].startswith("ring: 4 caught, 0 survived, 0 errors")
    assert max(map(len, lines)) <= 80


def test_a_survivor_and_what_nobody_can_tell_leave_exit_code_1(toys: Path) -> None:
    done = mutate(toys, "--only", "survivor", "not_imported", "no_import", "broken")
    assert done.returncode == 1
    survivors = {line.split()[-1] for line in done.stdout.splitlines() if "SURVIVED" in line}
    assert survivors == {"survivor", "not_imported"}
    assert "ring: 1 caught, 2 survived, 1 errors" in done.stdout
    # An import that fails is no test that does.
    assert "name 'nobody' is not defined" in done.stdout
    # A test that fails anyway has caught nothing.
    assert "FAILS WITHOUT A FAULT TOO: test_broken.py::test_broken" in done.stdout


@pytest.mark.parametrize("words", [("--only", "nosuch"), ("nosuch",), ("--one-in", "0")])
def test_what_is_not_there_is_no_success(toys: Path, words: tuple[str, ...]) -> None:
    done = mutate(toys, *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_hang_ends_and_is_no_catch(toys: Path) -> None:
    done = mutate(toys, "--only", "waits", timeout_s=1.0)
    assert done.returncode == 1
    assert "no answer in 1 s" in done.stdout


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (
            "RATE * number",
            "number",
            "by_value: toys.ring.method:doubled has it 2 times, and not once",
        ),
        ("RATE * number", "RATE + number", "doubled has it 0 times, and not once: RATE + number"),
        ("3 * number", "3 *", "by_value: toys.ring.method:doubled is no Python after the edit"),
        (":doubled", ":gone", "by_value: method.py defines gone 0 times"),
        ("ring.method:", "ring.nosuch:", "by_value: there is no module toys.ring.nosuch"),
        ("test_method.py", "test_gone.py", "by_value: there is no file test_gone.py"),
        ("test_by_value", "test_gone", "by_value: there is no test_gone in test_method.py"),
        ("find =", "found =", "fault.by_value.found: Extra inputs are not permitted"),
        ("breaks =", "# ", "fault.by_value.breaks: Field required"),
        ('"A toy breaks."', "3", "fault.by_value.breaks: Input should be a valid string"),
        ("[fault.by_value]", "[fault.by_value", "is not valid TOML"),
    ],
)
def test_an_entry_that_does_not_fit_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str, told: str
) -> None:
    make_toys(tmp_path, entry("by_value", *FAULTS["by_value"]).replace(old, new))
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(FaultError) as error:
        load_faults("ring", tmp_path / "toys")
    assert str(error.value).startswith(f"{tmp_path / 'toys' / 'ring' / 'faults.toml'}")
    assert told in str(error.value)


def test_a_commit_draws_one_in_so_many() -> None:
    found = load_faults("paro")
    first, again, other = (drawn(found, 5, commit) for commit in ("a", "a", "b"))
    assert first == again != other
    assert len(first) == -(-len(found.faults) // 5)
    assert drawn(found, 1, "a") == list(found.faults)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_a_list_that_fits_its_code_and_tests(paper: str) -> None:
    assert len(load_faults(paper).faults) >= 15


def test_all_papers_have_a_list_and_nothing_else_has() -> None:
    assert papers_of() == PAPERS
