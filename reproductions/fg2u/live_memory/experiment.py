"""Peak live bytes of one estimate, by method, inner steps, chunk and size of phi."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from harness.declare import Estimate, Experiment, Needs, Params, Profile, doc

Name = Literal["mlp-2", "mlp-4", "convnet-16", "convnet-128"]
LR, MOMENTUM = 0.05, 0.9
TERMS = 20
"""Terms of the Neumann series, as the released language code has them."""
KEPT = (1, 5)
"""Last steps that TRGU walks back; the paper states none."""
OUTER_SHARE = 5
"""Outer over inner images: 512 to 100 in the released code, on the cell that Figure 1 shows."""


class Setting(Params):
    """A problem, of which one estimate per method is counted."""

    net: Name = doc("Net that phi's images train.")
    device: Literal["cpu", "cuda"] = doc("cpu: storages are counted; cuda: the allocator's peak.")
    methods: Literal["all", "main"] = doc(
        "main: a plain unroll, RGU, mixflow with checkpoints, (FG)2U."
    )
    depth: int = doc("Inner steps T.")
    inner_batch: int = doc("Images of phi per inner step.")
    num_images: int = doc("Images of phi, which the steps take in turn.")
    outer_batch: int = doc("Real images that judge.")
    max_chunk: int = doc("(FG)2U carries 1, 2, 4 ... directions at a time, up to this.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Counted:
    """A method and its settings."""

    method: str
    """`plain` for the unroll without a derivative."""
    keep: int = 0
    segment: int = 0
    chunk: int = 0


MAIN = (
    Counted(method="plain"),
    Counted(method="rgu"),
    Counted(method="rgu-mixflow", segment=0),
)
OTHERS = (
    Counted(method="rgu-checkpoint"),
    Counted(method="rgu-mixflow", segment=1),
    *(Counted(method="trgu", keep=keep) for keep in KEPT),
    Counted(method="neumann"),
    Counted(method="hessian-free"),
    Counted(method="fg2u-zo", chunk=1),
)


def counted_of(setting: Setting) -> Iterator[Counted]:
    """Yield what a trial counts."""
    yield from MAIN
    if setting.methods == "all":
        yield from OTHERS
    chunk = 1
    while chunk <= setting.max_chunk:
        yield Counted(method="fg2u", chunk=chunk)
        chunk *= 2


def around(base: Setting, depths: tuple[int, ...], max_chunk: int) -> Iterator[Setting]:
    """Yield a problem at some depths, the least one also with larger chunks, phi, outer batch."""
    for depth in depths:
        yield replace(base, depth=depth, max_chunk=max_chunk if depth == base.depth else 1)
    yield replace(base, num_images=4 * base.num_images, max_chunk=max_chunk)
    if base.methods == "all":
        yield replace(base, outer_batch=OUTER_SHARE * base.outer_batch)


def small(net: Name, batch: int, methods: Literal["all", "main"]) -> Setting:
    """Return the shallowest problem on digits, as many outer as inner images."""
    return Setting(
        net=net, device="cpu", methods=methods, depth=8, inner_batch=batch, num_images=batch,
        outer_batch=batch, max_chunk=1,
    )  # fmt: skip


def grid(profile: Profile) -> Iterator[Setting]:
    """Yield two nets on digits, and on a GPU the paper's net on images of CIFAR's size."""
    match profile:
        case "smoke":
            yield from around(small("mlp-2", 64, "main"), (8, 16, 64), 4)
        case "cpu":
            yield from around(small("mlp-4", 64, "all"), (8, 16, 32, 64), 16)
            yield from around(small("convnet-16", 50, "all"), (8, 16, 32, 64), 16)
        case "gpu":
            large = replace(small("convnet-128", 20, "all"), device="cuda")
            yield from around(large, (8, 16, 32, 64), 16)


def needs(setting: Setting) -> Needs:
    """Return what a trial asks for; on a GPU room for what RGU holds, if it is to fit."""
    if setting.device == "cuda":
        return Needs(device="cuda", gpu_bytes=20 * 2**30, exclusive=True)
    return Needs(data=("digits",), memory_bytes=2**31)


def estimate(setting: Setting) -> Estimate:
    """Return a start and a time that grows with the steps."""
    step_s = {"mlp-2": 0.03, "mlp-4": 0.12}.get(setting.net, 0.4)
    share = 1.0 if setting.methods == "all" else 0.5
    return Estimate(seconds=0.3 + share * step_s * setting.depth, memory_bytes=2**31)


settings = Experiment(
    "fg2u/live_memory",
    version=1,
    params=Setting,
    grid=grid,
    run="trial:peak_rows",
    seed_from=(),
    needs=needs,
    estimate=estimate,
    address=("net", "depth", "num_images", "outer_batch"),
)
