"""Tasks of one shape: what figures of recipes claim alike, and how they are described."""

from __future__ import annotations

from functools import partial

from harness.declare import CHECK, Task, at_least, bind, claims, more_than, ordering
from reproductions.asymvalley.models.controls import (
    LARGEST_ERROR,
    TRAINED,
    Declared,
    at_centre,
    controlled_by,
    errors_of,
    excess_at_ends,
    one_centre,
)
from reproductions.asymvalley.models.pairs import RECIPES, Pair, paper_name
from reproductions.asymvalley.recipes import quantities as q
from reproductions.asymvalley.recipes import table
from reproductions.asymvalley.recipes.experiment import (
    CONTRASTS,
    FIRST_AND_SECOND,
    Contrast,
    recipe_lines,
    recipes,
)

SMALLER = {
    "batch_size": "small_batch_has_smaller_weights",
    "lr": "high_rate_has_smaller_weights",
    "weight_decay": "more_decay_has_smaller_weights",
}


def line_task(word: str, pair: Pair, contrast: Contrast, *, place: str = "") -> Task:
    """Return the task of the line between a net's solutions of two recipes: Figures 8, 24 to 26.

    place: where else than in the figure the paper says it.
    """
    first, second = FIRST_AND_SECOND[contrast]
    never_falls = (
        "consistency_never_falls",
        CHECK,
        at_least(q.least_gain_of_consistency, 0, "share"),
        "In every group the second solution shares at least as many signs with second - first"
        " as the first does.",
    )
    smaller = (
        SMALLER[contrast],
        controlled_by(
            TRAINED, partial(excess_at_ends, bound=LARGEST_ERROR[pair]), pair, varied=True
        ),
        ordering(q.norms, "norm", strict=True).measuring("norm of the second less the first"),
        f"{paper_name(pair)} has smaller weights after training with {first} than with {second}.",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(recipe_lines,),
        table=table.line(pair, contrast),
        claims=claims("Definition of the same-sign ratio, section 4.2.2", never_falls)
        + claims(f"Figure {int(word[3:])}{place}", smaller),
        layout=errors_of({first: {"x": 0.0}, second: {"x": 1.0}}, x="x", part="line"),
        figure=bind("figures:recipe_line_panels", contrast=contrast),
        caption=f"Two solutions: {first} (first) and {second} (second). Mean and standard"
        " deviation of their parameters by group; test error on the line (1 - l) first + l second,"
        " on which dotted lines mark the two; share of the parameters whose sign is that of"
        " second - first. Points and lines are means over seeds; bars and bands reach to the"
        " extremes.",
        alt="Four panels for two solutions: mean and spread of parameters by group, test error on"
        " the line through both, and sign consistency by group.",
    )


def recipe_task(word: str, pair: Pair, *more: Declared, place: str = "") -> Task:
    """Return the task of the valleys after six recipes: Figures 9 and 23.

    more: what this figure claims beside the others. place: as in `line_task`.
    """
    sharper = (
        "recipes_sharpen_the_valley",
        at_centre(TRAINED, pair, by=("recipe",), varied=True),
        more_than(q.sharper_by, 0, "error")
        .naming(*(contrast.replace("_", " ") for contrast in CONTRASTS))
        .measuring("rise of the error along raw noise, sharper recipe less the other"),
        "A higher learning rate, a smaller batch or more weight decay makes the valley of"
        f" {paper_name(pair).split()[0]} sharper.",
    )
    return Task(
        f"asymvalley/{word}",
        reads=(recipes,),
        table=table.curves(pair),
        claims=claims(f"Figure {int(word[3:])}{place}", one_centre("recipe"), *more, sharper),
        layout=errors_of(
            {name.replace("_", " "): {"recipe": name} for name in RECIPES},
            sign_consistent=False,
            draw=0,
        ),
        figure="figures:recipe_panels",
        caption="Test error under G(0,1) noise, norm-scaled with s = 1, after training with one"
        " setting changed. Above: raw. Below: sign-consistent. Lines are means over seeds and"
        " draws; bands reach to the extremes.",
        alt="Two rows of three panels, test error against lambda for higher and lower learning"
        " rate, batch size and weight decay, raw noise above sign-consistent noise.",
    )
