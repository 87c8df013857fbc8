"""What tests of papers and kernels share: processes that are forked, and Triton's interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from importlib.util import find_spec

import pytest
import torch

from tests.warm import Warm

if not torch.cuda.is_available() and find_spec("triton") is not None:
    # Before any kernel is defined; without a GPU a launch ends in an error otherwise.
    os.environ["TRITON_INTERPRET"] = "1"


@pytest.fixture(scope="module", autouse=True)
def forked_processes(warm: Warm) -> Iterator[None]:
    """Fork what a trial or a test would start with an import of torch."""
    with warm.serving():
        yield
