"""Table of every trained net."""

from __future__ import annotations

from harness.declare import Table, columns_of, value
from reproductions.asymvalley.models.pairs import Training

NETS = Table.of(
    columns_of(Training, "pair", "recipe", "bn_start", "seed"),
    (
        value(name, float, doc, nullable=True)
        for name, doc in (
            ("train_error", "Share of wrong predictions on the training set."),
            ("test_error", "Share of wrong test predictions."),
            ("test_ce", "Mean cross-entropy on the test set in nats."),
            ("norm", "Euclidean norm of theta_f, all learnable parameters."),
            ("init_sign_agreement", "Share of coordinates whose sign is that of the start."),
            ("sign_gradient_cosine", "Cosine of sign(theta_f) and the loss's gradient."),
            ("bn_positive_share", "Share of positive BN weights; empty without BN too."),
        )
    ),
)
"""Values are empty where the training diverged."""
