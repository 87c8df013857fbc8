"""What each method can do, on images that train a small net by mini-batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal, get_args

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc

Method = Literal["rgu", "rgu-mixflow", "neumann", "trgu", "hessian-free", "fg2u"]


class Capability(Params):
    """A method on one problem, at two depths."""

    method: Method = doc("How the hypergradient is estimated.")
    depth: int = doc("Inner steps of the short unroll.", default=8)
    long_depth: int = doc("Inner steps of the long one.", default=64)
    kept_steps: int = doc("Last steps that TRGU differentiates.", default=4)
    terms: int = doc("Terms of Neumann's series beyond the first.", default=5)
    hidden: int = doc("Hidden units of the net.", default=32)


def grid(profile: Profile) -> Iterator[Capability]:
    """Yield every method; what they can do does not depend on the scale."""
    if profile in ("smoke", "cpu"):
        for method in get_args(Method):
            yield Capability(method=method)


def estimate(point: Capability) -> Estimate:
    """Return a start and some estimates."""
    return Estimate(seconds=4.0, memory_bytes=2**30)


capabilities = Experiment(
    "fg2u/capabilities",
    version=1,
    params=Capability,
    grid=grid,
    run="trial:capability_row",
    needs=Needs(data=("digits",)),
    estimate=estimate,
    address=("method",),
)
