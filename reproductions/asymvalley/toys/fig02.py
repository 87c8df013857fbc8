"""Figure 2: what raw, filter-norm-scaled and norm-scaled noise do to direction and length."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import old_task
from harness.declare.table import Column, Table
from reproductions.asymvalley.models.scopes import identity, trained
from reproductions.asymvalley.toys.quantities import (
    NO_GPU_GRID,
    ONE_SEED,
    TOY,
    TOY_EXACT,
    largest_turn,
    length_error,
    smallest_turn,
)
from reproductions.asymvalley.toys.scaling import experiment

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 2 and section 3.2"

COLUMNS = Table(
    (
        Column(name="noise", type="str", role="param", doc="Kind of noise."),
        Column(name="width", type="int", role="param", doc="Channels of the first stage."),
        Column(name="seed", type="int", role="seed", doc="Draws net and noise."),
        Column(name="norm", type="str", role="param", doc="raw, filter_ns or ns."),
        Column(
            name="one_dim_rule",
            type="str",
            role="param",
            doc="What filter_ns does to biases and batch normalisation: abs (times |w|), skip"
            " (zero), copy (the weights themselves); empty elsewhere.",
        ),
        Column(
            name="one_minus_cosine",
            type="float",
            role="value",
            doc="1 minus the cosine between noise and scaled noise.",
        ),
        Column(
            name="norm_ratio",
            type="float",
            role="value",
            doc="Length of the scaled noise over that of the weights.",
        ),
        Column(name="num_params", type="int", role="value", doc="Coordinates of the vector."),
    )
)

CLAIMS = (
    identity(
        "ns_keeps_direction",
        "Norm-scaled noise has the direction of the noise (largest 1 - cosine, below 1e-6).",
        where=WHERE,
        quantity=partial(largest_turn, norm="ns"),
        expected=0.0,
        tolerance=1e-6,
        unit="1 - cosine",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
    ),
    identity(
        "ns_length",
        "Norm-scaled noise is as long as the weights (largest relative difference, below 1e-5).",
        where=WHERE,
        quantity=partial(length_error, norm="ns"),
        expected=0.0,
        tolerance=1e-5,
        unit="relative length",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
    ),
    trained(
        "filter_ns_turns",
        "Filter-norm-scaled noise has another direction, for every kind of noise (least 1 - cosine"
        " over the kinds, above 0.001).",
        form="at_least",
        where=WHERE,
        quantity=partial(smallest_turn, norm="filter_ns", rule="abs"),
        bound=1e-3,
        unit="1 - cosine",
        profiles=TOY,
        out_of_profile=ONE_SEED,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw the angle and the length of each kind of noise under each scaling."""
    from reproductions.asymvalley.toys.figures import scaling_panels

    return scaling_panels(context)


task = old_task(
    id="asymvalley/fig02",
    title="Three ways to scale a noise",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Left: 1 minus the cosine between a noise and its scaled form; norm scaling changes no"
    " direction, only rounding is left. Right: length over that of the weights. Marks are means"
    " over seeds, bars their standard error (mostly smaller than the marks). A VGG16 with batch"
    " normalisation at its start; filter-NS multiplies one-dimensional tensors by |w|. The paper's"
    " figure is a diagram without numbers.",
    alt="Two panels over seven kinds of noise with logarithmic axes: turning angle and relative"
    " length under raw, filter-norm and norm scaling.",
)
