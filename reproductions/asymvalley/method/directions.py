"""Names of noises, directions, norms, groups and values, in the paper's order. No torch.

Source: "Exploring and Exploiting the Asymmetric Valley" (arXiv 2405.12489v4), section 4.1.
"""

from __future__ import annotations

from typing import Literal

Noise = Literal["gaussian", "uniform", "ternary", "gaussian_mean1", "uniform01", "binary", "ones"]
Direction = Literal["theta_0", "theta_f", "sign", "sign_centred", "sgp", "sgp_centred"]
Norm = Literal["raw", "ns", "filter_ns"]
OneDimRule = Literal["abs", "skip", "copy"]
Value = Literal["error", "ce"]
BnStats = Literal["recalibrate", "frozen", "none"]
Group = Literal[
    "all", "clf", "feat", "layer1", "conv", "bn",
    "bn_weight", "clf_weight", "clf_bias", "other_weight", "other_bias",
]  # fmt: skip

NOISE_LABELS: dict[Noise, str] = {
    "gaussian": "G(0,1)", "uniform": "U(-1,1)", "ternary": "{-1,0,1}", "gaussian_mean1": "G(1,1)",
    "uniform01": "U(0,1)", "binary": "{0,1}", "ones": "{1}",
}  # fmt: skip
"""The seven common noises, as the paper calls them."""
NOISES = tuple(NOISE_LABELS)
ZERO_SYMMETRIC: tuple[Noise, ...] = ("gaussian", "uniform", "ternary")
DIRECTIONS: tuple[Direction, ...] = (
    "theta_0", "theta_f", "sign", "sign_centred", "sgp", "sgp_centred",
)  # fmt: skip
"""The six special directions: theta_0, theta_f, sign(theta_f), sign(theta_f - mu), sgp(theta_f),
sgp(theta_f - mu); mu is the mean of each parameter tensor."""
NORMS: tuple[Norm, ...] = ("raw", "ns", "filter_ns")
BN_STATS: tuple[BnStats, ...] = ("recalibrate", "frozen", "none")
GROUP_LABELS: dict[Group, str] = {
    "all": "all", "clf": "classifier", "feat": "features", "layer1": "first blocks",
    "conv": "conv", "bn": "BN",
}  # fmt: skip
NOISE_GROUPS = tuple(GROUP_LABELS)
"""Where Figures 6 and 20 put their noise."""
PARTITION: tuple[Group, ...] = (
    "bn_weight", "clf_weight", "clf_bias", "other_weight", "other_bias",
)  # fmt: skip
"""The five parts of all parameters in Figures 8 and 24 to 26."""
VALUE_LABELS: dict[Value, str] = {"error": "test error", "ce": "cross-entropy (nats)"}
"""What a curve shows, as axes call it."""
