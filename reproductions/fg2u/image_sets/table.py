"""The table of Table 1: a row per set of images, and per method whose gradient was compared."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

from harness.declare import Frame, Table, Tables, artifact, columns_of, measured, param, value
from reproductions.fg2u.image_sets.experiment import METHODS, alignments, continuations, runs
from reproductions.fg2u.image_sets.params import NUM_DIRECTIONS, Condensation

ACCURACY, COSINE = "accuracy", "cosine"
"""Parts of the table."""
FIRST_PHASE = "first phase"
SHOWN = ("real", *METHODS)
"""What the figure draws images of, in its order."""


def label(dataset: str, ipc: int, name: str) -> str:
    """Return what tells a set of images apart, whatever its seed.

    >>> label("mnist", 10, "fg2u"), label("mnist", 0, "whole")
    ('mnist 10 fg2u', 'mnist whole')
    """
    return " ".join(filter(None, [dataset, str(ipc) if ipc else "", name]))


def fg2u_name(num_directions: int) -> str:
    """Return the name of (FG)2U, with its directions where they are not the paper's."""
    return "fg2u" if num_directions == NUM_DIRECTIONS else f"fg2u b={num_directions}"


def twice(method: str) -> str:
    """Return the name of a second phase that has twice the steps."""
    return f"{method} twice"


def in_equal_time(method: str) -> str:
    """Return the name of a method whose outer steps fill (FG)2U's time."""
    return f"{method} in equal time"


def image_set_rows(tables: Tables) -> Frame:
    """Return all parts, one above the other, named; images of the first seed alone."""
    import pandas as pd

    parts = []
    for experiment, naming in ((runs, _from_noise), (continuations, _continued)):
        if experiment.id in tables:
            rows = tables[experiment.id]
            names = [naming(row) for row in rows.to_dict("records")]
            if experiment is runs:
                names = _longer_named(rows, names)
            several = zip(rows["dataset"], rows["ipc"], names, strict=True)
            labels = [label(*each) for each in several]
            parts.append(rows.assign(part=ACCURACY, name=names, label=labels))
    if alignments.id in tables:
        rows = tables[alignments.id]
        labels = [f"gradient of {name}" for name in rows["estimate"]]
        # Its parameters are those of the images, not of the gradient.
        plain: dict[str, Any] = {
            "method": "",
            "num_directions": 0,
            "keep": 0,
            "terms": 0,
            "steps": 0,
            "lr": 0.0,
        }
        parts.append(rows.assign(part=COSINE, name=rows["estimate"], label=labels, **plain))
    found = pd.concat(parts, ignore_index=True).reindex(columns=SETS.names)
    drawn = found["name"].isin(SHOWN) & (found["seed"] == found["seed"].min())
    kept = drawn & (found["part"] == ACCURACY) & (found["pixels"] != "")
    found["pixels"] = found["pixels"].where(kept, None)
    return found.fillna({"first_steps": 0})


def _from_noise(row: Mapping[Hashable, Any]) -> str:
    method, ipc = str(row["method"]), int(str(row["ipc"]))
    if ipc > 1 and method in METHODS:
        return FIRST_PHASE
    return fg2u_name(int(str(row["num_directions"]))) if method == "fg2u" else method


def _longer_named(rows: Frame, names: list[str]) -> list[str]:
    """Return names, in which methods of more outer steps than (FG)2U's of their cell say so."""
    usual = rows[rows["method"] == "fg2u"].groupby(["dataset", "ipc"])["steps"].min().to_dict()
    cells = zip(rows["dataset"], rows["ipc"], rows["steps"], rows["method"], names, strict=True)
    return [
        in_equal_time(name)
        if method in METHODS and steps > usual.get((dataset, ipc), steps)
        else name
        for dataset, ipc, steps, method, name in cells
    ]


def _continued(row: Mapping[Hashable, Any]) -> str:
    method = str(row["method"])
    return method if row["times"] == 1 else twice(method)


SETS = Table.of(
    param("part", str, "accuracy of a set of images, or cosine of a gradient with the exact one."),
    param("label", str, "Cell and name."),
    param("name", str, "Method; a number of directions that is not the paper's, twice the steps."),
    columns_of(Condensation, "dataset", "data", "image_size", "ipc", "width", "method"),
    columns_of(Condensation, "num_directions", "keep", "terms", "depth"),
    param("first_steps", int, "Outer steps of a first phase by Hessian-free; 0 without."),
    columns_of(Condensation, "steps", "lr", "num_nets", "test_steps", "seed"),
    value("ratio", float, "Images over those of the training set that was read.", nullable=True),
    value("test_accuracy", float, "Share of test images right, mean over nets.", nullable=True),
    value("accuracy_sd", float, "Its standard deviation over those nets.", nullable=True),
    value("outer_loss", float, "Mean over the last tenth of the outer steps.", nullable=True),
    value("peak_bytes", int, "Live tensors of one gradient, counted.", nullable=True),
    value("cosine", float, "With the exact gradient, mean over nets and batches.", nullable=True),
    value("norm_ratio", float, "Norm over the exact gradient's, likewise.", nullable=True),
    value(
        "equal_directions", float, "Directions of (FG)2U whose expected cosine this is.",
        nullable=True,
    ),
    artifact(
        "pixels", "Of the first seed: an image of each of ten classes, a hexadecimal digit per"
        " pixel.",
    ),
    measured("estimates_s", float, "Seconds of all gradients.", nullable=True),
    make=image_set_rows,
)  # fmt: skip
