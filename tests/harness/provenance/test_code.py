"""Digests of code: they move with what is done, not with where or under which name it stands."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import SpecError
from harness.provenance.code import code_digest
from tests.checkout import ROOT
from tests.harness import forked

FILES = {
    "__init__.py": "",
    "sweep.py": (
        "from harness.declare import Experiment, Params, doc\n\n\n"
        "class Rate(Params):\n    lr: int = doc('Learning rate.')\n\n\n"
        "def grid(profile):\n    yield Rate(lr=1)\n\n\n"
        "experiment = Experiment(\n"
        "    'codepaper/sweep', version=1, params=Rate, grid=grid, run='trial:run'\n)\n"
    ),
    "trial.py": (
        "from harness.errors import SpecError\n\n\n"
        "def run(params, ctx):\n    from codepaper.training import train\n"
        "    return train(params)\n"
    ),
    "training.py": (
        "import math\nfrom typing import TYPE_CHECKING\n\nfrom . import rules\n\n"
        "if TYPE_CHECKING:\n    from .heavy import Net\n\n"
        "STEPS, WARMUP = 10, 2\n\n\n"
        "class Trainer:\n    '''Trains.'''\n    factor = 3\n\n"
        "    def step(self, net: Net) -> int:\n        return rules.lr(net) * self.factor\n\n\n"
        "def train(params, *, steps=STEPS):\n"
        "    def walk(walk):\n        return rules.walk(walk)\n\n"
        "    return [math.sqrt(walk(step)) for step in range(steps)], Trainer()\n"
    ),
    "rules.py": (
        "# How fast.\nDECAY = {'a': 0.5}\n\n\n"
        "def lr(params):\n    '''Return it.'''\n    return DECAY['a'] ** again(params)\n\n\n"
        "def again(params):\n    return lr(params) if params else 1\n\n\n"
        "def walk(x):\n    return x\n\n\ndef unused(x):\n    return x\n"
    ),
    "heavy.py": "raise SystemExit('a digest must not import what it reads')\n",
}
Digest = Callable[..., str]
Compare = Callable[[str, str], bool]


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the package into a folder."""
    for name, text in files.items():
        path = folder / "codepaper" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def python(folder: Path, code: str) -> str:
    """Return what code prints that imports the package of a folder, in a fork of its own."""
    done = forked.python(folder, code)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def digest(tmp_path: Path) -> Digest:
    """Return a function that writes a package of these files and digests its experiment."""

    def of(files: dict[str, str], module: str = "sweep") -> str:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        write(folder, files)
        code = (
            f"from codepaper.{module} import experiment as e;"
            "from harness.provenance.code import experiment_code; print(experiment_code(e))"
        )
        return python(folder, code)

    return of


@pytest.fixture
def compare(tmp_path: Path) -> Compare:
    """Return a function that says whether two values of the package have one digest."""
    write(tmp_path, FILES)

    def same(one: str, other: str) -> bool:
        code = (
            "from functools import partial; from codepaper.trial import run;"
            "from harness.declare import named as n; from harness.declare import bind;"
            "from harness.provenance.code import code_digest;"
            "named = lambda place, package='codepaper': n.named(place, package, where='here');"
            f"print(code_digest([{one}]) == code_digest([{other}]))"
        )
        return python(tmp_path, code) == "True"

    return same


def edited(*changes: tuple[str, str, str]) -> dict[str, str]:
    files = dict(FILES)
    for name, old, new in changes:
        assert old in files[name], old
        files[name] = files[name].replace(old, new)
    return files


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rules.py", "# How fast.", "# How very fast."),
        ("rules.py", "'''Return it.'''", "'''Return the learning rate.'''"),
        ("training.py", "\n\n\ndef", "\n\ndef"),
        ("training.py", "net: Net) -> int", "net: object) -> float"),
        ("rules.py", "def unused(x):\n    return x", "def unused(x):\n    return 17 * x"),
        ("sweep.py", "Rate(lr=1)", "Rate(lr=2)"),
        ("sweep.py", "Learning rate.", "How fast it learns."),
        ("sweep.py", "version=1", "version=2"),
        ("training.py", "WARMUP = 10, 2", "WARMUP = 10, 2\nMORE = 1"),
        # The same function by other imports.
        ("training.py", "from . import rules", "from codepaper import rules"),
        ("training.py", "from . import rules", "import codepaper.rules as rules"),
        ("trial.py", "from codepaper.training import train", "from .training import train"),
    ],
)
def test_what_changes_nothing_keeps_the_digest(
    digest: Digest, file: str, old: str, new: str
) -> None:
    assert digest(edited((file, old, new))) == digest(FILES)


