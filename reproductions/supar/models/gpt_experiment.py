"""What every experiment that trains a GPT declares alike: how it is run, needs and costs."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from harness.declare import Experiment, Params, Profile
from reproductions.supar.models.costs import estimate_of, needs_of
from reproductions.supar.models.stand_ins import trained


def gpt_experiment(
    id: str,
    *,
    version: int,
    params: type[Params] | tuple[type[Params], ...],
    grid: Callable[[Profile], Iterable[Params]],
    address: tuple[str, ...],
    run: str = "gpt_trial:train_gpt",
) -> Experiment:
    """Return an experiment whose trials train a GPT, one row each.

    run: a function of `reproductions.supar.models`, or with a leading dot of a study.
    """
    return Experiment(
        id,
        version=version,
        params=params,
        grid=grid,
        run=run,
        needs=needs_of,
        estimate=estimate_of,
        dry_run="gpt_trial:dry_run",
        timeout_s=24 * 3600.0,
        address=address,
        package=__package__,
        stands_in=trained(grid),
    )
