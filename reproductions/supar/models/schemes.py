"""The paper's three schemes and two ablations: their order and their names."""

from __future__ import annotations

from reproductions.supar.method.parameterization import Scheme

SCHEMES: tuple[Scheme, ...] = ("sp", "mup", "supar")
ABLATIONS: tuple[Scheme, ...] = ("mup_init_only", "mup_lr_only")
NAMES = {
    "sp": "standard parameterization",
    "mup": "μP",
    "supar": "SμPar",
    "mup_init_only": "μP with SμPar's initial variance alone",
    "mup_lr_only": "μP with SμPar's learning rate alone",
}
"""In sentences."""
LABELS = NAMES | {
    "sp": "SP",
    "mup_init_only": "μP + init of SμPar",
    "mup_lr_only": "μP + rate of SμPar",
}
"""In figures, where room is short."""
