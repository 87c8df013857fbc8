"""(FG)2U (arXiv 2406.14095): hypergradients of unrolled inner problems in constant memory.

Usable alone, on any inner loss:

    problem = from_loss(
        start=start, loss=loss, outer_loss=outer, optimizer=Sgd(lr=0.1), num_steps=64
    )
    method = hypergradient("fg2u", num_directions=32, chunk=8)
    for step in descend(problem, phi, batches, [Phase(method=method, num_steps=500, lr=1e-2)]):
        print(step.number, step.outer_value)

`hypergradient` takes every method of the paper by its name, and MixFlow, which it leaves out.
`Fg2uAdjoint` is (FG)2U where the outer loss costs more than an inner step.
`memory_report` says what each method will hold and take before it is run.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reproductions.fg2u.method.adjoint import Fg2uAdjoint
    from reproductions.fg2u.method.costs import Cost, default_methods, memory_report
    from reproductions.fg2u.method.descent import OuterStep, Phase, descend
    from reproductions.fg2u.method.estimator import Estimator, MetaGrad, Stats
    from reproductions.fg2u.method.methods import METHODS, hypergradient
    from reproductions.fg2u.method.modules import functional
    from reproductions.fg2u.method.optimizers import Adam, Inner, Sgd
    from reproductions.fg2u.method.problem import Problem, from_loss, from_solver
    from reproductions.fg2u.method.workers import Workers, all_workers

__all__ = [
    "Problem",
    "from_loss",
    "from_solver",
    "functional",
    "Sgd",
    "Adam",
    "Inner",
    "hypergradient",
    "METHODS",
    "Fg2uAdjoint",
    "Estimator",
    "MetaGrad",
    "Stats",
    "descend",
    "Phase",
    "OuterStep",
    "memory_report",
    "default_methods",
    "Cost",
    "Workers",
    "all_workers",
]

_NEED_TORCH = (
    "problem", "modules", "optimizers", "methods", "adjoint", "estimator", "descent", "costs",
    "workers",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    # Declarations import this package too, and listing tasks must not load torch.
    for module in _NEED_TORCH if name in __all__ else ():
        found = import_module(f"{__name__}.method.{module}")
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
