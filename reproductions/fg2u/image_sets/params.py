"""A set of images as a trial's parameters."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, TypeVar

from harness.declare import Params, doc, seed

Dataset = Literal["mnist", "cifar10", "cifar100"]
Method = Literal["noise", "real", "whole", "hessian-free", "neumann", "trgu", "fg2u", "rgu"]
NetKind = Literal["convnet", "mlp"]
NUM_DIRECTIONS = 32
"""The paper's b."""
TERMS = 20
"""Terms of Neumann's series, as the released code of online adaptation has them."""


class Condensation(Params):
    """A set of images, and the nets that it trains."""

    dataset: Dataset = doc("Data set of the paper.")
    data: str = doc("Data set that was read for it.")
    image_size: int = doc("Pixels per side.")
    ipc: int = doc("Images per class; 0 for the whole training set.")
    net: NetKind = doc("The paper's ConvNet, or an MLP.", default="convnet", added=True)
    width: int = doc("Channels of every block of the ConvNet; units of a layer of the MLP.")
    num_blocks: int = doc("Its blocks, of which the paper has three; hidden layers of the MLP.")
    device: Literal["cpu", "cuda"] = doc("Where it runs.")
    method: Method = doc("How gradients are taken, or what stands there without any.")
    num_directions: int = doc("Random directions per gradient, b; 0 without.")
    at_once: int = doc("Directions that are carried at a time, at most.")
    keep: int = doc("Last inner steps that TRGU walks back; 0 without.")
    terms: int = doc("Terms of Neumann's series beyond the first; 0 without.")
    depth: int = doc("Inner steps T that gradients are taken through.")
    inner_batch: int = doc("Images per inner step; 0 for all of them.")
    inner_lr: float = doc("First inner step size, which falls to 0 along a cosine.")
    steps: int = doc("Outer steps; of a net's training on the whole set, its steps.")
    accumulate: int = doc("Batches, each with a net, whose mean gradient is an outer step's.")
    lr: float = doc("First step size of the outer Adam, which falls to 0 along a line.")
    batch_size: int = doc("Real images that judge a net; of the whole set's training, per step.")
    num_nets: int = doc("Fresh nets of the evaluation.")
    test_steps: int = doc("Inner steps that they are trained for.")
    seed: int = seed("One set of images: noise, initial weights, batches, directions.")

    @property
    def num_classes(self) -> int:
        return 100 if self.dataset == "cifar100" else 10

    @property
    def channels(self) -> int:
        return 1 if self.data in ("digits", "mnist") else 3

    @property
    def num_images(self) -> int:
        return self.ipc * self.num_classes


C = TypeVar("C", bound=Condensation)


def taken_by(params: C, method: Method, num_directions: int = NUM_DIRECTIONS) -> C:
    """Return the same by another method, with its numbers; 0 for what means nothing to it."""
    return replace(
        params,
        method=method,
        num_directions=num_directions if method == "fg2u" else 0,
        # A quarter of the unroll, as the released configuration of CaMeLS has it.
        keep=max(1, params.depth // 4) if method == "trgu" else 0,
        terms=TERMS if method == "neumann" else 0,
    )


def images_of(params: Condensation) -> Condensation:
    """Return the set of images alone, of parameters that say more."""
    own = {field.name for field in Condensation.fields()}
    return Condensation.from_json({k: v for k, v in params.to_json().items() if k in own})
