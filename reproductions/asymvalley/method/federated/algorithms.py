"""Six federated algorithms, each as a term of the client's loss and a rule of the server.

All clients minimise the cross-entropy of their data plus the algorithm's terms; the server makes
a new global state of the states that come back. Nothing here knows who calls it: a simulator, or
a client and a strategy of a federated framework.

Paper section 6.2 and Algorithm 1; the baselines as in their own papers.
Letters: N learnable parameters, B samples of a batch, S samples of a client, D features.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, cast, get_args

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from harness.errors import RunError, SpecError
from reproductions.asymvalley.method.federated.flat import FlatNet, State
from reproductions.asymvalley.method.federated.positions import encode_channels, parse_encoding
from reproductions.kernels.backend import choose, chosen, passed_over

Reduction = Literal["sum", "mean", "tensor_mean"]
Memory = dict[str, Tensor]
"""What a client, or the server, keeps from one round to the next; empty for most algorithms."""

_FEATURE_BATCH = 500


@dataclass(frozen=True, kw_only=True, slots=True)
class Server:
    """The server between two rounds."""

    state: State
    """The global model: parameters and buffers."""
    memory: Memory = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Received:
    """What a client's loss may look at during one local training; all of it is constant."""

    theta_N: Tensor
    """The global parameters the client started from."""
    sizes: tuple[int, ...]
    """Sizes of the tensors that make up `theta_N`."""
    memory: Memory
    """The client's, as it was before this training."""
    features_GSD: Tensor | None = None
    """MOON: features of the client's samples under the global model and under its previous one."""


def uniform_average(states: Sequence[Mapping[str, Tensor]]) -> State:
    """Return the mean of states, each counting alike however much data its client has.

    Floating tensors, buffers included, are added in float64 in the order given. Integer ones (BN
    counters) have no mean: their maximum is taken. Raises RunError without a state.
    Source: paper Algorithm 1, 1/|S_t|.
    """
    if not states:
        raise RunError("no client returned a state: there is nothing to average")
    average = {}
    for name, first in states[0].items():
        values = torch.stack([state[name] for state in states])
        if first.is_floating_point():
            average[name] = (values.double().sum(0) / len(states)).to(first.dtype)
        else:
            average[name] = values.amax(0)
    return average


@dataclass(frozen=True, kw_only=True, slots=True)
class FedAvg:
    """Cross-entropy alone, and a uniform average: what the others add to. arXiv 1602.05629."""

    name: ClassVar[str] = "fedavg"

    def prepare(self, module: nn.Module) -> None:
        """Change the net once, before its first use."""

    def begin(
        self, net: FlatNet, state: Mapping[str, Tensor], images: Tensor, memory: Memory
    ) -> Received:
        """Return what the client's loss needs; the net may be used, its state is lost."""
        return Received(theta_N=net.vector_of(state), sizes=net.sizes, memory=memory)

    def weight_term(self, theta_N: Tensor, received: Received) -> Tensor | None:
        """Return the loss term of the local parameters, shape (), or None."""
        return None

    def add_weight_gradient_(
        self, grad_N: Tensor, theta_N: Tensor, received: Received
    ) -> Tensor | None:
        """Add the gradient of `weight_term` to `grad_N`; return the term, or None."""
        # A leaf of its own: its gradient is one vector, without a pass through every layer.
        leaf_N = theta_N.detach().requires_grad_()
        term = self.weight_term(leaf_N, received)
        if term is None:
            return None
        (gradient_N,) = torch.autograd.grad(term, leaf_N)
        grad_N.add_(gradient_N)
        return term.detach()

    def batch_term(self, features_BD: Tensor, rows_B: Tensor, received: Received) -> Tensor | None:
        """Return the loss term of a batch's features, shape (), or None.

        rows_B: which of the client's samples the batch holds.
        """
        return None

    def end(self, net: FlatNet, received: Received) -> Memory:
        """Return the client's memory after local training, of which the net holds the result."""
        return received.memory

    def aggregate(
        self,
        server: Server,
        states: Sequence[Mapping[str, Tensor]],
        *,
        num_clients: int,
        learnable: Sequence[str],
    ) -> Server:
        """Return the server after a round.

        num_clients: all of them, K; learnable: names of the tensors that are no buffers.
        """
        return replace(server, state=uniform_average(states))


