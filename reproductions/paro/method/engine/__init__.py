"""Training by any of the paper's strategies on torch.distributed."""

from __future__ import annotations

from reproductions.paro.method.engine.groups import mesh_of_groups
from reproductions.paro.method.engine.paro import Paro
from reproductions.paro.method.engine.state import Precision
from reproductions.paro.method.engine.trace import Trace

__all__ = ["Paro", "Precision", "Trace", "mesh_of_groups"]
