"""Tables made by hand: a row for each combination of what its columns may be."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

import pandas as pd


def grid(**columns: Iterable[object]) -> pd.DataFrame:
    """Return every combination of the columns' values, the last column's changing first.

    >>> grid(seed=(0, 1), scheme=("sp", "mup")).to_dict("list")
    {'seed': [0, 0, 1, 1], 'scheme': ['sp', 'mup', 'sp', 'mup']}
    """
    return pd.DataFrame(itertools.product(*columns.values()), columns=[*columns])
