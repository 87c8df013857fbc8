"""SP, muP, SmuPar and its two half-way ablations: Table 1 as one object.

A parameterization turns base hyperparameters, found on a small dense proxy, into what a wide
and sparse net needs: the initial standard deviation and the Adam learning rate of each
parameter, the multipliers of the embedding and of the logits, and the attention scale.

Source: Dey, Bergsma, Hestness, "Sparse maximal update parameterization", NeurIPS 2024,
arXiv 2405.15743, Table 1; the ablations are those of Figures 13 and 14.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

from harness.errors import SpecError
from reproductions.supar.method.density import Density, check_density, density_of
from reproductions.supar.method.roles import Role, Roles

if TYPE_CHECKING:
    import torch
    from torch import nn

Scheme = Literal["sp", "mup", "supar", "mup_init_only", "mup_lr_only"]
SCHEMES: tuple[Scheme, ...] = get_args(Scheme)


@dataclass(frozen=True, kw_only=True, slots=True)
class BaseHyperparameters:
    """What is tuned on the proxy and carried over."""

    init_std: float
    """sigma_base; SP uses it as it is, at any width."""
    lr: float
    """eta_base, the peak learning rate; the x axis of the paper's sweeps."""
    input_multiplier: float
    """alpha_input; SP has none."""
    output_multiplier: float
    """alpha_output; SP has none."""

    def __post_init__(self) -> None:
        values = (self.init_std, self.lr, self.input_multiplier, self.output_multiplier)
        if not all(0.0 < value < math.inf for value in values):
            raise SpecError(f"{self}: every base hyperparameter must be positive and finite")


TABLE_3 = BaseHyperparameters(
    init_std=0.08665602, lr=1.62e-2, input_multiplier=9.1705, output_multiplier=1.0951835
)
"""Table 3: the best of 350 random configurations of a dense proxy of width 256."""

FIGURE_5 = BaseHyperparameters(
    init_std=0.101, lr=1.68e-2, input_multiplier=11.22, output_multiplier=1.0
)
"""Table 4, the row of Figure 5: another set, used for the coordinate check alone."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rule:
    """What one parameter gets."""

    init_std: float
    """Standard deviation of the weights that are kept, at the start."""
    lr: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameterization:
    """Table 1 for one scheme, width and density.

    >>> base = BaseHyperparameters(
    ...     init_std=0.08, lr=0.016, input_multiplier=9.0, output_multiplier=1.0
    ... )
    >>> supar = Parameterization(
    ...     scheme="supar", width_multiplier=4.0, density=0.0625, base=base
    ... )
    >>> supar.rule("hidden")
    Rule(init_std=0.16, lr=0.064)
    """

    scheme: Scheme
    width_multiplier: float
    """m_d, the width over the proxy's width."""
    density: Density
    """m_rho: the proxy is dense, so it is the density itself."""
    base: BaseHyperparameters

    def __post_init__(self) -> None:
        if self.scheme not in SCHEMES:
            raise SpecError(f"scheme={self.scheme!r}: need one of {', '.join(SCHEMES)}")
        if not 0.0 < self.width_multiplier < math.inf:
            raise SpecError(f"width_multiplier={self.width_multiplier}: need a positive number")
        check_density(self.density)

    @property
    def embedding_multiplier(self) -> float:
        """Factor on the output of the embedding."""
        return 1.0 if self.scheme == "sp" else self.base.input_multiplier

    @property
    def logit_multiplier(self) -> float:
        """Factor on the logits of the (tied) unembedding."""
        if self.scheme == "sp":
            return 1.0
        return self.base.output_multiplier / self.width_multiplier

    def attention_scale(self, head_size: int) -> float:
        """Return the factor on the products of queries and keys."""
        return head_size**-0.5 if self.scheme == "sp" else 1.0 / head_size

    def rule(self, role: Role, density: float | None = None) -> Rule:
        """Return the initial standard deviation and learning rate of a parameter.

        density: of this layer, where densities differ by layer.
        """
        if role != "hidden" or self.scheme == "sp":
            return Rule(init_std=self.base.init_std, lr=self.base.lr)
        if density is None:
            if not isinstance(self.density, float | int):
                raise SpecError("densities differ by layer: say which layer's rule is wanted")
            density = self.density
        # Only the product of the two multipliers enters: the "effective width".
        sparse = self.width_multiplier * density
        init_width = sparse if self.scheme in ("supar", "mup_init_only") else self.width_multiplier
        lr_width = sparse if self.scheme in ("supar", "mup_lr_only") else self.width_multiplier
        return Rule(init_std=self.base.init_std / math.sqrt(init_width), lr=self.base.lr / lr_width)

    def rule_of(self, name: str, roles: Roles) -> Rule:
        """Return the rule of a parameter by its name."""
        if name not in roles:
            raise SpecError(f"parameter {name!r} has no role: name every parameter in roles")
        if roles[name] != "hidden":
            return self.rule(roles[name])
        return self.rule("hidden", density_of(self.density, name.removesuffix(".weight")))

    def initialize(self, model: nn.Module, roles: Roles, generator: torch.Generator) -> None:
        """Draw every matrix of `model` in place; masked weights stay zero.

        Standard normal numbers are drawn in the order of named_parameters and then scaled, so
        at one seed all schemes start from the same draws. Vectors are left as they are.
        generator: on the parameters' device.
        """
        import torch

        from reproductions.supar.method.masks import mask_of

        with torch.no_grad():
            for name, parameter in model.named_parameters():
                rule = self.rule_of(name, roles)
                if roles[name] == "vector":
                    continue
                parameter.normal_(generator=generator).mul_(rule.init_std)
                mask = mask_of(model, name)
                if mask is not None:
                    parameter.mul_(mask)


def param_groups(
    model: nn.Module,
    parameterization: Parameterization,
    roles: Roles,
    *,
    weight_decay: float,
    decay: Literal["coupled", "independent"],
    like_adam: str = "Adam",
) -> list[dict[str, Any]]:
    """Return parameter groups for any AdamW, one per learning rate and role.

    The rates hold for optimizers that move each entry by about its rate, whatever the gradient's
    size: Adam in all its forms, Lion, RMSprop, Adagrad. The first step of another is refused, for
    which `method/optimizers.py` gives reasons and sources.
    like_adam: name of the class of one more optimizer that moves entries so.

    AdamW shrinks a matrix by lr * weight_decay a step; vectors are not decayed.
    decay: `coupled` gives every matrix the same `weight_decay`, so hidden matrices shrink faster
    where their learning rate is larger (lower density); `independent` gives every matrix the
    same product, that of the embedding. The paper does not say which it uses.
    Raises SpecError where hidden layers are not as sparse as the parameterization has them.
    """
    if decay not in ("coupled", "independent"):
        raise SpecError(f"decay={decay!r}: need 'coupled' or 'independent'")
    from reproductions.supar.method.masks import check_masks
    from reproductions.supar.method.optimizers import MADE_FOR, watch_optimizers

    watch_optimizers()
    check_masks(model, parameterization.density, roles)
    groups: dict[tuple[Role, float], dict[str, Any]] = {}
    for name, parameter in model.named_parameters():
        if not parameter.requires_grad:
            continue
        role, lr = roles[name], parameterization.rule_of(name, roles).lr
        strength = 0.0 if role == "vector" else weight_decay
        if decay == "independent":
            strength *= parameterization.base.lr / lr
        fresh = {"params": [], "lr": lr, "weight_decay": strength, "role": role}
        groups.setdefault((role, lr), fresh)["params"].append(parameter)
    return [{**group, MADE_FOR: like_adam} for group in groups.values()]
