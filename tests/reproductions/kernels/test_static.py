"""What compilers make: read right, and the same as the committed rows."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from harness.declare.experiment import Experiment
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.registry import load_registry
from harness.store.result import load_result
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from reproductions.kernels.compiled import cubin
from reproductions.kernels.compiled.trial import compiled_rows
from tests.checkout import ROOT
from tests.verdicts import controlled

STATIC = [task for name, task in load_registry().tasks.items() if name.startswith("kernels/static")]
COPIES = """
__global__ void narrow(float* to, const float* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void wide(float4* to, const float4* from) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void spilled(float* to, const float* from, int at) {
  float all[64];
  for (int i = 0; i < 64; ++i) all[i * at % 64] = from[i];
  for (int i = 0; i < 64; ++i) to[i] = all[(i + at) * at % 64];
}
"""


@pytest.mark.kernels
@pytest.mark.parametrize("arch", ["sm_80", "sm_90"])
def test_widths_and_local_memory_of_known_kernels(tmp_path: Path, arch: str) -> None:
    source = tmp_path / "copies.cu"
    source.write_text(COPIES)
    found = cubin.codes(cubin.cubin_of_cuda(source, arch))
    by_name = {name: code for name in ("narrow", "wide", "spilled")
               for code in found if name in str(code["function"])}  # fmt: skip
    moved = ("loads", "loads_wide", "stores", "stores_wide")
    assert [by_name["narrow"][name] for name in moved] == [1, 0, 1, 0]
    assert [by_name["wide"][name] for name in moved] == [1, 1, 1, 1]
    assert by_name["wide"]["spills"] == 0
    assert int(by_name["spilled"]["spills"]) > 0 and int(by_name["spilled"]["stack_bytes"]) >= 256


@pytest.mark.kernels
@pytest.mark.parametrize("task", STATIC, ids=lambda task: task.id)
def test_compilers_make_what_is_committed(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else mend the kernel, or raise VERSIONS of compiled/experiment.py, say why, and run."""
    # What somebody compiled before must not answer.
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path))
    (experiment,) = task.reads
    committed = load_result(Workspace(ROOT), task, "cpu")
    assert committed is not None, f"repro run {task.id} --profile cpu"
    key = ["variant", "language", "arch"]
    there = committed.table.set_index(key).drop(columns="kernel")
    here = rows_of(experiment).set_index(key)
    assert list(here.index) == list(there.index)
    differing = {
        str(place): f"{name}: {here.loc[place, name]}, committed {there.loc[place, name]}"
        for place in here.index
        for name in here.columns
        if here.loc[place, name] != there.loc[place, name]
    }
    assert differing == {}


def rows_of(experiment: Experiment) -> pd.DataFrame:
    """Compile all builds of a kernel."""
    rows = []
    for trial in grid_of(experiment, "cpu"):
        params = experiment.typed(trial.params)
        rows += [{**trial.params, **row} for row in compiled_rows(params, None)]  # type: ignore[arg-type]
    return pd.DataFrame(rows).drop(columns="kernel")


@pytest.mark.parametrize("task", STATIC, ids=lambda task: task.id)
def test_checks_hold_and_fail_by_the_rows_they_name(task: Task) -> None:
    result = load_result(Workspace(ROOT), task, "cpu")
    assert result is not None
    spoiled = {
        "no_spills": result.table.assign(spills=[*result.table["spills"][1:], 1]),
        "wide": result.table.assign(loads_wide=0, stores_wide=0),
    }
    for claim in task.claims:
        for table, word in ((result.table, Word.HOLDS), (spoiled[claim.id], Word.FAILS)):
            assert controlled(claim, table, seed=None).word == word
        missing = controlled(claim, result.table[:0], seed=None)
        assert missing.word in (Word.FAILS, Word.ERROR, Word.UNTESTED)
