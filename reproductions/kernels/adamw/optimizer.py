"""AdamW as an optimizer of torch: by a kernel over all tensors of a group, masked where asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer

from harness.errors import SpecError
from reproductions.kernels.adamw.plain import AdamW, Decay, Weight
from reproductions.kernels.backend import Backend, choose, chosen, passed_over

MaskOf = Callable[[Tensor], Tensor | None]
Alike = tuple[torch.device, int, AdamW]
"""What weights of one launch share; step size and decay are each weight's own."""


def adamw_for(
    params: Iterable[Any], *, lr: float = 1e-3, betas: tuple[float, float] = (0.9, 0.999),
    eps: float = 1e-8, weight_decay: float = 1e-2, fused: bool | None = None,
    mask_of: MaskOf | None = None,
) -> Optimizer:  # fmt: skip
    """Return AdamW for parameters or groups where they are: `KernelAdamW` on CUDA, else torch's.

    Torch's too for what no kernel takes, which is said: shards, float64, another order of memory.
    Raises EnvError on CUDA without Triton, as `choose` does.

    fused: torch's option. mask_of: as of `KernelAdamW`; torch's step needs none, for a weight and
    a gradient that are zero stay so.
    """
    given = [
        {**group, "params": list(group["params"])} if isinstance(group, dict) else group
        for group in params
    ]
    held = [each for g in given for each in (g["params"] if isinstance(g, dict) else [g])]
    told: dict[str, Any] = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
    # Once per device: a choice is said.
    on_gpu = [choose(device) != "plain" for device in {param.device for param in held}]
    why = next(filter(None, map(_why_not, held)), "")
    if all(on_gpu) and not why:
        return KernelAdamW(given, mask_of=mask_of, **told)
    if any(on_gpu):
        passed_over("adamw", "torch.optim.AdamW", why or "some parameters are on a CPU")
    return torch.optim.AdamW(given, fused=fused, **told)


def _why_not(param: Tensor) -> str:
    """Say why no kernel takes a parameter where it takes others; nothing if one does."""
    if param.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return str(param.dtype).removeprefix("torch.")
    if type(param) not in (Tensor, nn.Parameter):
        return f"a {type(param).__name__} is no whole tensor"
    return "" if param.is_contiguous() else "weights in another order of memory"


def _rate(param: Tensor, lr: float | Tensor) -> float | Tensor:
    """Return a step size, or one per member of a stack.

    Raises SpecError for another number of them than the stack has members.
    """
    if not isinstance(lr, Tensor) or not lr.ndim:
        return float(lr)
    if lr.shape != param.shape[:1]:
        raise SpecError(
            f"lr of shape {tuple(lr.shape)} for a parameter of shape {tuple(param.shape)}: give one"
            " step size per member along the first axis"
        )
    return lr


