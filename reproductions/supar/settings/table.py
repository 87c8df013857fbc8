"""Tables of settings: what our `paper` grids use, one row per setting, scheme and density."""

from __future__ import annotations

from harness.declare import Frame, Table, Tables, columns_of, param, value
from reproductions.supar.settings.experiment import ALL, Item, configuration
from reproductions.supar.settings.quantities import printed

COLUMNS = (
    *columns_of(Item, "item"),
    param("setting", str, "Named as in the reference rows."),
    param("scheme", str, "sp, mup, supar, or all of them."),
    param("density", str, "Density of a rung of a ladder, or all."),
    value("value", float, "What our `paper` grids use."),
)
NAMES = {"of_scheme": "scheme", "of_density": "density"}


def of_table(word: str) -> Table:
    """Return the settings of Table 3, or of every row of Table 4.

    What the paper prints of one scheme alone is that scheme's, where ours is one value for all.
    """

    def make(tables: Tables) -> Frame:
        frame = tables[configuration.id].rename(columns=NAMES)
        frame = frame[(frame["item"] == "tab03") == (word == "tab03")]
        schemes: dict[tuple[str, str], set[str]] = {}
        for cell in printed(word):
            schemes.setdefault((cell.item, cell.name), set()).add(cell.scheme or ALL)
        alone = {place: min(found) for place, found in schemes.items() if len(found) == 1}
        places = zip(frame["item"], frame["setting"], frame["scheme"], strict=True)
        named = [alone.get((i, name), ALL) if of == ALL else of for i, name, of in places]
        return frame.assign(scheme=named)

    return Table.of(COLUMNS, make=make)
