"""Hand-made live memory, in which each claim plainly holds, or plainly fails."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import pandas as pd

from harness.declare.profiles import Profile
from harness.store.table_csv import build_table
from reproductions.fg2u.live_memory.abl_memory import task
from reproductions.fg2u.live_memory.experiment import Counted, Setting, counted_of, settings
from tests.reproductions.fg2u.trials import Case

UNIT = 100_000
PHI = 1_000


def peak_of(one: Counted, setting: Setting, case: Case) -> int:
    """Plain numbers. Fails: (FG)2U grows with depth, N and the chunk's square, RGU not at all."""
    images = setting.num_images // setting.inner_batch
    units = {"plain": 1.0, "rgu": float(setting.depth), "rgu-mixflow": 4.0}.get(one.method, 3.0)
    if one.method == "fg2u" and case == "holds":
        return 2 * UNIT * one.chunk + (one.chunk + 1) * PHI * images
    if one.method == "fg2u":
        return setting.depth * UNIT * one.chunk**5 + 2 * (one.chunk + 1) * PHI * images
    if case == "fails":
        units = 0.9
    return round(units * UNIT)


def table_of(case: Case, profile: Profile = "cpu") -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for point in settings.params_of(profile):
        setting = Setting.from_json(point)
        sizes = {"num_meta": 64 * setting.num_images, "num_inner": 10}
        phi_bytes = PHI * setting.num_images // setting.inner_batch
        rows += [
            {**point, **asdict(one), **sizes, "phi_bytes": phi_bytes, "status": "done",
             "peak_bytes": peak_of(one, setting, case), "seconds": None}
            for one in counted_of(setting)
        ]  # fmt: skip
    return build_table(task, {settings.id: pd.DataFrame(rows)})
