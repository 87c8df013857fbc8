"""What tab03 and tab04 share: the columns of a settings table, its view, its exact claims."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.claims import Claim
from harness.task import PROFILES, Column, Columns
from reproductions.supar.paper_values import stated
from reproductions.supar.quantities import setting

if TYPE_CHECKING:
    import pandas as pd

    from harness.task import Frames

CONFIGURATION = "supar/configuration"

COLUMNS = Columns(
    (
        Column(name="item", type="str", role="param", doc="The table or figure concerned."),
        Column(name="setting", type="str", role="param", doc="Named as in the reference rows."),
        Column(name="scheme", type="str", role="param", doc="sp, mup, supar, or all of them."),
        Column(name="value", type="float", role="value", doc="What our `paper` grid uses."),
    )
)


def settings_table(frames: Frames, *, items: tuple[str, ...]) -> pd.DataFrame:
    """Return the settings of some items, one row each."""
    frame = frames[CONFIGURATION].rename(columns={"of_scheme": "scheme"})
    return frame[frame["item"].isin(items)]


def setting_claim(
    *,
    item: str,
    name: str,
    value: float,
    where: str,
    scheme: str = "all",
    series: str = "",
    tolerance: float = 0.0,
) -> Claim:
    """Return the exact claim that one setting of our `paper` grid is the published one.

    tolerance: half a unit of the last digit that the paper prints, where ours has more digits.
    """
    suffix = "" if scheme == "all" else f"_{scheme}"
    return Claim(
        id=f"{item}_{name}{suffix}".lower(),
        statement=f"Our `paper` grid sets {name.replace('_', ' ')}"
        + (f" of {scheme}" if suffix else "")
        + f" to the published {value:.8g}.",
        where=where,
        form="equal",
        grade="exact",
        quantity=partial(setting, item=item, scheme=scheme, name=name),
        threshold=value,
        threshold_from="paper",
        profiles=PROFILES,
        tolerance=tolerance,
        deterministic=True,
        paper_value=partial(stated, y_name=name, series=series),
    )
