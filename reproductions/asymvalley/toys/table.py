"""Tables of the toys."""

from harness.declare import Table, columns_of, param, value
from reproductions.asymvalley.models.columns import SIGN_CONSISTENT
from reproductions.asymvalley.toys.experiment import Scaling, SoftmaxNoise, Unit

SCALINGS = Table.of(
    Scaling,
    param("norm", str, "raw, filter_ns or ns."),
    param(
        "one_dim_rule",
        str,
        "What filter_ns does to biases and batch normalisation: abs (times |w|), skip (zero), copy"
        " (the weights themselves); empty elsewhere.",
    ),
    value("one_minus_cosine", float, "1 minus the cosine between noise and scaled noise."),
    value("norm_ratio", float, "Length of the scaled noise over that of the weights."),
    value("num_params", int, "Coordinates of the vector."),
)
PATTERNS = Table.of(
    param("part", str, "pixel: the fitted weights; step: the weights under noise."),
    param("digit", int, "Class, 0 to 9."),
    param("x", float, "Pixel, 0 to 63 by rows; or l in units of the class's median |w|."),
    value("weight", float, "Fitted weight of that pixel.", nullable=True),
    value("cosine", float, "Cosine between w + l sign(w) and w.", nullable=True),
    value("expected_cosine", float, "The same in closed form.", nullable=True),
    value(
        "margin",
        float,
        "Own score minus the best other, mean over the images of the class; all classes are"
        " perturbed, each by its own l.",
        nullable=True,
    ),
)
UNITS = Table.of(
    Unit,
    param("part", str, "summary: the whole sample; bin: one bin of its histogram."),
    param("lambda", float, "l, the size of the noise."),
    param("x", float, "Middle of the bin; 0 in a summary."),
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("mean", "Mean of (w + l sign(w))^T h."),
            ("expected_mean", "The same in closed form."),
            ("standard_error", "Standard error of the mean."),
            ("active", "Share of draws with a positive pre-activation."),
            ("mean_output", "Mean after the ReLU."),
            ("density", "Share of draws in the bin, over its width."),
        )
    ),
)
METRICS = Table.of(
    columns_of(SoftmaxNoise, "seed"),
    SIGN_CONSISTENT,
    param("lambda", float, "Size of the noise."),
    (
        value(name, float, doc)
        for name, doc in (
            ("error", "Share of wrong classes on the training data, as in the listing."),
            ("ce", "Mean cross-entropy, nats."),
            ("trace_p", "Mean of sum_c p_c (1 - p_c)."),
            ("trace_h", "Trace of the Hessian of the mean cross-entropy."),
            ("first_order_eps", "Noise times gradient."),
            ("second_order_eps", "Noise times Hessian times noise."),
            ("first_order_weight", "Perturbed weights times gradient, as in the listing."),
            ("second_order_weight", "Perturbed weights twice times Hessian, as in the listing."),
        )
    ),
)
