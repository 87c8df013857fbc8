"""A quadratic bi-level problem in closed form, and descent along (FG)2U's estimates on it.

Inner loss (theta - B phi)^T H (theta - B phi) / 2 with H positive definite, theta_0 = 0, T steps of
size eta: with A = I - eta H, theta_t = Z_t phi for Z_t = (I - A^t) B. Outer loss
|theta - target|^2 / 2 + decay |phi|^2 / 2, so that h(phi) is a quadratic too.
Letters: M entries of theta, N of phi; c = df/dtheta_T and d = df/dphi.
Source: Shen et al., arXiv 2406.14095v2, Theorem 3.4 and Appendix B, eqs. 21 to 27.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from reproductions.fg2u.identities.problems import drawn
from reproductions.fg2u.method.optimizers import Sgd
from reproductions.fg2u.method.problem import Problem, from_loss


@dataclass(frozen=True, kw_only=True, slots=True)
class Quadratic:
    """The problem."""

    hessian_MM: Tensor
    """H of the inner loss."""
    mixing_MN: Tensor
    """B: the inner optimum is B phi."""
    target_M: Tensor
    decay: float
    """phi's, in the outer loss."""
    lr: float
    """eta, at most one over the largest eigenvalue of H."""
    num_steps: int
    """T."""

    def problem(self) -> Problem:
        """Return it as the estimators take it."""

        def inner(theta: Tensor, phi: Tensor, batch: Any, number: int) -> Tensor:
            gap = theta - self.mixing_MN @ phi
            return 0.5 * gap @ self.hessian_MM @ gap

        def outer(theta: Tensor, phi: Tensor, batch: Any) -> Tensor:
            fit = (theta - self.target_M).square().sum()
            return 0.5 * (fit + self.decay * phi.square().sum())

        return from_loss(
            start=lambda phi, batch: torch.zeros_like(self.target_M),
            loss=inner,
            outer_loss=outer,
            optimizer=Sgd(lr=self.lr),
            num_steps=self.num_steps,
        )

    def shrunk(self, lr: float, steps: int) -> Tensor:
        """Return (I - lr H)^steps."""
        eye_MM = torch.eye(len(self.hessian_MM), dtype=torch.float64)
        return torch.linalg.matrix_power(eye_MM - lr * self.hessian_MM, steps)

    def jacobian(self, steps: int) -> Tensor:
        """Return Z_t = dtheta_t/dphi, shape (M, N)."""
        return self.mixing_MN - self.shrunk(self.lr, steps) @ self.mixing_MN

    def adjoint(self, phi: Tensor) -> Tensor:
        """Return c = df/dtheta at theta_T, shape (M,)."""
        return self.jacobian(self.num_steps) @ phi - self.target_M

    def gradient(self, phi: Tensor) -> Tensor:
        """Return dh/dphi = c Z_T + d."""
        return self.adjoint(phi) @ self.jacobian(self.num_steps) + self.decay * phi

    def truncation_bound(self, phi: Tensor, keep: int) -> float:
        """Return what eq. 22 allows TRGU(s) to leave out.

        It is (1 - eta alpha)^s / (eta alpha) |c| max_t |B_t|, where alpha is the least eigenvalue
        of H and B_t = dPhi_t/dphi = eta H B, the same at every step.
        """
        rate = self.lr * float(torch.linalg.eigvalsh(self.hessian_MM)[0])
        by_step = float(torch.linalg.matrix_norm(self.lr * self.hessian_MM @ self.mixing_MN, 2))
        return (1.0 - rate) ** keep / rate * float(self.adjoint(phi).norm()) * by_step

    def mixed(self) -> Tensor:
        """Return Y = d2g/dtheta dphi = -H B, shape (M, N)."""
        return -self.hessian_MM @ self.mixing_MN

    def solved(self, phi: Tensor) -> Tensor:
        """Return c H^-1, shape (M,)."""
        return torch.linalg.solve(self.hessian_MM, self.adjoint(phi))

    def tail(self, phi: Tensor, *, alpha: float, terms: int) -> Tensor:
        """Return alpha sum_{k > K} c (I - alpha H)^k, what eq. 25 says a series of K+1 lacks."""
        return self.shrunk(alpha, terms + 1) @ self.solved(phi)

    def implicit(self, phi: Tensor) -> Tensor:
        """Return the implicit gradient at theta_T, d - c H^-1 Y."""
        return self.decay * phi - self.solved(phi) @ self.mixed()

    def implicit_error(self, phi: Tensor, *, alpha: float, terms: int) -> Tensor:
        """Return dh/dphi less Neumann's estimate by eq. 27.

        It is c (Z_T + H^-1 Y) + (estimate of c H^-1 - c H^-1) Y: what the unroll has not reached,
        and what the series has not.
        """
        reached = self.jacobian(self.num_steps) - self.mixing_MN
        return self.adjoint(phi) @ reached - self.tail(phi, alpha=alpha, terms=terms) @ self.mixed()

    def outer_hessian(self) -> Tensor:
        """Return the Hessian of h, Z_T^T Z_T + decay I, shape (N, N)."""
        last_MN = self.jacobian(self.num_steps)
        return last_MN.T @ last_MN + self.decay * torch.eye(last_MN.shape[1], dtype=torch.float64)

    def optimum(self) -> Tensor:
        """Return the phi that minimises h."""
        return torch.linalg.solve(
            self.outer_hessian(), self.jacobian(self.num_steps).T @ self.target_M
        )


