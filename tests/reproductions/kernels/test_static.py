"""What compilers make: read right, and the same as the committed rows."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pandas as pd
import pytest

from harness.declare.experiment import Experiment
from harness.declare.task import Task
from harness.declare.verdict import Word
from harness.errors import SpecError
from harness.measure.fresh_process import call_fresh
from harness.registry import load_registry
from harness.store.result import csv_path, load_result
from harness.store.trial import grid_of
from harness.store.workspace import Workspace
from reproductions.kernels.compiled import cubin, in_triton
from reproductions.kernels.compiled.builds import CUDA, TRITON
from reproductions.kernels.compiled.experiment import BUILDS, RENEWED
from reproductions.kernels.compiled.trial import compiled_rows
from reproductions.kernels.floors.trial import floor_rows
from tests.checkout import ROOT
from tests.verdicts import controlled

STATIC = [task for name, task in load_registry().tasks.items() if name.startswith("kernels/static")]
SASS = """
    Function : narrow
        /*0000*/                   MOV R1, c[0x0][0x28] ;
        /*0010*/              @!P0 LDG.E.U8 R2, [R2.64] ;
        /*0020*/                   LDG.E.128.CONSTANT R4, [R4.64] ;
        /*0030*/                   STL [R1+0x4], R9 ;
        /*0040*/             @!PT LDS RZ, [RZ] ;
    Function : wide
        /*0000*/                   ST.E.128 [R2.64], R4 ;
        /*0010*/                   STG.E [R2.64], R4 ;
"""
USED = """
 Function narrow:
  REG:20 STACK:8 SHARED:1024 LOCAL:0 CONSTANT[0]:372 TEXTURE:0 SURFACE:0 SAMPLER:0
 Function wide:
  REG:12 STACK:0 SHARED:0 LOCAL:0 CONSTANT[0]:372 TEXTURE:0 SURFACE:0 SAMPLER:0
"""


def test_what_the_disassembler_prints_is_read() -> None:
    narrow, wide = cubin.parsed(USED, SASS)
    assert (narrow.function, narrow.registers, narrow.stack_bytes) == ("narrow", 20, 8)
    assert (narrow.shared_bytes, narrow.num_instructions, narrow.spills) == (1024, 5, 1)
    assert (narrow.load_bits, narrow.store_bits) == ((8, 128), ())
    assert (wide.load_bits, wide.store_bits, wide.spills) == ((), (128, 32), 0)


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
               for code in found if name in code.function}  # fmt: skip
    assert (by_name["narrow"].load_bits, by_name["narrow"].store_bits) == ((32,), (32,))
    assert (by_name["wide"].load_bits, by_name["wide"].store_bits) == ((128,), (128,))
    assert by_name["wide"].spills == 0
    assert by_name["spilled"].spills > 0 and by_name["spilled"].stack_bytes >= 256


@pytest.mark.kernels
@pytest.mark.parametrize("task", STATIC, ids=lambda task: task.id)
def test_compilers_make_what_is_committed(
    task: Task, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else mend the kernel, or write the reason into RENEWED of compiled/experiment.py and run."""
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


WITHIN_A_ROW = ("linear_cross_entropy.in_triton:row_slope",)
"""64 bits lead to a row, and 32 along it."""
OF_SMALL_NUMBERS = (
    "adamw.in_triton:step_chunk",
    "masked_linear.in_triton:product",
    "rademacher.in_triton:pass_over",
)
"""Products in 32 bits are of rows of a table, of numbers of blocks and of Philox's words."""


