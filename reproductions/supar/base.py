"""The base hyperparameters that the paper publishes, in the one place that holds them."""

from __future__ import annotations

import math
from dataclasses import replace

from reproductions.supar.parameterization import BaseHyperparameters, Scheme

TABLE_3 = BaseHyperparameters(
    init_std=0.08665602, lr=1.62e-2, input_multiplier=9.1705, output_multiplier=1.0951835
)
"""Table 3: the best of 350 random configurations of a dense proxy of width 256."""

FIGURE_5 = BaseHyperparameters(
    init_std=0.101, lr=1.68e-2, input_multiplier=11.22, output_multiplier=1.0
)
"""Table 4, the row of Figure 5: another set, used for the coordinate check alone."""


def base_for(
    scheme: Scheme, base: BaseHyperparameters, *, lr: float, width_multiplier: float
) -> BaseHyperparameters:
    """Return what a scheme starts from at a peak learning rate.

    SP has no width rule of its own; Table 4 hands it one standard deviation for all matrices:
    sigma_base itself for Figure 5, and sigma_base / sqrt(m_d) for Figures 1, 6, 8 and 14, where
    it prints 2.166e-2 at width 4096, which is 0.08665602 / sqrt(16).
    """
    if scheme == "sp" and base != FIGURE_5:
        base = replace(base, init_std=base.init_std / math.sqrt(width_multiplier))
    return replace(base, lr=lr)
