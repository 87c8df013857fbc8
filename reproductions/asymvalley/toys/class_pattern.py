"""The pattern of a class weight under sign-consistent noise (section 5, Figure 10).

Axes: N images, D pixels, C classes, as in `softmax_toy`, whose weights these are.
"""

from __future__ import annotations

import torch
from torch import Tensor

from reproductions.asymvalley.method.noise import sign
from reproductions.asymvalley.toys.softmax import Images


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