@pytest.mark.kernels
@pytest.mark.parametrize("number", range(len(TRITON)))
def test_entries_are_counted_in_64_bits(number: int) -> None:
    """A tensor of more than 2**31 entries would be written elsewhere, and no small one shows it."""
    made = call_fresh(
        in_triton.compile_to_cubin, {"number": number, "arch": "sm_90"}, timeout_s=300.0
    )
    function = TRITON[number].function
    offsets = re.findall(r"tt\.addptr .*: (.*), (?:tensor<[\dx]*x)?(i\d+)>?", made["ttir"])
    assert "i64" in {bits for _, bits in offsets}
    if function not in WITHIN_A_ROW:
        assert {bits for pointer, bits in offsets if "tensor" in pointer} == {"i64"}
    if function not in OF_SMALL_NUMBERS:
        products = re.findall(r"arith\.muli (%\w+), (%\S+) : .*i32", made["ttir"])
        assert [pair for pair in products if not pair[1].startswith("%c")] == []


@pytest.mark.kernels
def test_a_build_that_is_none_is_told() -> None:
    build = next(iter(BUILDS["rademacher"].params_of("cpu")))
    params = BUILDS["rademacher"].typed({**build, "variant": "neither"})
    with pytest.raises(SpecError, match="variant 'neither' in triton"):
        compiled_rows(params, None)  # type: ignore[arg-type]


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
            assert controlled(claim, table, seed=None, profile="cpu").word == word
        missing = controlled(claim, result.table[:0], seed=None, profile="cpu")
        assert missing.word in (Word.FAILS, Word.ERROR, Word.UNTESTED)


def test_committed_floors_are_those_of_the_cases() -> None:
    task = load_registry().tasks["kernels/floors"]
    committed = load_result(Workspace(ROOT), task, "cpu")
    assert committed is not None
    (experiment,) = task.reads
    found = [
        {**trial.params, **row}
        for trial in grid_of(experiment, "cpu")
        for row in floor_rows(experiment.typed(trial.params), None)  # type: ignore[arg-type]
    ]
    key = ("kernel", "case", "precision", "card")
    here, there = (
        {tuple(row[name] for name in key): row for row in rows}
        for rows in (found, committed.table[task.table.names].to_dict("records"))
    )
    assert here.keys() == there.keys()
    for at, row in here.items():
        # A CSV keeps nine digits.
        assert row.pop("floor_us") == pytest.approx(there[at].pop("floor_us"), rel=1e-8), at
        assert row == there[at]


ROWS = {
    "masked_adamw": ("ee0733891ccf876e",),
    "masked_linear": ("5ad94e3c7cc7cda0", "3b0a97a9f579847f", "85ba1a8b47460078"),
    "rademacher": ("79844a455eb8a921", "ca056442fbfa99bd"),
    "tangent_step": ("ba490989e9335a6a", "5380acbbb17bcd30"),
    "sign_ops": ("55a2d363c80228a8",),
    "layer_adamw": ("917bbc20066da8cb",),
    "linear_cross_entropy": ("b77c838930c6a17e", "22071be9554e83da"),
    "shard_pack": ("15524c68dc207989", "b485cb71524b09c6"),
}
"""Start of SHA-256 of each kernel's committed table, as first made and after each renewal."""


@pytest.mark.parametrize("kernel", BUILDS)
def test_committed_rows_move_only_with_a_reason(kernel: str) -> None:
    """Else write the reason into RENEWED of compiled/experiment.py, and the new digest here."""
    reasons = RENEWED.get(kernel, ())
    assert all(reason.strip() for reason in reasons)
    assert len(ROWS[kernel]) == 1 + len(reasons) == BUILDS[kernel].version
    task = load_registry().tasks[f"kernels/static_{kernel}"]
    table = csv_path(Workspace(ROOT), task, "cpu").read_bytes()
    assert hashlib.sha256(table).hexdigest().startswith(ROWS[kernel][-1])


def test_every_kernel_of_a_method_is_compiled() -> None:
    """A task per kernel; both languages of those that have CUDA sources."""
    assert {build.kernel for build in TRITON} == BUILDS.keys()
    assert {build.kernel for build in CUDA} == {"masked_adamw", "rademacher", "shard_pack"}
    folder = ROOT / "reproductions" / "kernels"
    assert all((folder / build.source).is_file() for build in CUDA)
    names = [(b.kernel, b.variant) for b in TRITON]
    assert len(set(names)) == len(names)