def test_files_move_and_definitions_are_renamed_without_a_trace(digest: Digest) -> None:
    files = edited(
        ("training.py", "from . import rules", "from codepaper.method import speeds as r"),
        ("training.py", "rules.lr(net)", "r.learning_rate(net)"),
        ("training.py", "rules.walk", "r.stroll"),
        ("training.py", "Trainer", "Teacher"),
        ("training.py", "STEPS", "NUM_STEPS"),
        ("training.py", "def train(", "def teach("),
        ("trial.py", "codepaper.training import train", "codepaper.method.loop import teach"),
        ("trial.py", "return train(", "return teach("),
        ("trial.py", "def run(", "def teach_once("),
        ("sweep.py", "'trial:run'", "'.method.once:teach_once'"),
        ("rules.py", "lr(", "learning_rate("),
        ("rules.py", "DECAY", "RATES"),
        ("rules.py", "def walk", "def stroll"),
    )
    moved = {
        "__init__.py": "",
        "method/__init__.py": "",
        "study/__init__.py": "",
        "study/experiment.py": files["sweep.py"],
        "method/once.py": files["trial.py"],
        "method/loop.py": files["training.py"].replace("from .heavy", "from ..heavy"),
        "method/speeds.py": files["rules.py"],
    }
    assert digest(moved, "study.experiment") == digest(FILES)


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rules.py", "0.5", "0.25"),
        ("rules.py", "else 1", "else 2"),
        ("rules.py", "def walk(x):\n    return x", "def walk(x):\n    return -x"),
        ("training.py", "factor = 3", "factor = 4"),
        ("training.py", "self.factor", "self.factor + 1"),
        ("training.py", "STEPS, WARMUP = 10, 2", "STEPS, WARMUP = 11, 2"),
        ("training.py", "steps=STEPS", "steps=WARMUP"),
        ("training.py", "math.sqrt", "math.exp"),
        ("training.py", "range(steps)", "range(steps - 1)"),
        ("trial.py", "train(params)", "train(dict(params))"),
    ],
)
def test_change_of_meaning_changes_the_digest(
    digest: Digest, file: str, old: str, new: str
) -> None:
    assert digest(edited((file, old, new))) != digest(FILES)


def test_name_of_the_harness_counts_and_its_module_does_not(digest: Digest) -> None:
    use = ("trial.py", "    return train(params)", "    raise SpecError('no')")
    other = ("trial.py", "import SpecError", "import DataError as SpecError")
    assert digest(edited(use)) != digest(FILES)
    assert digest(edited(use, other)) != digest(edited(use))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # A name with nothing bound is a function with nothing bound, whatever it is called by.
        ("named('trial:run')", "named('.trial:run', package='codepaper.study')"),
        ("named('trial:run')", "partial(run)"),
        ("named(bind('trial:run', ctx=3))", "partial(run, ctx=3)"),
        ("named(bind('trial:run', params=1, ctx=3))", "named(bind('trial:run', ctx=3, params=1))"),
    ],
)
def test_name_is_digested_as_what_it_calls(compare: Compare, one: str, other: str) -> None:
    assert compare(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("named('trial:run')", "named('training:train')"),
        ("named('trial:run')", "named(bind('trial:run', ctx=3))"),
        ("named(bind('trial:run', ctx=3))", "named(bind('trial:run', ctx=4))"),
        ("named(bind('trial:run', ctx=3))", "named(bind('trial:run', params=3))"),
        ("named(bind('trial:run', ctx=1))", "named(bind('trial:run', ctx=True))"),
    ],
)
def test_other_function_or_other_bound_value_is_another_digest(
    compare: Compare, one: str, other: str
) -> None:
    assert not compare(one, other)


def test_digest_of_real_experiments_imports_no_torch() -> None:
    code = (
        "import sys; from harness.registry import load_registry as l;"
        "from harness.provenance.code import experiment_code as c;"
        "digests = [c(e) for e in l().experiments.values()];"
        "sys.exit(2 * ('torch' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False)
    assert done.returncode == 0


def test_a_module_that_is_no_python_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "torn_module.py").write_text("def f(:\n")
    (tmp_path / "whole_module.py").write_text(
        "def g():\n    from torn_module import f\n    return f()\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    g = importlib.import_module("whole_module").g
    with pytest.raises(SpecError, match=r"torn_module\.py is no Python"):
        code_digest([g], follow={"torn_module"})
