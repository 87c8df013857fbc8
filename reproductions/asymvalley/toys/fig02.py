"""Figure 2: what raw, filter-norm-scaled and norm-scaled noise do to direction and length."""

from harness.declare import Task, at_least, claims, equal
from reproductions.asymvalley.models.controls import TOY_CHECK
from reproductions.asymvalley.toys import quantities as q
from reproductions.asymvalley.toys import table
from reproductions.asymvalley.toys.experiment import scalings

task = Task(
    "asymvalley/fig02",
    reads=(scalings,),
    table=table.SCALINGS,
    claims=claims(
        "Figure 2 and section 3.2",
        (
            "ns_keeps_direction",
            TOY_CHECK,
            equal(q.largest_turn, 0, "1 - cosine", tolerance=1e-6),
            "Norm-scaled noise keeps its direction.",
        ),
        (
            "ns_length",
            TOY_CHECK,
            equal(q.length_error, 0, "relative length", tolerance=1e-5),
            "Norm-scaled noise is as long as the weights.",
        ),
        (
            "filter_ns_turns",
            TOY_CHECK,
            at_least(q.smallest_filter_turn, 1e-3, "1 - cosine"),
            "Filter normalization turns every kind of noise.",
        ),
    ),
    figure="figures:scaling_panels",
    caption="Left: cosine of a noise and its scaled form; norm scaling changes no direction."
    " Right: length over that of the weights. Marks are means over seeds, bars their standard"
    " error. The net is a VGG16 with batch normalization at its start; filter-NS multiplies"
    " tensors of one dimension by |w|.",
    alt="Two panels over seven kinds of noise: cosine with the noise, and relative length on a"
    " logarithmic axis, under raw, filter-norm and norm scaling.",
)
