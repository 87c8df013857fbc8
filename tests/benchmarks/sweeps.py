"""Runs `repro` in a process of its own, on the benchmarks' papers, in a workspace of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).parents[2]


@dataclass(frozen=True)
class SweepWorkspace:
    """A folder with an empty workspace, and an entry point that names the benchmarks' papers."""

    folder: Path

    def install(self) -> SweepWorkspace:
        """Write the metadata that makes the papers visible to whoever has it on its path."""
        metadata = self.folder / "site" / "bench_papers-0.dist-info"
        metadata.mkdir(parents=True)
        (metadata / "METADATA").write_text(
            "Metadata-Version: 2.1\nName: bench-papers\nVersion: 0\n", encoding="utf-8"
        )
        (metadata / "entry_points.txt").write_text(
            "[paper_reproductions.papers]\nbench = bench_papers\n", encoding="utf-8"
        )
        return self

    def repro(
        self, *arguments: str, num_trials: int, num_steps: int = 20, root: str = "root"
    ) -> float:
        """Run one `repro` command to its end and return its wall time in seconds.

        num_steps: of training, per trial that trains.
        """
        path = [self.folder / "site", Path(__file__).parent, SOURCE]
        settings = {
            "PYTHONPATH": os.pathsep.join(map(str, path)),
            "REPRO_ROOT": str(self.folder / root),
            "BENCH_TRIALS": str(num_trials),
            "BENCH_STEPS": str(num_steps),
            "OMP_NUM_THREADS": "1",
            "OMP_WAIT_POLICY": "passive",
        }
        (self.folder / root).mkdir(exist_ok=True)
        command = [sys.executable, "-m", "harness.cli", *arguments]
        start = time.perf_counter()
        done = subprocess.run(
            command, env={**os.environ, **settings}, capture_output=True, text=True
        )
        wall_s = time.perf_counter() - start
        assert done.returncode == 0, f"{' '.join(arguments)} failed:\n{done.stderr[-2000:]}"
        return wall_s

    def num_results(self, experiment: str, root: str = "root") -> int:
        """Count the records of an experiment that are results."""
        folder = self.folder / root / "runs" / "records" / experiment
        records = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")]
        return sum(record["record"]["status"] == "done" for record in records)
