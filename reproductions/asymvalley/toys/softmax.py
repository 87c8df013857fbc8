"""Softmax regression on digits along one noise direction (appendix D.2, Listing 2, Figure 29).

And the pattern of its class weights under sign-consistent noise (section 5, Figure 10).

Axes: N images, D pixels, C classes. Scores are W x without intercept. First and second
derivatives along a direction V need no Hessian matrix: with u = V x,

    V . grad L    = mean_x sum_c (p_c - y_c) u_c
    V^T Hess L V  = mean_x [sum_c p_c u_c^2 - (sum_c p_c u_c)^2]

since the Hessian of one image is (diag(p) - p p^T) kron (x x^T).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from harness.errors import RunError
from reproductions.asymvalley.method.noise import sign


@dataclass(frozen=True, kw_only=True, slots=True)
class Images:
    """A classification problem in float64."""

    pixels_ND: Tensor
    """Raw values, 0 to 16."""
    labels_N: Tensor
    """Class of each image, int64."""


def fit_softmax(images: Images, *, max_iter: int) -> Tensor:
    """Return the weights of scikit-learn's multinomial logistic regression, shape (C, D).

    No intercept; all else, L2 penalty included, is scikit-learn's default, as in Listing 2. The
    fit is deterministic. Raises RunError where it has not converged after `max_iter` iterations.
    """
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(fit_intercept=False, max_iter=max_iter)
    model.fit(images.pixels_ND.numpy(), images.labels_N.numpy())
    if int(model.n_iter_.max()) >= max_iter:
        raise RunError(
            f"softmax regression has not converged after {max_iter} iterations: allow more"
        )
    return torch.from_numpy(model.coef_.copy())


def metrics(weights_CD: Tensor, images: Images, *, direction_CD: Tensor) -> dict[str, float]:
    """Return the six metrics of Figure 29 at `weights_CD`.

    direction_CD: eps as in the text, or the perturbed weights themselves as in Listing 2 (DEV-14).
    first_order is its product with the gradient of the mean cross-entropy, second_order that with
    the Hessian, from both sides; trace_p is the mean of tr(diag(p) - p p^T), trace_h the trace of
    the Hessian.
    """
    log_p_NC = torch.log_softmax(images.pixels_ND @ weights_CD.T, dim=1)
    p_NC = log_p_NC.exp()
    own_N1 = images.labels_N.unsqueeze(1)
    trace_p_N = (p_NC * (1.0 - p_NC)).sum(dim=1)
    u_NC = images.pixels_ND @ direction_CD.T
    mean_u_N1 = (p_NC * u_NC).sum(dim=1, keepdim=True)
    # Centred: where p is nearly one-hot the difference of two large squares would lose all digits.
    variance_u_N = (p_NC * (u_NC - mean_u_N1) ** 2).sum(dim=1)
    return {
        "error": float((log_p_NC.argmax(dim=1) != images.labels_N).double().mean()),
        "ce": float(-log_p_NC.gather(1, own_N1).mean()),
        "trace_p": float(trace_p_N.mean()),
        "trace_h": float((trace_p_N * images.pixels_ND.square().sum(dim=1)).mean()),
        "first_order": float((mean_u_N1 - u_NC.gather(1, own_N1)).mean()),
        "second_order": float(variance_u_N.mean()),
    }


def median_size(weights_CD: Tensor) -> Tensor:
    """Return the median of |w| of each class, shape (C,); of an even count the mean of two."""
    return torch.from_numpy(np.median(weights_CD.abs().numpy(), axis=1))


def perturbed(weights_CD: Tensor, sizes_C: Tensor) -> Tensor:
    """Return w + l sign(w) with one size l per class, shape (C, D)."""
    return weights_CD + sizes_C.unsqueeze(1) * sign(weights_CD)


def pattern_cosine(weights_CD: Tensor, sizes_C: Tensor) -> Tensor:
    """Return the cosine between w + l sign(w) and w of each class, shape (C,)."""
    return torch.cosine_similarity(perturbed(weights_CD, sizes_C), weights_CD, dim=1)


def expected_cosine(weights_CD: Tensor, sizes_C: Tensor) -> Tensor:
    """Return the same from three norms of w alone, shape (C,).

    With n pixels, (|w|^2 + l |w|_1) / (|w| sqrt(|w|^2 + 2 l |w|_1 + l^2 n)). For l = a > 0 it is
    at least that for l = -a whatever w is: the difference of the squares has the sign of
    n |w|^2 - |w|_1^2, which Cauchy and Schwarz forbid to be negative.
    """
    square_C = weights_CD.square().sum(dim=1)
    total_C = weights_CD.abs().sum(dim=1)
    changed_C = square_C + 2 * sizes_C * total_C + sizes_C.square() * weights_CD.shape[1]
    return (square_C + sizes_C * total_C) / (square_C.sqrt() * changed_C.sqrt())


def class_margins(weights_CD: Tensor, images: Images) -> Tensor:
    """Return, per class, how far its own images' score is above the best other, shape (C,).

    The mean over the images of that class of own score minus the largest of the others.
    """
    scores_NC = images.pixels_ND @ weights_CD.T
    own_N1 = images.labels_N.unsqueeze(1)
    others_NC = scores_NC.scatter(1, own_N1, -torch.inf)
    margin_N = scores_NC.gather(1, own_N1).squeeze(1) - others_NC.max(dim=1).values
    counts_C = torch.bincount(images.labels_N, minlength=len(weights_CD))
    sums_C = torch.zeros(len(weights_CD), dtype=margin_N.dtype)
    sums_C.index_add_(0, images.labels_N, margin_N)
    return sums_C / counts_C
