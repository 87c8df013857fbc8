import itertools

import pandas as pd

from harness.declare.layout import Cell, Layout, Line


def test_a_row_s_places_are_those_that_are_searched_one_by_one() -> None:
    """A column's words go before those of its row, and these before the layout's."""
    points = itertools.product(("sgd", "adam"), (1, 2, 3), ("a", "b"), (0, 1))
    table = pd.DataFrame(points, columns=["optimizer", "width", "task", "seed"])
    table["loss"] = range(len(table))
    layout = Layout(
        where={"task": "a", "width": 1},
        rows=(Line("as the layout"), Line("another width", where={"width": 2})),
        columns=(
            Line("adam", where={"optimizer": "adam"}),
            Line("a width of its own", where={"optimizer": "sgd", "width": 3}),
            Line("another task", where={"task": "b"}),
            Line("nothing", where={"optimizer": "lion"}),
        ),
        cell=Cell("loss"),
    )
    sizes = []
    for row in layout.rows:
        for column in layout.columns:
            found = layout.searched(table)(row, column)
            pd.testing.assert_frame_equal(found, layout.at(table, row, column)[["loss"]])
            sizes.append(len(found))
    assert sizes == [2, 2, 4, 0, 2, 2, 4, 0]