@dataclass(frozen=True, kw_only=True, slots=True)
class FedProx(FedAvg):
    """Adds mu/2 ||theta - theta_t||^2. arXiv 1812.06127, Algorithm 2."""

    name: ClassVar[str] = "fedprox"
    mu: float

    def __post_init__(self) -> None:
        _check_coefficient("mu", self.mu)

    def weight_term(self, theta_N: Tensor, received: Received) -> Tensor:
        """Return mu/2 ||theta - theta_t||^2."""
        return 0.5 * self.mu * (theta_N - received.theta_N).square().sum()


@dataclass(frozen=True, kw_only=True, slots=True)
class Moon(FedAvg):
    """Draws features to those of the global model, away from the client's previous one.

    Adds mu times -log(e^a / (e^a + e^b)), a and b being the cosines with the global and the
    previous features over tau, mean over the batch. Penultimate features without a projection
    head; both references come from eval mode and are constant. A client without a previous model
    has no term: with the global model in its place the term is log 2, without a gradient.
    Source: arXiv 2103.16257, Eq. 3.
    """

    name: ClassVar[str] = "moon"
    mu: float
    tau: float = 0.5

    def __post_init__(self) -> None:
        _check_coefficient("mu", self.mu)
        if not self.tau > 0.0:
            raise SpecError(f"tau={self.tau}: the temperature must be positive")

    def begin(
        self, net: FlatNet, state: Mapping[str, Tensor], images: Tensor, memory: Memory
    ) -> Received:
        """Compute both reference features of all samples once, rather than in every step."""
        received = FedAvg.begin(self, net, state, images, memory)
        if not memory:
            return received
        references = [_features(net, each, images) for each in (state, memory)]
        return replace(received, features_GSD=torch.stack(references))

    def batch_term(self, features_BD: Tensor, rows_B: Tensor, received: Received) -> Tensor | None:
        """Return the contrastive loss, or None for a client without a previous model."""
        if received.features_GSD is None:
            return None
        references_GBD = received.features_GSD.index_select(1, rows_B)
        logits_GB = F.cosine_similarity(features_BD[None], references_GBD, dim=2) / self.tau
        # -log softmax of the first of two logits is the softplus of their difference.
        return self.mu * F.softplus(logits_GB[1] - logits_GB[0]).mean()

    def end(self, net: FlatNet, received: Received) -> Memory:
        """Keep the local model until this client's next turn, however many rounds later."""
        return net.state()


@dataclass(frozen=True, kw_only=True, slots=True)
class FedDyn(FedAvg):
    """Dynamic regularisation: adds -<g_k, theta> + a/2 ||theta - theta_t||^2.

    Client: g_k <- g_k - a (theta_k - theta_t). Server: h <- h - a/K sum (theta_k - theta_t) over
    the round's clients, new state mean(theta_k) - h/a; buffers are averaged.
    Source: arXiv 2111.04263, Algorithm 1.
    """

    name: ClassVar[str] = "feddyn"
    a: float

    def __post_init__(self) -> None:
        if not self.a > 0.0:
            raise SpecError(f"a={self.a}: FedDyn divides by its coefficient, it must be positive")

    def weight_term(self, theta_N: Tensor, received: Received) -> Tensor:
        """Return -<g_k, theta> + a/2 ||theta - theta_t||^2; g_k is zero at the first turn."""
        term = 0.5 * self.a * (theta_N - received.theta_N).square().sum()
        if received.memory:
            term = term - torch.dot(received.memory["gradient"], theta_N)
        return term

    def end(self, net: FlatNet, received: Received) -> Memory:
        """Return the new g_k."""
        change_N = -self.a * (net.theta_N - received.theta_N)
        before = received.memory.get("gradient")
        return {"gradient": change_N if before is None else before + change_N}

    def aggregate(
        self,
        server: Server,
        states: Sequence[Mapping[str, Tensor]],
        *,
        num_clients: int,
        learnable: Sequence[str],
    ) -> Server:
        """Return the average without the drift that all clients have gathered."""
        state, memory = uniform_average(states), dict(server.memory)
        for name in learnable:
            # The sum over the round's clients is their number times the mean's change.
            drift = (state[name] - server.state[name]) * (len(states) / num_clients)
            before = memory.get(name, torch.zeros_like(drift))
            memory[name] = before - self.a * drift
            state[name] = state[name] - memory[name] / self.a
        return Server(state=state, memory=memory)


