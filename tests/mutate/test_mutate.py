"""Faults of a toy method: each is brought in and judged as its kind asks; and the papers' lists."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkout import ROOT
from tests.mutate.apply import changed, place_of
from tests.mutate.fault import FaultError, drawn, edited, load_faults, papers_of
from tests.test_layers import PAPERS

FILES = {
    "method.py": """
        RATE = 2

        def doubled(number):
            return RATE * number

        def untested(number):
            return number

        def kept(number):
            return number

        KNOWN = {"doubled": doubled}
        KEPT = (kept,)

        class Base:
            def value(self):
                return 1

        class Derived(Base):
            def value(self):
                return super().value() + 1

            @property
            def half(self):
                return self.value() / 2

            @staticmethod
            def of_nothing():
                return Derived()
        """,
    "user.py": "from toys.ring.method import doubled as by_value",
    "test_method.py": """
        import subprocess
        import sys
        import time

        from toys.ring import method, user

        def test_by_value():
            assert user.by_value(1) == 2

        def test_in_a_table():
            assert method.KNOWN["doubled"](1) == 2

        def test_in_another_process():
            code = "from toys.ring.method import doubled; assert doubled(1) == 2"
            subprocess.run([sys.executable, "-c", code], check=True)

        def test_derived():
            assert method.Derived.of_nothing().half == 1

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
LIST = """
    from tests.mutate.fault import Fault, edited
    from tests.patches import around

    METHOD = "toys.ring.method"

    def fault(id, where, instead, *tests):
        return Fault(
            id=id, where=f"toys.ring.method:{where}", instead=instead, breaks="A toy breaks.",
            tests=tests,
        )

    TRIPLED = edited("RATE * number", "3 * number")
    FAULTS = (
        fault("by_value", "doubled", TRIPLED, "test_method.py::test_by_value"),
        fault("in_a_table", "doubled", TRIPLED, "test_method.py::test_in_a_table"),
        fault("elsewhere", "doubled", TRIPLED, "test_method.py::test_in_another_process"),
        fault("constant", "RATE", lambda rate: 3, "test_method.py"),
        fault("super", "Derived.value", edited("+ 1", "+ 3"), "test_method.py"),
        fault("property", "Derived.half", around(lambda half, self: 2 * half(self)),
              "test_method.py"),
        fault("static", "Derived.of_nothing", edited("Derived()", "Base()"), "test_method.py"),
        fault("survivor", "untested", around(lambda untested, number: number + 1),
              "test_method.py::test_by_value"),
        fault("held", "kept", around(lambda kept, number: 0), "test_method.py"),
        fault("gone", "gone", TRIPLED, "test_method.py"),
        fault("nothing", "RATE", lambda rate: 2, "test_method.py"),
        fault("other_text", "doubled", edited("RATE + number", "0"), "test_method.py"),
        fault("no_import", "doubled", TRIPLED, "test_other.py"),
        fault("no_file", "doubled", TRIPLED, "test_gone.py"),
        fault("broken", "doubled", TRIPLED, "test_broken.py"),
        fault("waits", "untested", lambda untested: lambda number: 0,
              "test_method.py::test_that_waits"),
    )
    """


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a package with one paper, whose method is broken by each fault."""
    top = tmp_path_factory.mktemp("toys")
    folder = top / "toys" / "ring"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    for name, text in {**FILES, "faults.py": LIST}.items():
        (folder / name).write_text(inspect.cleandoc(text), encoding="utf-8")
    return top


def mutate(toys: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.mutate", "ring", "--package", "toys", *words]
    env = {**os.environ, "PYTHONPATH": f"{toys}{os.pathsep}{ROOT}"}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)


def test_faults_that_are_caught_leave_exit_code_0(toys: Path) -> None:
    caught = ("by_value", "in_a_table", "elsewhere", "constant", "super", "property", "static")
    done = mutate(toys, "--only", *caught)
    assert done.returncode == 0, done.stdout + done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "ring: 7 of 16 faults"
    assert {line.split()[-1] for line in lines if line.startswith("caught")} == set(caught)
    assert "  test_method.py::test_by_value" in lines and "  assert 3 == 2" in lines
    assert lines[-2].startswith("ring: 7 caught, 0 survived, 0 errors")
    assert max(map(len, lines)) <= 80


def test_a_survivor_and_what_is_no_fault_leave_exit_code_1(toys: Path) -> None:
    problems = {
        "held": "a tuple holds it too",
        "gone": "toys.ring.method:gone: there is no such name",
        "nothing": "nothing is changed",
        "other_text": "0 times, and not once: RATE + number",
        "no_import": "no test imported toys.ring.method",
        "no_file": "file or directory not found",
    }
    done = mutate(toys, "--only", "survivor", "broken", *problems)
    assert done.returncode == 1
    survivors = [line for line in done.stdout.splitlines() if line.startswith("SURVIVED")]
    assert [line.split()[-1] for line in survivors] == ["survivor"]
    assert "ring: 1 caught, 1 survived, 6 errors" in done.stdout
    assert [told for told in problems.values() if told not in done.stdout] == []
    # A test that fails anyway has caught nothing.
    assert "FAILS WITHOUT A FAULT TOO: test_broken.py::test_broken" in done.stdout


@pytest.mark.parametrize("words", [("--only", "nosuch"), ("nosuch",), ("--one-in", "0")])
def test_what_is_not_there_is_no_success(toys: Path, words: tuple[str, ...]) -> None:
    done = mutate(toys, *words)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_a_hang_ends_and_is_no_catch(toys: Path) -> None:
    done = mutate(toys, "--only", "waits", "--timeout", "3")
    assert done.returncode == 1
    assert "no answer in 3 s" in done.stdout


def test_all_tests_of_a_paper_are_run_where_asked(toys: Path) -> None:
    done = mutate(toys, "--only", "no_import", "--wide")
    assert done.returncode == 1, "a test of the folder fails without the fault"
    assert "FAILS WITHOUT A FAULT TOO: test_broken.py" in done.stdout


def test_a_commit_draws_one_in_so_many() -> None:
    found = load_faults("paro")
    first, again, other = (drawn(found, 5, commit) for commit in ("a", "a", "b"))
    assert first == again != other
    assert len(first) == -(-len(found.faults) // 5)
    assert drawn(found, 1, "a") == list(found.faults)


def test_an_edit_that_fits_twice_is_refused() -> None:
    def twice() -> int:
        return 1 + 1

    with pytest.raises(FaultError, match="2 times"):
        edited("1", "2")(twice)


@pytest.mark.parametrize("paper", PAPERS)
def test_every_paper_has_a_list_of_faults_that_can_be_applied(paper: str) -> None:
    faults = load_faults(paper).faults
    assert len(faults) >= 15
    for fault in faults:
        changed(fault, place_of(fault)[2])
        for test in fault.tests:
            file = ROOT / "tests" / "reproductions" / paper / test.partition("::")[0]
            assert file.is_file(), f"{fault.id}: {test}"
            function = test.partition("::")[2].partition("[")[0]
            assert f"def {function}" in file.read_text(encoding="utf-8"), f"{fault.id}: {test}"


def test_lists_import_nothing_that_a_fault_breaks() -> None:
    assert papers_of() == PAPERS
    names = [f"tests.reproductions.{paper}.faults" for paper in PAPERS]
    code = (
        f"import sys, importlib; [importlib.import_module(name) for name in {names}];"
        "early = [name for name in sys.modules if name.startswith('reproductions')];"
        "assert not early, early"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
