"""Figure 10: the pattern of a class weight survives sign-consistent noise on one side."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from harness.declare.old import flat_claim, old_task
from harness.declare.table import Column, Table
from reproductions.asymvalley.models.scopes import ABOVE_ZERO, identity, trained
from reproductions.asymvalley.toys.class_patterns import experiment
from reproductions.asymvalley.toys.quantities import (
    NO_GPU_GRID,
    ONE_SEED,
    TOY,
    TOY_EXACT,
    pattern_error,
    smallest_mean_gain,
    smallest_pattern_gain,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from harness.publish.figures import FigureContext

WHERE = "Figure 10 and section 5"


def _step_value(name: str, doc: str) -> Column:
    return Column(name=name, type="float", role="value", doc=doc, nullable=True)


COLUMNS = Table(
    (
        Column(
            name="part",
            type="str",
            role="param",
            doc="pixel: the fitted weights; step: the weights under noise.",
        ),
        Column(name="digit", type="int", role="param", doc="Class, 0 to 9."),
        Column(
            name="x",
            type="float",
            role="param",
            doc="Pixel, 0 to 63 by rows; or l in units of the class's median |w|.",
        ),
        _step_value("weight", "Fitted weight of that pixel."),
        _step_value("cosine", "Cosine between w + l sign(w) and w."),
        _step_value("expected_cosine", "The same in closed form."),
        _step_value(
            "margin",
            "Own score minus the best other, mean over the images of the class; all classes are"
            " perturbed, each by its own l.",
        ),
    )
)

CLAIMS = (
    flat_claim(
        id="pattern_kept",
        statement="For every class the weight keeps more of its pattern at l = +a than at -a, for"
        " a of a quarter to the whole of its median |w| (least difference of cosines). It follows"
        " from the inequality of Cauchy and Schwarz for any weight that is not constant in size.",
        where=WHERE,
        form="at_least",
        grade="exact",
        quantity=partial(smallest_pattern_gain, value="cosine"),
        threshold=ABOVE_ZERO,
        threshold_from="theory",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
        deterministic=True,
        unit="cosine",
    ),
    identity(
        "cosine_as_computed",
        "Every cosine is what three norms of the weight say (largest difference).",
        where=WHERE,
        quantity=pattern_error,
        expected=0.0,
        tolerance=1e-8,
        unit="cosine",
        profiles=TOY_EXACT,
        out_of_profile=NO_GPU_GRID,
    ),
    trained(
        "margin_larger",
        "The mean margin of the true class is larger at l = +a than at -a, for a of a quarter to"
        " the whole of the median |w| (least difference).",
        form="at_least",
        where=WHERE,
        quantity=partial(smallest_mean_gain, value="margin"),
        bound=ABOVE_ZERO,
        unit="score",
        deterministic=True,
        profiles=TOY,
        out_of_profile=ONE_SEED,
    ),
)


def draw(context: FigureContext) -> Figure:
    """Draw one image per class and size."""
    from reproductions.asymvalley.toys.figures import pattern_images

    return pattern_images(context)


task = old_task(
    id="asymvalley/fig10",
    title="Class weights under sign-consistent noise",
    reads=(experiment,),
    columns=COLUMNS,
    claims=CLAIMS,
    figure=draw,
    caption="Class weights of softmax regression on the digits as images of 8 x 8, w + l sign(w);"
    " one row per l, one column per digit. Red is positive, blue negative; each image has its own"
    " scale, symmetric around zero. The fit is deterministic: there are no seeds. The paper's"
    " images are not published as numbers.",
    alt="A grid of small images, ten digits by seven noise sizes: the weight patterns stay visible"
    " for positive sizes and turn into their opposite for negative ones.",
)