@dataclass(frozen=True, kw_only=True, slots=True)
class FedPan(FedAvg):
    """Cross-entropy of a net whose hidden channels carry position encodings (FedPAN)."""

    name: ClassVar[str] = "fedpan"
    encoding: str
    """cycles:add|mul:amplitude, such as 1:mul:0.05."""

    def __post_init__(self) -> None:
        parse_encoding(self.encoding)

    def prepare(self, module: nn.Module) -> None:
        """Put the encoding before every ReLU. Raises SpecError for a net without one."""
        encode_channels(module, parse_encoding(self.encoding))


@dataclass(frozen=True, kw_only=True, slots=True)
class FedSign(FedAvg):
    """Rewards parameters for the sign they had in the global model.

    Adds -gamma sum_i [sgp(theta_t,i) sigma(beta theta_i) + sgp(-theta_t,i) sigma(-beta theta_i)]
    over all learnable parameters. Source: paper section 6.2 and Algorithm 1, where beta is 1 and
    the reduction over coordinates is left open.
    """

    name: ClassVar[str] = "fedsign"
    gamma: float
    reduction: Reduction = "sum"
    """`tensor_mean`: the mean over tensors of the mean over each tensor's elements."""
    beta: float = 1.0

    def __post_init__(self) -> None:
        _check_coefficient("gamma", self.gamma)
        if self.reduction not in get_args(Reduction):
            raise SpecError(f"reduction={self.reduction!r}: need one of {get_args(Reduction)}")
        if not self.beta > 0.0:
            raise SpecError(f"beta={self.beta}: the slope of the soft sign must be positive")

    def weight_term(self, theta_N: Tensor, received: Received) -> Tensor:
        """Return the penalty, at most 0; its gradient is -gamma beta sign(theta_t) sigma'."""
        sign_N = received.theta_N.sign()
        # An exact zero has neither sgp: its weight is zero.
        kept_N = torch.sigmoid(self.beta * sign_N * theta_N) * sign_N.abs()
        match self.reduction:
            case "sum":
                reduced = kept_N.sum()
            case "mean":
                reduced = kept_N.mean()
            case "tensor_mean":
                pieces = torch.split(kept_N, list(received.sizes))
                reduced = torch.stack([piece.mean() for piece in pieces]).mean()
        return -self.gamma * reduced

    def add_weight_gradient_(
        self, grad_N: Tensor, theta_N: Tensor, received: Received
    ) -> Tensor | None:
        """Add the penalty's gradient; on CUDA by a kernel, in one pass, if entries are summed.

        In plain torch in float64, which the kernel would round to float32.
        """
        backend = choose(theta_N.device)
        why = "float64" if theta_N.dtype == torch.float64 else ""
        why = why if self.reduction == "sum" else f"entries reduced by {self.reduction}"
        if backend != "plain" and why:
            passed_over("sign_ops", "plain", why)
        if backend == "plain" or why:
            # No bare super(): a slotted dataclass is another class than the one written here.
            return FedAvg.add_weight_gradient_(self, grad_N, theta_N, received)
        kernel = chosen("sign_ops", theta_N.device, backend)
        term = kernel.add_fedsign_(
            grad_N, theta_N, received.theta_N, gamma=self.gamma, beta=self.beta
        )
        return cast(Tensor, term).to(theta_N.dtype)


def _check_coefficient(name: str, value: float) -> None:
    if not 0.0 <= value < float("inf"):
        raise SpecError(f"{name}={value}: a penalty's coefficient must be finite and not negative")


def _features(net: FlatNet, state: Mapping[str, Tensor], images: Tensor) -> Tensor:
    """Return features of all images under a state in eval mode, shape (S, D), no gradient."""
    net.load(state)
    net.module.eval()
    features: Any = net.module.features
    with torch.no_grad():
        parts = [features(part) for part in torch.split(images, _FEATURE_BATCH)]
    return torch.cat(parts)
