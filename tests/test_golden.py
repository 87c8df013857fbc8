"""Golden rows hold on any CPU.

That they change where the method of an experiment is broken is seen when they are written.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
import torch

from harness.data.catalogue import load_catalogue
from harness.declare.experiment import Experiment
from harness.declare.profiles import PROFILES
from harness.registry import load_registry
from tests.golden_rows import FOLDER, differences, golden_path, load_golden
from tests.golden_trials import GoldenRuns, Short, declared_golden, in_double
from tests.patches import Patch, patched
from tests.warm import Warm

LIBRARY = load_registry()
DECLARED = declared_golden()
EXPERIMENTS = [pytest.param(e, id=name) for name, e in sorted(LIBRARY.experiments.items())]


@pytest.fixture(scope="module")
def runs(warm: Warm, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GoldenRuns]:
    """Return what keeps the trials that others start from, once for all tests."""
    with warm.serving():
        yield GoldenRuns(LIBRARY, DECLARED, tmp_path_factory.mktemp("golden"))


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_golden_rows_hold(name: str, runs: GoldenRuns) -> None:
    found = differences(load_golden(name), runs.body(name))
    assert not found, f"{name}: bump its version or explain, then `make golden`: " + "; ".join(
        found[:5]
    )


@pytest.mark.parametrize("experiment", EXPERIMENTS)
def test_what_runs_with_bundled_data_has_golden_trials(experiment: Experiment) -> None:
    if runs_with_bundled_data(experiment):
        assert experiment.id in DECLARED, f"declare golden trials of {experiment.id}"


COMPILERS = {"triton", "cuda.pathfinder"}
"""They have an environment of their own, where committed rows are made again."""


def runs_with_bundled_data(experiment: Experiment) -> bool:
    """Say whether any trial of an experiment needs nothing that smoke has to do without."""
    needs = [experiment.needs_of(p) for profile in PROFILES for p in experiment.params_of(profile)]
    bundled = {entry.name for entry in load_catalogue().values() if entry.bundled}
    return any(
        n.device == "cpu" and not n.judge and set(n.data) <= bundled
        and not set(n.packages) & COMPILERS
        for n in needs
    )  # fmt: skip


def test_golden_folder_holds_what_is_declared() -> None:
    assert DECLARED.keys() <= LIBRARY.experiments.keys()
    assert set(FOLDER.rglob("*.json")) == {golden_path(name) for name in DECLARED}


def test_golden_rows_see_a_broken_method_and_it_leaves_nothing_behind(
    runs: GoldenRuns, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REPRO_DATA", "staged")
    name = "supar/lr_sweep"
    assert differences(load_golden(name), runs.broken_body(name))
    assert not differences(load_golden(name), runs.body(name))
    assert os.environ["REPRO_DATA"] == "staged"
    assert torch.get_default_dtype() is torch.float32
    assert torch.zeros(1).float().dtype is torch.float32


def test_double_is_given_to_whoever_asks_for_float32() -> None:
    with in_double():
        asked = (torch.zeros(1), torch.zeros(1, dtype=torch.float32), torch.ones(1).int().float())
        assert {tensor.dtype for tensor in asked} == {torch.float64}
        assert torch.ones(1).to(torch.float32).dtype is torch.float64
        assert torch.ones(1).bfloat16().dtype is torch.bfloat16


def test_a_patch_is_put_back_whatever_happens() -> None:
    patch = Patch(where="math:pi", instead=lambda pi: 2 * pi)
    import math

    before = math.pi
    with pytest.raises(ValueError, match="stopped"), patched(patch):
        assert math.pi == 2 * before
        raise ValueError("stopped")
    assert math.pi == before
    with pytest.raises(AttributeError), patched(Patch(where="math:tau_2", instead=abs)):
        pass


def test_a_point_that_is_gone_is_told() -> None:
    experiment = LIBRARY.experiments["supar/lr_sweep"]
    with pytest.raises(AssertionError, match="no smoke point"):
        Short(of={"scheme": "none"}).point(experiment)
    with pytest.raises(AssertionError, match="no fields"):
        Short(to={"stepps": 3}).point(experiment)
