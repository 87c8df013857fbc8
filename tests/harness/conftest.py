from __future__ import annotations

from pathlib import Path

import pytest

from .toy_paper import ToyPaper, make_toy_paper


@pytest.fixture
def toy(tmp_path: Path) -> ToyPaper:
    """Return a toy paper in a checkout of its own."""
    return make_toy_paper(tmp_path)
