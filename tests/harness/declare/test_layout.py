import itertools

import pandas as pd

from harness.declare.layout import Cell, Layout, Line


def test_a_column_s_words_go_before_those_of_its_row() -> None:
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
    found = layout.searched(table)
    sizes = [len(found(row, column)) for row, column in layout.places()]
    assert sizes == [2, 2, 4, 0, 2, 2, 4, 0]
    assert found(layout.rows[1], layout.columns[0])["loss"].tolist() == [16, 17]
