"""What a run gets from the harness: seeds, data, artifacts, upstream trials."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.atomic import write_bytes
from harness.data import load as datasets
from harness.declare.experiment import Device, Experiment
from harness.declare.params import Params
from harness.declare.profiles import Profile
from harness.errors import DataError, RunError, SpecError
from harness.store.record import ARTIFACT_NAME, ArtifactEntry, Record
from harness.store.store import MAX_ARTIFACT_BYTES, RecordStore
from harness.store.trial import Trial
from harness.untrusted import read_bytes

if TYPE_CHECKING:
    import torch

    from harness.data.codec import Content


class Upstream:
    """Another experiment's finished trial."""

    def __init__(self, trial: Trial, record: Record, store: RecordStore) -> None:
        self._record = record
        self._folder = store.artifact_folder(trial)

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [dict(row) for row in self._record.rows]

    def load(self, name: str) -> dict[str, torch.Tensor]:
        """Return a tensor artifact, by sorted names. Raises DataError where it was altered."""
        from safetensors.torch import load

        entry = next((e for e in self._record.artifacts if e.name == name), None)
        if entry is None:
            known = [e.name for e in self._record.artifacts]
            raise SpecError(f"{self._record.experiment} keeps no artifact {name!r}, only {known}")
        data = read_bytes(self._folder / name, limit=MAX_ARTIFACT_BYTES)
        found = hashlib.sha256(data).hexdigest()
        if found != entry.sha256:
            raise DataError(f"artifact {name} was altered: expected {entry.sha256}, found {found}")
        # safetensors has names in an order of its own, another one each time; what flattens such
        # a dictionary, as directions do, must find the same one again.
        return dict(sorted(load(data).items()))


class TrialContext:
    """The `RunContext` of one trial in a worker."""

    def __init__(
        self, trial: Trial, store: RecordStore, profile: Profile, *, code: str = ""
    ) -> None:
        """code: the digest of what the trial runs; a checkpoint of other code is not used."""
        self.profile = profile
        self.device: Device = trial.needs.device
        self.artifacts: list[ArtifactEntry] = []
        self.control: dict[str, float] = {}
        self._trial = trial
        self._store = store
        self._code = code
        self._data: dict[str, dict[str, str]] = {}
        if trial.needs.exclusive:
            from harness.measure.control import measure_control

            self.control = measure_control(self.device)

    def seed(self, stream: str) -> int:
        return self._trial.seed(stream)

    def dataset(self, name: str) -> Content:
        if name not in self._trial.needs.data:
            raise SpecError(f"{self._trial.name} reads {name!r}: declare it in needs")
        content = datasets.load(name)
        self._data[name] = {"variant": content.variant, "sha256": content.sha256}
        return content

    def data_provenance(self) -> dict[str, dict[str, str]]:
        """Return variant and hash of the data that was read, and the hash of what was not.

        A record is held against its key, to which all that was declared belongs.
        """
        unread = {n: {"variant": "unread", "sha256": h} for n, h in self._trial.data.items()}
        return dict(sorted({**unread, **self._data}.items()))

    def save(self, name: str, tensors: Mapping[str, torch.Tensor]) -> None:
        from safetensors.torch import save

        if not re.fullmatch(ARTIFACT_NAME, name):
            raise SpecError(f"artifact {name!r}: need a plain file name that ends in .safetensors")
        data = save({key: tensor.detach().contiguous() for key, tensor in tensors.items()})
        write_bytes(self._store.artifact_folder(self._trial) / name, data)
        sha256 = hashlib.sha256(data).hexdigest()
        self.artifacts = [entry for entry in self.artifacts if entry.name != name]
        self.artifacts.append(ArtifactEntry(name=name, sha256=sha256, num_bytes=len(data)))

    def upstream(self, experiment: Experiment, point: Params) -> Upstream:
        params = point.to_json()
        for source in self._trial.upstream:
            if source.experiment.id == experiment.id and dict(source.params) == params:
                record = self._store.result(source)
                if record is None:
                    raise RunError(f"{source.name} has no result: run it first")
                return Upstream(source, record, self._store)
        raise SpecError(
            f"{self._trial.name} does not declare {experiment.id} with {params} in uses"
        )

    def checkpoint_path(self) -> Path:
        """Return the trial's file for its state; what other code trained is never gone on from."""
        return self._checkpoints / f"{self._trial.key}-{self._code[:16]}.safetensors"

    def discard_checkpoints(self) -> None:
        """Remove what the trial kept of its state: its result is written."""
        for path in self._checkpoints.glob(f"{self._trial.key}-*.safetensors"):
            path.unlink(missing_ok=True)

    @property
    def _checkpoints(self) -> Path:
        return self._store.workspace.runs / "checkpoints"
