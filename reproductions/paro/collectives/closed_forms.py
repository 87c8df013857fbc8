"""Tables 4 to 7 in symbols, as they are rebuilt: what a reader can check by hand.

n GPUs in g groups of m, B between groups, B' within; V bytes of all parameters, V' of the trainable
ones. X = (g-1)/g (V'/m)/B, Y = (m-1)/m V'/B', Z = (n-1)/n V'/B; of V they are x, y and z.
"""

from __future__ import annotations

from operator import mul

from reproductions.paro.method.cluster import Cluster, Workload
from reproductions.paro.method.schedule import Term
from reproductions.paro.method.step_time import World

Sum = tuple[int, int, int]
"""How many of X, Y and Z."""
SUMS: dict[Term, dict[str, Sum]] = {
    "param": {"N": (0, 0, 0), "I": (0, 2, 0), "G": (0, 0, 2)},
    "gradient": {"N": (0, 0, 0), "I": (0, 1, 0), "G": (0, 0, 1)},
    "sync_g": {
        "NN": (0, 0, 2), "NI": (2, 1, 0), "NG": (0, 0, 1),
        "IN": (2, 1, 0), "II": (2, 0, 0), "IG": (1, 0, 0),
        "GN": (0, 0, 1), "GI": (1, 0, 0), "GG": (0, 0, 0),
    },
    "sync_p": {
        "NN": (0, 0, 0), "NI": (0, 1, 0), "NG": (0, 0, 1),
        "IN": (0, 0, 0), "II": (0, 0, 0), "IG": (1, 0, 0),
        "GN": (0, 0, 0), "GI": (0, 0, 0), "GG": (0, 0, 0),
    },
}  # fmt: skip
"""By the granularity held; of two the first is that of gradients or parameters, the second that of
optimizer states."""


def rings_of(num_bytes: float, cluster: Cluster, world: World) -> tuple[float, float, float]:
    """Return X, Y and Z of so many bytes; Z of one ring, or in PaRO-CC's two steps (hier)."""
    n, m, g = cluster.num_gpus, cluster.group_size, cluster.num_groups
    between, within = cluster.inter_bytes_per_s, cluster.intra_bytes_per_s
    hop, row = num_bytes / n / between, (m - 1) * num_bytes / n / within
    slowest = within if g == 1 else between if m == 1 else min(between, within)
    flat = (n - 1) / n * num_bytes / slowest
    return (
        (g - 1) / g * (num_bytes / m) / between,
        (m - 1) / m * num_bytes / within,
        flat if world == "flat" else max((g - 1) * hop, row) + (g - 1) * row,
    )


def closed_form_s(
    term: Term, letters: str, workload: Workload, cluster: Cluster, world: World
) -> float:
    """Return the seconds of a term by its sum of X, Y and Z."""
    moved = {
        "param": workload.param_bytes * workload.num_params,
        "sync_p": workload.param_bytes * workload.num_trainable,
    }.get(term, workload.grad_bytes * workload.num_trainable)
    return sum(map(mul, SUMS[term][letters], rings_of(moved, cluster, world)))


def in_symbols(term: Term, letters: str) -> str:
    """Return a term's sum as text.

    >>> in_symbols("sync_g", "NI"), in_symbols("param", "G"), in_symbols("sync_p", "NN")
    ('2X + Y', '2z', '0')
    """
    names = "xyz" if term == "param" else "XYZ"
    parts = zip(SUMS[term][letters], names, strict=True)
    return " + ".join(f"{n if n > 1 else ''}{name}" for n, name in parts if n) or "0"
