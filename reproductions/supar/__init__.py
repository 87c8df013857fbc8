"""SmuPar (arXiv 2405.15743): hyperparameters that transfer across width and sparsity.

Usable alone, on any module whose hidden layers are nn.Linear:

    supar = Parameterization(scheme="supar", width_multiplier=4, density=1 / 8, base=TABLE_3)
    sparsify(model, layers=hidden, density=1 / 8, generator=generator)
    roles = infer_roles(model, hidden)
    supar.initialize(model, roles, generator)
    groups = param_groups(model, supar, roles, weight_decay=0.1, decay="independent")
    optimizer = torch.optim.AdamW(groups)

The forward multipliers are plain numbers for the model to apply: `supar.embedding_multiplier`,
`supar.logit_multiplier`, `supar.attention_scale(head_size)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reproductions.supar.base import FIGURE_5, TABLE_3
from reproductions.supar.parameterization import (
    SCHEMES,
    BaseHyperparameters,
    Parameterization,
    Role,
    Rule,
    Scheme,
    infer_roles,
    param_groups,
)

if TYPE_CHECKING:
    from reproductions.supar.masks import linear_layers, masked_layers, max_abs_masked, sparsify

__all__ = [
    "Parameterization",
    "BaseHyperparameters",
    "Rule",
    "Scheme",
    "SCHEMES",
    "Role",
    "infer_roles",
    "param_groups",
    "sparsify",
    "linear_layers",
    "masked_layers",
    "max_abs_masked",
    "TABLE_3",
    "FIGURE_5",
]

_NEED_TORCH = ("sparsify", "linear_layers", "masked_layers", "max_abs_masked")


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    if name not in _NEED_TORCH:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from reproductions.supar import masks

    return getattr(masks, name)
