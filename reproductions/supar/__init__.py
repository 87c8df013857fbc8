"""SmuPar (arXiv 2405.15743): hyperparameters that transfer across width and sparsity.

Usable alone, on any module whose hidden layers are nn.Linear:

    supar = Parameterization(scheme="supar", width_multiplier=4, density=1 / 8, base=TABLE_3)
    sparsify(model, layers=hidden, density=1 / 8, generator=generator)
    roles = infer_roles(model, hidden)
    supar.initialize(model, roles, generator)
    groups = param_groups(model, supar, roles, weight_decay=0.1, decay="independent")
    optimizer = torch.optim.AdamW(groups)

`Rigl` and `Gmp` change the masks while training goes on; `Stack` trains the nets of a sweep side by
side; `coordinate_check` tells whether a model of your own keeps the size of its activations,
gradients and updates over width and density.
The forward multipliers are plain numbers for the model to apply: `supar.embedding_multiplier`,
`supar.logit_multiplier`, `supar.attention_scale(head_size)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reproductions.supar.method.parameterization import (
    FIGURE_5,
    SCHEMES,
    TABLE_3,
    BaseHyperparameters,
    Parameterization,
    Rule,
    Scheme,
    param_groups,
)
from reproductions.supar.method.roles import Role, infer_roles

if TYPE_CHECKING:
    from reproductions.supar.method.coordinate_check import CheckedModel, coordinate_check
    from reproductions.supar.method.coordinate_report import CoordinateReport
    from reproductions.supar.method.dynamic import Gmp, Rigl, UpdateSchedule, attach_full_masks
    from reproductions.supar.method.masked_layer import attach_mask
    from reproductions.supar.method.masks import (
        linear_layers,
        masked_layers,
        max_abs_masked,
        restore_masks,
        sparsify,
    )
    from reproductions.supar.method.stacked import Stack

__all__ = [
    "Parameterization",
    "BaseHyperparameters",
    "Rule",
    "Scheme",
    "SCHEMES",
    "Role",
    "infer_roles",
    "param_groups",
    "TABLE_3",
    "FIGURE_5",
    "sparsify",
    "linear_layers",
    "masked_layers",
    "max_abs_masked",
    "restore_masks",
    "attach_mask",
    "Rigl",
    "Gmp",
    "UpdateSchedule",
    "attach_full_masks",
    "Stack",
    "coordinate_check",
    "CheckedModel",
    "CoordinateReport",
]

_NEED_TORCH = (
    "masks", "masked_layer", "dynamic", "stacked", "coordinate_check", "coordinate_report"
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    for module in _NEED_TORCH if name in __all__ else ():
        found = import_module(f"{__name__}.method.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
