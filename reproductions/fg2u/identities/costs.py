"""Costs that can be counted: matrix products' FLOPs, and bytes per inner step.

Section 3.2 of the paper (arXiv 2406.14095v2) says that a forward derivative takes about three times
the FLOPs of the unroll.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

from harness.declare import Row
from reproductions.fg2u.identities.problems import images, row
from reproductions.fg2u.method.directions import make_directions
from reproductions.fg2u.method.forward import Directional, Fg2u, Fg2uZo
from reproductions.fg2u.method.methods import hypergradient
from reproductions.fg2u.method.trees import num_bytes, split

NUM_STEPS = 2
CHUNKS = (1, 2, 4)
DEPTHS = (4, 8)


def cost_rows() -> list[Row]:
    """Return the rows of the group."""
    return [*_flops(), *_bytes_per_step()]


def flops(run: Callable[[], Any]) -> int:
    """Return the FLOPs of all matrix products in a call, those on tangents too."""
    with FlopCounterMode(display=False) as counter:
        run()
    return int(counter.get_total_flops())


def _flops() -> Iterator[Row]:
    """Yield the slopes of h along a chunk of directions against the plain unroll, and by
    differences against by forward derivatives.

    The sum of w v, 2 N FLOPs a direction and the same for all, is left out.
    """
    problem, phi, _ = images(num_steps=NUM_STEPS)

    def slopes(method: Directional, chunk: int) -> int:
        drawn = make_directions("rademacher", chunk, phi.numel(), 0)
        rows = split(drawn.rows(range(chunk)), phi)
        return flops(lambda: method.slopes(problem, phi, None, rows))

    with torch.no_grad():
        plain = flops(lambda: problem.unroll(phi, None))
        for chunk in CHUNKS:
            ahead = slopes(Fg2u(num_directions=chunk), chunk)
            yield row("forward_flops", f"T = {NUM_STEPS}", chunk, ratio=ahead / plain)
            differences = slopes(Fg2uZo(num_directions=chunk, scheme="forward"), chunk)
            yield row("zo_flops", f"T = {NUM_STEPS}", chunk, ratio=differences / ahead)


def _bytes_per_step() -> Iterator[Row]:
    """Yield what each further inner step adds to mixflow's peak, over the bytes of theta."""
    peaks = []
    for depth in DEPTHS:
        problem, phi, init = images(num_steps=depth)
        peaks.append(hypergradient("rgu-mixflow").peak_bytes(problem, phi))
    slope = (peaks[1] - peaks[0]) / (DEPTHS[1] - DEPTHS[0])
    setting = f"T = {DEPTHS[0]} and {DEPTHS[1]}"
    yield row("mixflow_bytes", setting, 1, ratio=slope / num_bytes(init))
