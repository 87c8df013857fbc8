"""What every experiment that trains a GPT declares alike: how it runs, needs, costs; its stand-ins.

No torch.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from harness.declare import Estimate, Experiment, Params, Profile, Together
from reproductions.supar.models.costs import estimate_of, needs_of

RATES_TOGETHER = Together(run="gpt_trial:train_rates", apart=("log2_lr",), profiles=("gpu",))
"""How a sweep of learning rates is trained where a small net leaves most of a card idle."""
TEXTS = {
    "tinyshakespeare": "Tiny Shakespeare",
    "kjv": "the King James Bible",
    "grammar-text": "made-up text",
}
"""Whatever is not SlimPajama itself."""


def gpt_experiment(
    id: str,
    *,
    version: int,
    params: type[Params] | tuple[type[Params], ...],
    grid: Callable[[Profile], Iterable[Params]],
    address: tuple[str, ...],
    run: str = "gpt_trial:train_gpt",
    estimate: Callable[[Any], Estimate] = estimate_of,
    together: Together | None = None,
) -> Experiment:
    """Return an experiment whose trials train a GPT.

    run: a function of `reproductions.supar.models`, or with a leading dot of a study.
    """
    return Experiment(
        id,
        version=version,
        params=params,
        grid=grid,
        run=run,
        needs=needs_of,
        estimate=estimate,
        together=together,
        dry_run="gpt_trial:dry_run",
        timeout_s=24 * 3600.0,
        address=address,
        package=__package__,
        stands_in=stands_in_of(grid),
    )


def stands_in_of(
    grid: Callable[[Profile], Iterable[Any]],
) -> Callable[[Any], Mapping[str, str]]:
    """Return how a net of a grid, trained on a text, tells what it stands in for.

    The widths that it stands in for are those of the same grid at `paper`.
    """

    @functools.cache
    def asked_for() -> str:
        widths = sorted({point.width for point in grid("paper")})
        if len(widths) > 1:
            return f"widths {widths[0]} to {widths[-1]}"
        return f"width {widths[0]}" if widths else ""

    def tell(params: Any) -> Mapping[str, str]:
        if params.data not in TEXTS:
            return {}
        here = {"SlimPajama": TEXTS[params.data]}
        return here | {asked_for(): str(params.width)} if asked_for() else here

    return tell
