"""Training by any of the paper's strategies on torch.distributed."""

from __future__ import annotations

from reproductions.paro.method.engine.groups import mesh_of_groups
from reproductions.paro.method.engine.paro import Paro
from reproductions.paro.method.engine.state import Precision

__all__ = ["Paro", "Precision", "mesh_of_groups"]
