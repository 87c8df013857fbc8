"""A function on two ranks that torchrun's launcher forks: an import of torch takes long."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from torch.distributed.launcher.api import LaunchConfig, elastic_launch

from harness.measure.fresh_process import call_fresh, function_at


def under_torchrun(function: Callable[..., Any], **params: Any) -> None:
    """Call a function of a module on each rank, and see it succeed; JSON goes in."""
    where = f"{function.__module__}:{function.__qualname__}"
    call_fresh(_launch, {"where": where, "params": params}, timeout_s=240.0)


def _launch(where: str, params: dict[str, Any]) -> None:
    os.environ["GLOO_SOCKET_IFNAME"] = "lo"
    function_at(where)
    # What `torchrun --standalone --nproc-per-node=2` makes of its words, but for the start.
    config = LaunchConfig(
        min_nodes=1, max_nodes=1, nproc_per_node=2, run_id="test", rdzv_backend="c10d",
        rdzv_endpoint="localhost:0", start_method="fork", monitor_interval=0.1,
    )  # fmt: skip
    elastic_launch(config, _call)(where, params)


def _call(where: str, params: dict[str, Any]) -> None:
    function_at(where)(**params)
