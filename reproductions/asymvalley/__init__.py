"""Asymmetric valleys and FedSign (arXiv 2405.12489): walks through any trained network.

Usable alone, on any `nn.Module`:

    data = ValleyData(test_images=x, test_labels=y, statistics_images=some_training_images)
    layout = layout_of(model)
    eps = draw_noise("gaussian", layout.size, seed=0, draw=0)
    eta = sign_consistent(eps, parameters_vector(model))
    curve = valley_curve(model, eta, [-1, -0.5, 0, 0.5, 1], scale=1.0, norm="ns",
                         bn_stats="recalibrate", data=data)
    curve.sides().asymmetry, curve.to_frame(), curve.plot()

The model handed in is never changed. Federated algorithms are in `method.federated`: each is a loss
of the client and a rule of the server.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reproductions.asymvalley.method.asymmetry import Sides, sides
from reproductions.asymvalley.method.directions import BN_STATS, DIRECTIONS, NOISES, NORMS

if TYPE_CHECKING:
    from reproductions.asymvalley.method.batch_norm import recalibrate
    from reproductions.asymvalley.method.curve import ValleyCurve, Walk, valley_curve
    from reproductions.asymvalley.method.data import ValleyData
    from reproductions.asymvalley.method.interpolation import group_statistics, interpolation_curve
    from reproductions.asymvalley.method.layout import (
        Layout,
        layout_of,
        parameters_vector,
        same_sign_ratio,
    )
    from reproductions.asymvalley.method.noise import (
        draw_noise,
        partly_consistent,
        sign_consistent,
        special_direction,
    )
    from reproductions.asymvalley.method.scaling import scale_direction
    from reproductions.asymvalley.models.curves import asymmetry_interval

__all__ = [
    "valley_curve",
    "ValleyCurve",
    "ValleyData",
    "Walk",
    "recalibrate",
    "layout_of",
    "Layout",
    "parameters_vector",
    "same_sign_ratio",
    "draw_noise",
    "sign_consistent",
    "partly_consistent",
    "special_direction",
    "scale_direction",
    "interpolation_curve",
    "group_statistics",
    "Sides",
    "sides",
    "asymmetry_interval",
    "NOISES",
    "DIRECTIONS",
    "NORMS",
    "BN_STATS",
]

_NEED_TORCH = (
    "method.layout", "method.noise", "method.curve", "method.interpolation", "models.curves",
)  # fmt: skip
"""They import what else there is."""


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    for module in _NEED_TORCH if name in __all__ else ():
        found = import_module(f"{__name__}.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
