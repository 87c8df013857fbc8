"""What a trial gets from the harness, without a store: for tests that run one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from torch import Tensor

from harness.data import load as datasets
from harness.data.codec import Content
from harness.declare.experiment import Device, Experiment
from harness.declare.params import Params, Scalar
from harness.declare.profiles import Profile
from harness.store.seeds import derive_seed


@dataclass
class MadeRun:
    """A `RunContext` whose seeds are those of the harness."""

    seeds: Mapping[str, Scalar]
    """Parameters on which random streams depend."""
    kept: Any = None
    """The upstream trial."""
    data: Mapping[str, Any] = field(default_factory=dict)
    """Values of data sets, by name; others are loaded."""
    saved: dict[str, dict[str, Tensor]] = field(default_factory=dict)
    """What the run kept as artifacts, by name."""
    profile: Profile = "smoke"
    device: Device = "cpu"

    def seed(self, stream: str) -> int:
        return derive_seed(stream, self.seeds)

    def dataset(self, name: str) -> Content:
        if name in self.data:
            return Content(name, "made", "", self.data[name])
        return datasets.load(name)

    def save(self, name: str, tensors: Mapping[str, Tensor]) -> None:
        self.saved[name] = {key: value.clone() for key, value in tensors.items()}

    def upstream(self, experiment: Experiment, point: Params) -> Any:
        assert self.kept is not None
        return self.kept

    def checkpoint_path(self) -> Path:
        return Path("never-written.safetensors")
