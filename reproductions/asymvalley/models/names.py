"""How noises and groups of parameters are called in figures and verdicts."""

from __future__ import annotations

from reproductions.asymvalley.method.directions import NOISE_GROUPS

NOISE_LABELS = {
    "gaussian": "G(0,1)",
    "uniform": "U(-1,1)",
    "ternary": "{-1,0,1}",
    "gaussian_mean1": "G(1,1)",
    "uniform01": "U(0,1)",
    "binary": "{0,1}",
    "ones": "{1}",
}
GROUP_LABELS = dict(
    zip(NOISE_GROUPS, ("all", "classifier", "features", "first blocks", "conv", "BN"), strict=True)
)
