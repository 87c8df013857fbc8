"""What a claim asked before its trials ran: a digest that every record of theirs holds.

A verdict whose digest is still today's in all its records is registered; any other is
exploratory. Neither words nor code are in it.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any

from harness.canonical import digest
from harness.declare.claims import Claim
from harness.declare.criterion import Criterion
from harness.declare.params import Scalar
from harness.declare.profiles import Profile
from harness.declare.task import Task
from harness.store.trial import trials_behind

DIGITS = 16


def registrations(
    tasks: Iterable[Task], profile: Profile, overrides: Mapping[str, Scalar] | None = None
) -> dict[str, str]:
    """Return by `task:claim` the digest of every claim of some tasks, to stand in new records."""
    return {
        f"{task.id}:{claim}": made
        for task in tasks
        for claim, made in task_registrations(task, profile, overrides).items()
    }


def task_registrations(
    task: Task, profile: Profile, overrides: Mapping[str, Scalar] | None = None
) -> dict[str, str]:
    """Return the digest of each claim of a task: what it asks, and of which trials."""
    keys = digest(sorted(trial.key for trial in trials_behind([task], profile, overrides)))
    return {claim.id: digest([_asked(claim), keys])[:DIGITS] for claim in task.claims}


def _asked(claim: Claim) -> dict[str, Any]:
    control = claim.scope.control
    return {
        **_criterion(claim.criterion),
        "control": _criterion(control.criterion) if control else None,
        "deterministic": claim.scope.deterministic,
        "profiles": list(claim.scope.profiles),
    }


def _criterion(criterion: Criterion) -> dict[str, Any]:
    return {
        "form": criterion.form,
        # As text: canonical JSON holds no infinity.
        "threshold": repr(criterion.threshold),
        "tolerance": criterion.tolerance,
        "at_least_of": criterion.at_least_of,
        "quantity": quantity_name(criterion.quantity),
    }


def quantity_name(quantity: Any) -> str:
    """Return the name of a quantity with all that it was given.

    >>> quantity_name(functools.partial(max, 1, key=abs))
    'max(1, key=abs)'
    """
    if isinstance(quantity, functools.partial):
        given = [quantity_name(each) for each in quantity.args]
        given += [f"{name}={quantity_name(v)}" for name, v in sorted(quantity.keywords.items())]
        return f"{quantity_name(quantity.func)}({', '.join(given)})"
    if not hasattr(quantity, "__qualname__"):
        return repr(quantity)
    cells = [cell.cell_contents for cell in getattr(quantity, "__closure__", None) or ()]
    inside = f"[{', '.join(map(quantity_name, cells))}]" if cells else ""
    return f"{quantity.__qualname__}{inside}"
