"""A module whose learnable parameters are views of one vector, and so are their gradients.

What federated methods do to a model (distances, penalties, averages, SGD steps) is then a few
operations on a vector, whatever the number of layers.

Letters: N learnable parameters of the whole module.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from harness.errors import SpecError

State = dict[str, Tensor]
"""A module's parameters and buffers by name, as `nn.Module.state_dict` has them."""


class FlatNet:
    """A module to train in place; `theta_N` and `grad_N` share memory with its parameters."""

    def __init__(self, module: nn.Module) -> None:
        """Move the module's parameters into one vector.

        Raises SpecError where it cannot, or for a module without `features` and `classifier`.
        """
        if not (hasattr(module, "features") and hasattr(module, "classifier")):
            raise SpecError(
                f"{type(module).__name__} lacks `features` or `classifier`: clients need a net"
                " whose logits are classifier(features(images)), features of shape (N, D)"
            )
        named = [(name, p) for name, p in module.named_parameters() if p.requires_grad]
        if any(hasattr(p, "placements") for _, p in named):
            raise SpecError(
                "the module is split over ranks by fully_shard or tensor parallelism: a client"
                " needs a whole net of its own"
            )
        if len({(p.dtype, p.device) for _, p in named}) != 1:
            raise SpecError("the module needs learnable parameters of one dtype on one device")
        self.module = module
        self.names = tuple(name for name, _ in named)
        self.sizes = tuple(p.numel() for _, p in named)
        self.theta_N = torch.cat([p.detach().reshape(-1) for _, p in named])
        self.grad_N = torch.zeros_like(self.theta_N)
        saved = module.state_dict().keys()
        self._unsaved = {name: b.clone() for name, b in module.named_buffers() if name not in saved}
        self._attach()

    def _attach(self) -> None:
        """Let parameters and their gradients be views of the vectors.

        Raises SpecError where others are to be trained than when the vectors were made.
        """
        named = {name: p for name, p in self.module.named_parameters() if p.requires_grad}
        if changed := named.keys() ^ set(self.names):
            raise SpecError(
                f"parameter {min(changed)} was added, removed, frozen or unfrozen after the net was"
                " made flat, and clients train what was to be trained then: make a new FlatNet"
            )
        sizes = list(self.sizes)
        pieces = zip(torch.split(self.theta_N, sizes), torch.split(self.grad_N, sizes), strict=True)
        for name, (values, gradients) in zip(self.names, pieces, strict=True):
            p = named[name]
            p.data = values.view(p.shape)
            p.grad = gradients.view(p.shape)

    def load(self, state: Mapping[str, Tensor]) -> None:
        """Copy a state into the module; buffers that no state has are as they were at first.

        Raises SpecError for a module that trains other parameters than at first, and RuntimeError,
        as torch, for another shape.
        """
        # A new memory format, or zero_grad(), has taken parameters or gradients off the vectors.
        self._attach()
        self.module.load_state_dict(state)
        for name, value in self._unsaved.items():
            owner, _, leaf = name.rpartition(".")
            setattr(self.module.get_submodule(owner), leaf, value.clone())

    def state(self) -> State:
        """Return a copy of the module's state."""
        return {name: value.clone() for name, value in self.module.state_dict().items()}

    def vector_of(self, state: Mapping[str, Tensor]) -> Tensor:
        """Return the learnable parameters of a state of this module as one vector of size N."""
        return torch.cat([state[name].reshape(-1) for name in self.names])
