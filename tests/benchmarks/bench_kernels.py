"""Each kernel that a method takes, by Triton on a GPU; elsewhere there is nothing to time.

`make bench-compare ONLY=kernels REF=HEAD~1` tells on a card what a commit changed.
"""

from __future__ import annotations

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from reproductions.kernels.cases import CASES, KERNELS


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_call_by_triton(benchmark: BenchmarkFixture, kernel: str) -> None:
    """Time the largest case of a kernel in its narrowest type, each call to its end."""
    import torch

    if not torch.cuda.is_available():
        pytest.skip("no GPU here")
    from reproductions.kernels.speed.contest import Setting
    from reproductions.kernels.speed.experiment import TRITON
    from reproductions.kernels.speed.trial import DTYPES, contest_of

    case = next(case for case in reversed(CASES) if case.kernel == kernel)
    contest = contest_of(case, Setting(DTYPES[case.precisions[-1]], torch.device("cuda")))
    call = contest.contenders[TRITON].bind(contest.draw(torch.Generator().manual_seed(0)))

    def to_its_end() -> None:
        call()
        torch.cuda.synchronize()

    to_its_end()
    benchmark(to_its_end)
