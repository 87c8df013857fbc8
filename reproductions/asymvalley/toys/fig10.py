"""Figure 10: the pattern of a class weight survives sign-consistent noise on one side."""

from harness.declare import Task, claims, equal, more_than
from reproductions.asymvalley.models.controls import TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import patterns

task = Task(
    "asymvalley/fig10",
    reads=(patterns,),
    table=table.PATTERNS,
    claims=claims(
        "Figure 10 and section 5",
        (
            "pattern_kept",
            TOY_CHECK,
            more_than(q.smallest_pattern_gain, 0, "cosine"),
            # By the inequality of Cauchy and Schwarz, where the weight is not constant in size.
            "Every class weight keeps more of its pattern at l = +a than at l = -a.",
        ),
        (
            "cosine_as_computed",
            TOY_CHECK,
            equal(q.pattern_error, 0, "cosine", tolerance=1e-8),
            "Every cosine is that of its closed form in three norms of the weight.",
        ),
    ),
    figure="figures:pattern_images",
    caption="Class weights of softmax regression on the digits as images of 8 x 8 pixels,"
    " w + l sign(w); one row per l, one column per digit. Light is positive, dark negative; each"
    " image has its own scale, symmetric around zero. The fit has no seeds.",
    alt="A grid of small images, ten digits by seven noise sizes: the weight patterns stay visible"
    " for positive sizes and turn into their opposite for negative ones.",
)
