from __future__ import annotations

import shutil

import pytest

from tests.harness.commands.varied import DRAWN, FIGURE, INLINE, VARIANT
from tests.harness.conftest import Cli
from tests.harness.toy_paper import TASK, ToyPaper


@pytest.fixture
def lab(toy: ToyPaper, cli: Cli, tmp_path_factory: pytest.TempPathFactory) -> Cli:
    """Return `repro` on a toy paper with a figure, its grid committed at cpu and a variant run."""
    toy.add_file("squares/figures.py", FIGURE)
    toy.task.write_text(TASK.replace("    claims=", f"    {DRAWN}\n    claims="))
    # The first test that asks runs it, others copy what that one left.
    kept = tmp_path_factory.getbasetemp() / "variants"
    if not kept.exists():
        for profile, options in (("cpu", ()), ("smoke", VARIANT)):
            done = cli("run", "toylab/tab01", "--profile", profile, *INLINE, *options)
            assert done.code == 0, done.err
        shutil.copytree(toy.root, kept)
    shutil.copytree(kept, toy.root, dirs_exist_ok=True)
    return cli
