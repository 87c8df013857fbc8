"""What the paper's page and package say alike: its examples, which run."""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import indent
from typing import Any

import torch

from reproductions import paro
from tests.checkout import ROOT
from tests.reproductions.paro.torchrun import under_torchrun

PAGE = (ROOT / "docs" / "paro.md").read_text(encoding="utf-8")
PLANS, TRAINS, *_ = re.findall(r"```python\n(.*?)\n```", PAGE, flags=re.DOTALL)
NET = """
import torch
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Linear(4, 1))
batches = 2 * [2 * [torch.ones(5, 3)]]
"""
"""What the page's loop trains: both ranks read the same, so that one process does what they do."""
ALONE = """
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for batch in batches:
    optimizer.zero_grad()
    model(batch[0]).mean().backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
state = model.state_dict()
"""


def test_the_package_has_the_pages_example() -> None:
    assert indent(PLANS.split("\n\n", 1)[1], "    ") in str(paro.__doc__)


def train_on_rank(folder: str) -> None:
    found: dict[str, Any] = {}
    exec(NET + TRAINS.replace("group_size=8", "group_size=1"), found)
    torch.save(found["engine"].state_dict(), f"{folder}/{torch.distributed.get_rank()}.pt")


def test_the_pages_example_trains_under_torchrun(tmp_path: Path) -> None:
    under_torchrun(train_on_rank, folder=str(tmp_path))
    alone: dict[str, Any] = {}
    exec(NET + ALONE, alone)
    for rank in range(2):
        torch.testing.assert_close(torch.load(tmp_path / f"{rank}.pt"), alone["state"])