def quadratic(
    *, num_entries: int, num_weights: int = 8, num_steps: int = 40, rate: float = 1.0
) -> Quadratic:
    """Return a random problem; its inner steps have size `rate` over H's largest eigenvalue."""
    root_MM = drawn(num_weights, num_weights, seed=11)
    eye_MM = torch.eye(num_weights, dtype=torch.float64)
    hessian_MM = root_MM @ root_MM.T / num_weights + eye_MM
    return Quadratic(
        hessian_MM=hessian_MM,
        mixing_MN=drawn(num_weights, num_entries, seed=12),
        target_M=drawn(num_weights, seed=13),
        decay=0.05,
        lr=rate / float(torch.linalg.eigvalsh(hessian_MM)[-1]),
        num_steps=num_steps,
    )


def rho_of(num_directions: int, num_entries: int) -> float:
    """Return rho = b / (N - 1), which Theorem 3.4 asks to be at most 1."""
    return num_directions / (num_entries - 1)


def step_size(rho: float, smoothness: float) -> float:
    """Return the outer step size of Theorem 3.4, beta = rho / ((rho + 1) L_h)."""
    return rho / ((rho + 1.0) * smoothness)


def moment_after(moment_NN: Tensor, hessian_NN: Tensor, *, beta: float, b: int) -> Tensor:
    """Return E x x^T after x <- x - beta g_hat, where x = phi - optimum and g = H x.

    Over Rademacher directions E g_hat g_hat^T = (1 - 1/b) G + (tr(G) I + 2 G - 2 diag(G)) / b for
    G = E g g^T = H S H. An identity for any quadratic (standard; not in the paper).
    """
    left_NN, right_NN = hessian_NN @ moment_NN, moment_NN @ hessian_NN
    g_NN = left_NN @ hessian_NN
    one_NN = torch.diag(g_NN.trace() - 2.0 * g_NN.diagonal()) + 2.0 * g_NN
    noise_NN = (1.0 - 1.0 / b) * g_NN + one_NN / b
    return moment_NN - beta * (left_NN + right_NN) + beta**2 * noise_NN


def descent_shares(hessian_NN: Tensor, start_N: Tensor, *, b: int, num_steps: int) -> Tensor:
    """Return left side over right side of Theorem 3.4 after K = 1 ... steps, shape (num_steps,).

    Left: the mean over k < K of E|grad h(phi_k)|^2. Right: 4 L_h Delta / (rho K), L_h being the
    largest eigenvalue and Delta = h(phi_0) - min h.
    start_N: phi_0 less the optimum. b beyond N - 1 is computed too: the theorem leaves it out.
    """
    smoothness = float(torch.linalg.eigvalsh(hessian_NN)[-1])
    rho = rho_of(b, len(start_N))
    beta, moment_NN = step_size(rho, smoothness), torch.outer(start_N, start_N)
    gap = 0.5 * float(start_N @ hessian_NN @ start_N)
    square_NN, squares = hessian_NN @ hessian_NN, []
    for _ in range(num_steps):
        squares.append((square_NN * moment_NN).sum())
        moment_NN = moment_after(moment_NN, hessian_NN, beta=beta, b=b)
    return torch.stack(squares).cumsum(0) * rho / (4.0 * smoothness * gap)
