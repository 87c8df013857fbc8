"""The long form of a table: seeds aggregated, and what has no value said."""

import numpy as np
import pandas as pd

from harness.declare.table import Table, param, seed_column, value
from harness.publish.report.long_table import grid

COLUMNS = Table.of(
    param("density", float, "Kept."),
    seed_column("Draw."),
    value("loss", float, "Loss.", nullable=True),
    value("diverged", bool, "Whether."),
)
ROWS = [(1.0, seed, loss, False) for seed, loss in enumerate((2.0, 2.5, 3.0))]
ROWS += [(0.5, seed, loss, np.isnan(loss)) for seed, loss in enumerate((4.0, np.nan, 4.2))]
ROWS += [(0.25, seed, np.nan, True) for seed in range(3)]


def test_diverged_runs_are_counted_and_shown() -> None:
    header, rows = grid(COLUMNS, pd.DataFrame(ROWS, columns=COLUMNS.names))
    assert header == ["density", "seeds", "loss", "diverged"]
    assert rows == [
        ["1", "3", "2.50 \u00b1 0.29", "no"],
        ["0.5", "3", "4.10 \u00b1 0.10 (2 of 3)", "1 of 3"],
        ["0.25", "3", "no value", "yes"],
    ]
