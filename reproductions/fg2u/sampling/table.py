"""Tables of both tasks: a row per method and number of directions."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, columns_of, measured, param, value
from reproductions.fg2u.sampling.experiment import (
    COORDINATE,
    GAUSSIAN,
    RADEMACHER,
    Draws,
    samples,
)

KINDS = (RADEMACHER, GAUSSIAN, COORDINATE)


def drawn_rows(tables: Tables) -> Frame:
    """Return the rows of (FG)2U by its directions."""
    rows = tables[samples.id]
    return rows[rows["method"].isin(KINDS)].reindex(columns=DISTRIBUTIONS.names)


POINT = (
    *columns_of(Draws, "side", "num_steps"),
    param("num_meta", int, "N, the number of learned pixels."),
    param("method", str, "(FG)2U by its directions; biased methods with the steps or terms kept."),
    param("num_directions", int, "b, directions per estimate; 0 for a method without."),
    *columns_of(Draws, "seed"),
)
NOISE = (
    value(
        "relative_error",
        float,
        "Root mean square of |estimate - g| over |g|, g being the exact gradient.",
    ),
    value(
        "square_gap",
        float,
        "Mean square error over its closed form, less one: (N-1)/b for Rademacher directions,"
        " (N+1)/b for Gaussian ones, N/b - 1 for coordinates without replacement.",
        nullable=True,
    ),
    value("cosine", float, "Cosine with g; over draws its root mean square."),
    value("least_cosine", float, "Least cosine over draws."),
    value("mean_error", float, "|mean of all draws - g| over |g|.", nullable=True),
    value("num_estimates", int, "Estimates, of disjoint groups of draws."),
)
SECONDS = measured(
    "seconds",
    float,
    "Median time of an estimate, all directions at once; of (FG)2U with Rademacher directions, as"
    " others take as long, and of (FG)2U-ZO.",
    nullable=True,
)
COMPARED = Table.of(
    POINT,
    NOISE,
    value(
        "equal_directions",
        float,
        "The b whose expected cosine sqrt(b / (b + N - 1)) equals that of a biased method.",
        nullable=True,
    ),
    SECONDS,
)
DISTRIBUTIONS = Table.of(POINT, NOISE, SECONDS, make=drawn_rows)
