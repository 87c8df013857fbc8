"""The digest of a trial's code: moves with the modules it reaches, not with their comments."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

FILES = {
    "__init__.py": "",
    "experiments/__init__.py": "",
    "experiments/sweep.py": (
        "from harness.task import Experiment\n\n\n"
        "def run(params, ctx):\n    from digestpaper.training import train\n"
        "    return train(params)\n\n\n"
        "experiment = Experiment(id='digestpaper/sweep', version=1, run=run, grid={})\n"
    ),
    "training.py": "from . import rules\n\n\ndef train(params):\n    return rules.lr(params)\n",
    "rules.py": "# How fast.\ndef lr(params):\n    '''Return it.'''\n    return 1\n",
    "drawing.py": "COLOUR = 1\n",
    "heavy.py": "raise SystemExit('a digest must not import what it reads')\n",
    "tasks/__init__.py": "",
    "tasks/fig01.py": "from digestpaper.experiments.sweep import experiment\nTITLE = 'a'\n",
}


def digest_of(folder: Path, changes: dict[str, tuple[str, str]]) -> str:
    """Write the package with (old, new) replaced in some files; digest it in a fresh process."""
    for name, text in FILES.items():
        if name in changes:
            assert changes[name][0] in text
            text = text.replace(*changes[name])
        path = folder / "digestpaper" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    code = (
        "from digestpaper.experiments.sweep import experiment as e;"
        "from harness.code_digest import code_digest; print(code_digest(e))"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"PYTHONPATH": f"{folder}:{root}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def base(tmp_path: Path) -> str:
    return digest_of(tmp_path / "base", {})


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rules.py", "# How fast.", "# How very fast."),
        ("rules.py", "'''Return it.'''", "'''Return the learning rate.'''"),
        ("training.py", "\n\n\ndef", "\n\ndef"),
        ("tasks/fig01.py", "TITLE = 'a'", "TITLE = 'b'"),
        ("drawing.py", "COLOUR = 1", "COLOUR = 2"),
    ],
)
def test_what_a_trial_does_not_run_keeps_the_digest(
    base: str, tmp_path: Path, file: str, old: str, new: str
) -> None:
    assert digest_of(tmp_path / "other", {file: (old, new)}) == base


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("rules.py", "return 1", "return 2"),
        ("training.py", "rules.lr(params)", "rules.lr(params) + 1"),
        ("experiments/sweep.py", "train(params)", "train(dict(params))"),
    ],
)
def test_change_anywhere_below_the_run_changes_the_digest(
    base: str, tmp_path: Path, file: str, old: str, new: str
) -> None:
    assert digest_of(tmp_path / "other", {file: (old, new)}) != base


def test_modules_are_read_not_imported(base: str, tmp_path: Path) -> None:
    # `heavy` ends the process when imported, as a module with torch would slow it.
    heavy = ("from . import rules", "from . import rules\nfrom .heavy import torch_thing")
    assert digest_of(tmp_path / "heavy", {"training.py": heavy}) != base


def test_digest_of_real_experiments_imports_no_torch() -> None:
    code = (
        "import sys; from harness.registry import load_registry as l;"
        "from harness.code_digest import code_digest as c;"
        "digests = [c(e) for e in l().experiments.values()];"
        "sys.exit(2 * ('torch' in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == 0