class KernelAdamW(Optimizer):
    """AdamW over many tensors at once; states and defaults are those of torch.optim.AdamW.

    Moments are float32 of weights in bfloat16. Source: Loshchilov, Hutter, ICLR 2019, algorithm 2.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 1e-2,
        *,
        decay: Decay = "coupled",
        mask_of: MaskOf | None = None,
        backend: Backend | None = None,
    ) -> None:
        """Take parameters or groups, as any optimizer does.

        lr: also of a group; of parameters that are stacks of models it may be a step size per
        member, shape (M,), on a CPU. mask_of: the mask of a parameter now, bool and of its shape,
        True where a weight is kept; None where all are. backend: None lets
        `reproductions.kernels.backend.choose` decide. Raises SpecError for settings that no AdamW
        has.
        """
        self._decay, self._mask_of, self._backend = decay, mask_of, backend
        self._by_device: dict[torch.device, Any] = {}
        defaults = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        super().__init__(params, defaults)
        for group in self.param_groups:
            self._settings(group)

    def _settings(self, group: dict[str, Any]) -> AdamW:
        lr = group["lr"]
        if not (lr.min() if isinstance(lr, Tensor) else lr) >= 0:
            raise SpecError(f"lr={lr}: it is not below 0")
        return AdamW(
            betas=tuple(group["betas"]), eps=group["eps"], weight_decay=group["weight_decay"],
            decay=self._decay,
        )  # fmt: skip

    def __getstate__(self) -> dict[str, Any]:
        """Return all that a copy needs; which implementation it has, it finds anew."""
        own = {name: self.__dict__[name] for name in ("_decay", "_mask_of", "_backend")}
        return {**super().__getstate__(), **own, "_by_device": {}}

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take a step of all parameters that have a gradient; return the closure's loss."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        self._refuse_sparse()
        together: dict[Alike, list[Weight]] = {}
        for group in self.param_groups:
            settings = replace(self._settings(group), weight_decay=0.0)
            for param in group["params"]:
                if param.grad is not None:
                    weight, step = self._weight(param, group)
                    together.setdefault((param.device, step, settings), []).append(weight)
        for (device, step, settings), weights in together.items():
            self._implementation(device).step_(weights, settings, step, norms=False)
        return loss

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take states and settings, torch.optim.AdamW's too; moments keep their own type.

        Raises SpecError for a state of an AdamW that steps otherwise.
        """
        for name in ("amsgrad", "maximize"):
            if any(group.get(name) for group in state_dict["param_groups"]):
                raise SpecError(f"the state is of an AdamW with {name}=True, which no kernel knows")
        super().load_state_dict(state_dict)
        saved = [number for group in state_dict["param_groups"] for number in group["params"]]
        held = [param for group in self.param_groups for param in group["params"]]
        for number, param in zip(saved, held, strict=True):
            given = state_dict["state"].get(number, {})
            # Torch rounds all states to the type of the weight, and shares what it need not.
            for name in ("exp_avg", "exp_avg_sq") if given else ():
                moment = given[name].to(param.device, self._wide(param), copy=True)
                self.state[param][name] = moment
            if given:
                self.state[param]["step"] = torch.tensor(float(given["step"]), device="cpu")

    @staticmethod
    def _wide(param: Tensor) -> torch.dtype:
        """Return the type of a parameter's moments."""
        return torch.promote_types(param.dtype, torch.float32)

    def _refuse_sparse(self) -> None:
        """Raise SpecError for a gradient that is not dense, before any step is counted."""
        for param in (param for group in self.param_groups for param in group["params"]):
            if param.grad is not None and param.grad.layout != torch.strided:
                raise SpecError(
                    f"the gradient of a parameter of shape {tuple(param.shape)} is sparse: kernels"
                    " step dense ones, which an embedding with sparse=False has"
                )

    def _weight(self, param: Tensor, group: dict[str, Any]) -> tuple[Weight, int]:
        """Return a parameter as a launch takes it, and the number of its own step, from 1."""
        assert param.grad is not None
        state = self._state(param)
        state["step"] += 1
        weight = Weight(
            value=param, grad=param.grad.contiguous(), mean=state["exp_avg"],
            square=state["exp_avg_sq"], lr=_rate(param, group["lr"]),
            weight_decay=group["weight_decay"],
            mask=None if self._mask_of is None else self._mask_of(param),
        )  # fmt: skip
        return weight, int(state["step"])

    def _state(self, param: Tensor) -> dict[str, Any]:
        state: dict[str, Any] = self.state[param]
        if not state:
            dtype = self._wide(param)
            # On the CPU, as torch's is: reading it must not wait for the device.
            state["step"] = torch.tensor(0.0, device="cpu")
            state["exp_avg"] = torch.zeros_like(param, dtype=dtype)
            state["exp_avg_sq"] = torch.zeros_like(param, dtype=dtype)
        return state

    def _implementation(self, device: torch.device) -> Any:
        if device not in self._by_device:
            backend = self._backend or choose(device)
            self._by_device[device] = chosen("adamw", device, backend)
        return self._by_device[device]
