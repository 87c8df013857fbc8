"""What the guideline of the paper is told of models and cluster: appendix A.3.1, section 4.3."""

from __future__ import annotations

from harness.declare import Params, doc
from reproductions.paro.method.cluster import Cluster, Nic

MODELS = {"LLaMA-7B": 7e9, "LLaMA-65B": 65e9}
"""Parameters, round as the guideline takes them."""
SHARES = {"1": 1.0, "1/16": 1 / 16, "3/1000": 3 / 1000}
"""Trainable over all parameters."""
NUM_GPUS, ACCUMULATION = 32, 10
"""n, which appendix A.3.1 swaps with m in print; s, micro-batches of a step."""


class PaperCluster(Params):
    """The cluster of section 4.1, on however many GPUs."""

    group_size: int = doc("GPUs per group, m.", default=8)
    inter_gbit_per_s: float = doc("Bandwidth between groups, B.", default=80.0)
    intra_gbit_per_s: float = doc("Bandwidth within a group, B'.", default=2000.0)

    def cluster(self, num_gpus: int, nic: Nic = "rail") -> Cluster:
        """Return so many GPUs of it. Raises SpecError where they do not fill groups."""
        return Cluster(
            num_gpus=num_gpus, group_size=self.group_size, nic=nic,
            inter_gbit_per_s=self.inter_gbit_per_s, intra_gbit_per_s=self.intra_gbit_per_s,
        )  # fmt: skip
