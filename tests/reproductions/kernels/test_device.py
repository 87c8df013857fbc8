"""Where kernels are launched: on the GPU of their tensors, by a library that is built for it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
import torch

import reproductions.kernels
from reproductions.kernels.device import brought

FOLDER = Path(reproductions.kernels.__path__[0])
SOURCES = sorted({*FOLDER.glob("*/in_triton.py"), *FOLDER.glob("*/in_cuda.py")}
                 - {FOLDER / "compiled" / "in_triton.py"})  # fmt: skip


def launches(node: ast.AST, *, placed: bool = False) -> list[tuple[int, bool]]:
    """Return the line of each launch below a node, and whether it stands in `with on(...)`."""
    found = []
    match node:
        case ast.With(items=[ast.withitem(context_expr=ast.Call(func=ast.Name(id="on")))]):
            placed = True
        case ast.Call(func=ast.Subscript()) | ast.Call(func=ast.Name(id="launched")):
            found.append((node.lineno, placed))
    for child in ast.iter_child_nodes(node):
        found += launches(child, placed=placed)
    return found


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_the_gpu_of_the_tensors_is_the_current_one_at_each_launch(path: Path) -> None:
    """Of a second GPU no single one can tell; `with on(device)` is what makes it current."""
    found = launches(ast.parse(path.read_text()))
    assert found and all(placed for _, placed in found), found


def test_numbers_are_brought_whatever_the_default_device_is() -> None:
    """A default that has no numbers stands for one whose memory cannot be pinned."""
    with torch.device("meta"):
        assert brought([1.5], torch.float32, torch.device("cpu")).tolist() == [1.5]
