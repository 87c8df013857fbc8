"""From the parameters of a timing trial to its rows: one per method, chunk and processes."""

from __future__ import annotations

from dataclasses import asdict

import torch

from harness.declare import Row, RunContext
from harness.measure.live_bytes import peak_of
from harness.measure.machine import load_average
from harness.measure.timing import quantiles
from reproductions.fg2u.method.workers import Part
from reproductions.fg2u.overview.experiment import Timed, Timing, timed_of
from reproductions.fg2u.overview.timing import Given, estimator_of, problem_of, samples_of


def time_rows(timing: Timing, ctx: RunContext) -> list[Row]:
    """Time all methods in turn, and count what each holds in a process."""
    arrays = ctx.dataset("digits").arrays
    given: Given = {
        "pixels": arrays["x"][: timing.outer_batch].tolist(),
        "labels": arrays["y"][: timing.outer_batch].tolist(),
        "init": ctx.seed("init"),
        "directions": ctx.seed("directions"),
    }
    load = load_average()
    rows: list[Row] = []
    for one, samples in zip(timed_of(timing), samples_of(timing, given), strict=True):
        low, median, high = quantiles(samples)
        rows.append(
            {
                **asdict(one),
                "num_samples": len(samples),
                "peak_bytes": peak_bytes(one, timing, given),
                "median_s": median,
                "p20_s": low,
                "p80_s": high,
                "load_average": load,
            }
        )
    return rows


def peak_bytes(one: Timed, timing: Timing, given: Given) -> int | None:
    """Return the peak of one process beyond phi, data and initial weights, counted apart."""
    problem, phi, batch = problem_of(timing, given)
    if one.method == "plain":
        with torch.no_grad():
            return peak_of(lambda: problem.unroll(phi, batch), measured=True, device=phi.device)[1]
    first = Part(rank=0, count=one.workers)
    generator = torch.Generator().manual_seed(given["directions"])
    return estimator_of(one, timing, first).peak_bytes(problem, phi, batch, generator)
