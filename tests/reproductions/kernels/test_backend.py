"""Plain torch can be asked for where kernels would be chosen, and that is said."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from harness.choices import noted
from harness.errors import EnvError
from reproductions.kernels import backend as backends
from reproductions.kernels.backend import choose, chosen, implementation, without_kernels

CPU, GPU = torch.device("cpu"), torch.device("cuda")
ASKED = {"kernels": "plain torch, as asked for"}


@pytest.fixture(autouse=True)
def has_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have Triton be found, whether it is there or not: nothing is launched here."""
    found = backends.find_spec
    monkeypatch.setattr(backends, "find_spec", lambda name: name == "triton" or found(name))


def test_plain_torch_is_taken_on_a_gpu_where_it_is_asked_for_and_that_is_said() -> None:
    with noted() as choices:
        assert choose(GPU) == "triton"
        with without_kernels():
            assert choose(GPU) == "plain"
    assert choices == ASKED
    with noted() as choices, without_kernels():
        assert chosen("sign_ops", GPU) is implementation("sign_ops", "plain")
    assert choices == {**ASKED, "kernels/sign_ops": "plain"}


def test_it_is_undone_within_one_another_and_after_an_error() -> None:
    with without_kernels():
        with without_kernels():
            assert choose(GPU) == "plain"
        assert choose(GPU) == "plain"
        with pytest.raises(ValueError, match="a step died"), without_kernels():
            raise ValueError("a step died")
        assert choose(GPU) == "plain"
    assert choose(GPU) == "triton"


def test_other_threads_choose_for_themselves() -> None:
    def without() -> str:
        with without_kernels():
            return choose(GPU)

    with ThreadPoolExecutor(1) as pool:
        with without_kernels():
            assert pool.submit(choose, GPU).result() == "triton"
        assert pool.submit(without).result() == "plain"
        assert choose(GPU) == pool.submit(choose, GPU).result() == "triton"


def test_plain_torch_that_is_asked_for_needs_no_triton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda name: None)
    with without_kernels():
        assert choose(GPU) == "plain"
    with pytest.raises(EnvError, match=r"without_kernels\(\)"):
        choose(GPU)
